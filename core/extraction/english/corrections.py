"""Self-corrections in English: "Sorry, I meant Hall D" corrects the statement that says Hall B."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.language.lazy_regex import lazy_regex

_SORRY = (
    r"(?:oh|sorry|no|wait|oops|whoops|ah|hang on|hold on|hmm?|correction|scratch that|strike that|nope|"
    r"well|my bad|er+|uh|um)"
)
_MEANT = lazy_regex(
    rf"^(?:(?:{_SORRY}[,.!;:… –-]*)*(?:I (?:mean|meant)(?: to (?:say|write|type))?,?|make that|that should (?:be|"
    rf"say|have been)|(?:it )?should be)|(?:{_SORRY}[,.!;:… –-]+)+(?:I (?:typed|wrote|got|had|said|read) (?:it|that)"
    rf"(?: down)? wrong,? (?:and |so )?)?(?:(?:since|as of|from) [a-z ]{{3,20}}? )?(?:it['’]s|it is)(?: actually)?) "
    r"(?P<new>[^,.;!?]{1,40}?)(?:,? not (?P<old>[^,.;!?]{1,40}))?(?=[,;!?]|\.(?!\d)|$)",
    re.IGNORECASE,
)
_ACTUALLY = lazy_regex(
    rf"^(?:{_SORRY}[,.!;:… –-]*)*(?:(?P<new>[\w:.-]{{1,12}}(?: [\w.-]+)?),? actually|actually,? "
    rf"(?P<then>[\w:.-]{{0,11}}\w)|"
    rf"(?:{_SORRY}[,.!;:… –-]+)+(?P<plain>\d(?:[\w:.-]*\w)?|(?-i:[A-Z])[\w-]+|[a-z]+ \d[\w-]*))(?=[,.;!?]|$)",
    re.IGNORECASE,
)
_IT_IS = lazy_regex(
    rf"^(?:(?:{_SORRY}|actually)[,.!;:… –-]*)+(?:I (?:typed|wrote|said|got|had|read|put|spelled) (?:it|that|the \w+) "
    r"wrong[,.;]? )?"
    r"(?:(?:since|from) [\w ]{3,15} )?(?:and )?(?:it['’]?s|it is|that['’]s|they['’]re|it was|make it|it should be|"
    r"should be|it's actually) "
    r"(?:actually |really )?(?:on |at |in )?(?P<new>(?!a\b|an\b|the\b|my\b|not\b|so\b|"
    r"too\b)[^,.;!?]{1,40}?)(?=[,;!?]|\.(?!\d)|$)",
    re.IGNORECASE,
)
WITHDRAWAL_ONLY = lazy_regex(r"^(?:scratch|strike) that\b(?!.*\b(?:I|we|my)\b)", re.IGNORECASE)
"""A withdrawal that states nothing itself."""
_SCRATCH = lazy_regex(
    r"^(?:oh,? |and |actually,? |no,? |wait,? )*(?:scratch|forget|ignore|strike|never mind|disregard) (?:what|"
    r"that thing|the thing|all|everything) I "
    r"(?:said|told you|wrote|mentioned)(?: (?:earlier|before|last time))? about "
    r"(?P<thing>[^:,;.–-]{2,40})(?:[:,;.]| [-–—])\s*(?P<rest>.+)$",
    re.IGNORECASE,
)
_WITHDRAWS = lazy_regex(
    rf"^(?:(?:{_SORRY}|actually|ok(?:ay)?)[,.!;:… –-]*)*(?:scratch|strike|forget|ignore|disregard) that\b",
    re.IGNORECASE,
)
_CORRECTS = lazy_regex(
    r"^(?:oh,? |ah,? |um,? |er,? )?(?:no,? wait|wait,? no|no,? sorry|sorry,? no|no,? hang on|scratch that|correction|"
    r"i meant?|make that|my mistake|strike that|no,? actually|actually,? no)\b",
    re.IGNORECASE,
)
_WHEN = lazy_regex(
    r" (?:in|on|at|for|from|next|this|last) (?:the )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|"
    r"Mon|Tue|Wed|Thu|Fri|Sat|Sun|\d|summer|winter|spring|autumn|fall|week|month|year).*$",
    re.IGNORECASE,
)
_ARTICLE = lazy_regex(r"^(?:the|an?|my|our) ", re.IGNORECASE)
_OWNED = lazy_regex(r"(?:the|an?|my|our|his|her|their|your) ", re.IGNORECASE)
_IT = lazy_regex(r"\b(?:it['’]s|it is)\b|\bit (?=was|has|will|lives|stands|starts|costs)", re.IGNORECASE)
_NUMBER = (
    r"(?:\d[\d.,:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    r"fifteen|twenty|thirty|forty|fifty)"
)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_WEEKDAY = r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
_SORTS = (
    lazy_regex(
        rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?: at \d{{1,2}}[:.]\d\d)?|{_MONTH} \d{{1,2}}(?:st|nd|"
        r"rd|th)?(?: at \d{1,2}[:.]\d\d)?"
    ),
    lazy_regex(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z-])[A-Za-z\d-]{3,}(?![\w-])"),
    lazy_regex(rf"(?<![\w-]){_NUMBER}(?![\w-])", re.IGNORECASE),
    lazy_regex(rf"{_WEEKDAY}(?: at \d{{1,2}}(?:[:.]\d\d)?)?", re.IGNORECASE),
    lazy_regex(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"),
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A statement with its value corrected, and the statement that was said before."""

    statement: str
    replaced: str


def _match_correction(text: str) -> re.Match[str] | None:
    return _MEANT.match(text) or _ACTUALLY.match(text) or _IT_IS.match(text)


def corrected_words(text: str) -> str | None:
    """Return the corrected value if `text` begins with a correction."""
    found = _match_correction(text)
    return next((group for group in found.groups() if group), None) if found else None


def corrects(sentence: str) -> bool:
    """Return whether it begins by saying that the sentence before it is wrong."""
    return bool(_CORRECTS.search(sentence))


def after_correction(text: str) -> str:
    """Return the text after the words of a correction."""
    found = _match_correction(text)
    return text[found.end() :].lstrip(" ,.;:!") if found else text


def correct(text: str, before: Sequence[str]) -> Correction | None:
    """Return the statement among `before` that the beginning of `text` corrects; None if none certainly is."""
    new = corrected_words(text)
    if new is None:
        return None
    found = _MEANT.match(text)
    denied = found["old"] if found else None
    for statement in _likeliest_first(new, before):
        old = denied if denied and denied in statement else same_kind_value(new, statement)
        new = new if not old or old == denied else _ARTICLE.sub("", new)
        if old and old.lower() != new.lower():
            return Correction(statement.replace(old, new, 1), statement)
    return None


def _likeliest_first(new: str, before: Sequence[str]) -> list[str]:
    """Return the statements, the latest first, but before all others those with another "Hall" where `new` is one."""
    head, _, rest = _ARTICLE.sub("", new).partition(" ")
    other = re.compile(rf"\b{re.escape(head)} [\w-]") if rest and head[:1].isupper() else None
    latest = before[::-1]
    return sorted(latest, key=lambda one: not (other and other.search(one)))


def withdrawn_statement(text: str, before: Sequence[str]) -> str | None:
    """Return the statement that "scratch that" withdraws: the one about the same day, else the last."""
    if not _WITHDRAWS.match(text) or not before:
        return None
    days = [day.rstrip("s").lower() for day in re.findall(_WEEKDAY, text, re.IGNORECASE)]
    about_day = (one for one in reversed(before) if any(day in one.lower() for day in days))
    return next(about_day, before[-1])


def statement_instead(sentence: str) -> str | None:
    """Return the replacement in "Scratch what I said about the car: it's from 1990", with "it" resolved."""
    found = _SCRATCH.match(sentence)
    if not found:
        return None
    thing, pronoun = found["thing"].strip(), _IT.search(found["rest"])
    if not pronoun:
        about = _WHEN.sub("", thing)
        return found["rest"] if about.lower() in found["rest"].lower() else f"For {about}, {found['rest']}"
    verb = "is" if pronoun.group().lower() in {"it's", "it’s", "it is"} else ""
    stated = f"{thing} {verb}{found['rest'][pronoun.end() :]}".replace("  ", " ")
    return stated[:1].upper() + stated[1:]


_TITLED = lazy_regex(r"(?<=[a-z,] )[A-Z][\w'’-]*(?: [A-Z\d][\w'’-]*)*")
_NO_TITLES = frozenset("I Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()) | frozenset(
    _MONTH[3:-1].split("|")
)


def same_kind_value(new: str, statement: str) -> str | None:
    """Return the one piece of `statement` that is of the sort of `new`: a number, a weekday, "Hall B" for "Hall D"."""
    for sort in _SORTS:
        if sort.fullmatch(new.strip()):
            found = [match.group() for match in sort.finditer(statement)]
            return found[0] if len(found) == 1 else None
    new = _ARTICLE.sub("", new)
    head, _, rest = new.partition(" ")
    if new[:1].isupper() and (titles := [one for one in _TITLED.findall(statement) if one not in _NO_TITLES]):
        alone = re.findall(rf"\b{re.escape(head)} [\w.-]+", statement) if rest else []
        return alone[0] if len(alone) == 1 else titles[0] if len(titles) == 1 else None
    if not rest or head.lower() in {"the", "a", "an", "my", "in", "on", "at"}:
        return None
    pieces = re.findall(rf"\b{re.escape(head)} [\w.-]+", statement) or _phrases_with_head(new, statement)
    return str(pieces[0]) if len(pieces) == 1 else None


def _phrases_with_head(new: str, statement: str) -> list[str]:
    """Return phrases with the same noun and another modifier: "left knee" for "right knee"."""
    before, _, thing = new.rpartition(" ")
    words = min(len(before.split()), 4)
    found = re.findall(rf"\b(?:[\w-]+ ){{0,{words}}}{re.escape(thing)}\b", statement) if len(thing) > 2 else []
    return [_OWNED.sub("", one) for one in found]

"""Finds the values that a request to forget names literally: quoted, with digits, or behind the word for them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from core.forgetting import asking, extent, subjects
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import PERSON, Talk
from core.forgetting.text import READ, STOPS, TOKEN, clauses, content_terms, is_word_at, long_tokens, loose, plain
from core.language.lazy_regex import lazy_regex
from core.statements.redaction import ERASED

LONG_PHRASE: Final = 5
"""Words from which a phrase of a request that was said before counts as quoted from there."""

BARE_PHRASE: Final = 3
"""Words from which the object of a request in a group counts as a value if it was said before in the same words."""

BEFORE_SLOT: Final = 4
"""Words before the word for a value ("the laundry shelf blue bin location") that are one, if they were said before."""

LONGEST: Final = 12
"""Words of a value at most."""

SHORT_NUMBER: Final = 4
"""Digits up to which a number is a part of the name before it: "Lab Annex 313"."""

REGION: Final = 120
"""Words of a request that are searched for phrases."""

CANDIDATES: Final = 2_000
"""Pieces of a message that are looked up among erased values."""


def named(request: ForgetRequest, talk: Talk, *, strict: bool = False) -> list[str]:
    """Return the values that the request names and that were said before, without those that stay.

    `strict`: no runs of words that were said before either, but quoted ones, values with digits or a word for them.
    """
    strict = strict or request.agrees
    parts = [part for piece in request.asking for part in _split(piece.text)]
    before = _split(request.before) if request.before else []
    kept = {plain(phrase) for marked, region in parts if region is None for phrase in marked}
    kept |= {plain(token.group()) for clause in request.kept for token in TOKEN.finditer(clause)}
    for pieces in (parts, before):  # "The phrase 'magnolia chalk' is old. Delete it."
        regions = [region for _, region in pieces if region is not None]
        values = [phrase for marked, region in pieces if region is not None for phrase in marked]
        values += [value for region in regions for value in _in_region(region, talk, strict=strict)]
        values = [value for value in values if plain(value) not in kept and ERASED not in value and talk.holding(value)]
        if values:
            return _longest(values)
    if strict or subjects.named(plain(" ".join(region for _, region in parts if region is not None))):
        return []
    phrases = [phrase for _, region in parts if region is not None for phrase in _phrases(region, talk)]
    return _longest(phrase for phrase in phrases if len(_CAPITAL.findall(phrase)) > 1 and talk.holding(phrase))


def unheard(request: ForgetRequest) -> list[str]:
    """Return the codes, amounts and quoted phrases that a request names, whether or not they were said before."""
    pieces = [part for piece in request.asking for part in _split(piece.text)]
    regions = [region for _, region in pieces if region is not None]
    values = [phrase for marked, region in pieces if region is not None for phrase in marked]
    values += [m.group() for region in regions for m in _MEASURED.finditer(region)]
    values += [m.group().rstrip(".:-/") for region in regions for m in long_tokens(region)]
    return _longest(values)


def _split(sentence: str) -> list[tuple[list[str], str | None]]:
    """Return the quoted phrases of each clause, and the clause without them; None if it says what stays."""
    parts: list[tuple[list[str], str | None]] = []
    for clause in clauses(QUOTED.sub(lambda marked: "\x00" * len(marked.group()), sentence)):
        text = sentence[clause.start : clause.end]
        marked = [m.group("said") or m.group("single") for m in QUOTED.finditer(text)]
        bare = QUOTED.sub(" ; ", text)
        parts.append((marked, None if extent.is_kept(bare) else bare))
    return parts


def candidates(text: str) -> list[str]:
    """Return the pieces of a text that may repeat an erased value: quoted phrases, and runs of words."""
    read = text[:READ]
    pieces = [m.group("said") or m.group("single") for m in QUOTED.finditer(read)]
    spans = [(m.start(), m.end()) for m in re.finditer(r"\S+", read)]
    for length in range(1, LONGEST + 1):
        pieces += [_bare(read, spans[at][0], spans[at + length - 1][1]) for at in range(len(spans) - length + 1)]
        if len(pieces) > CANDIDATES:
            break
    return list(dict.fromkeys(piece for piece in pieces if piece))[:CANDIDATES]


def _longest(values: Iterable[str]) -> list[str]:
    longest: list[str] = []
    for value in sorted(dict.fromkeys(values), key=len, reverse=True):
        if not any(plain(value) in plain(other) for other in longest):
            longest.append(value)
    return longest


def _in_region(region: str, talk: Talk, *, strict: bool) -> list[str]:
    """Return the values of a clause: amounts and times, codes, what follows the word for a value, long phrases."""
    measured = list(_MEASURED.finditer(region))
    tokens = [
        m
        for m in long_tokens(region)
        if not any(amount.start() < m.end() and m.start() < amount.end() for amount in measured)
    ]
    values = [m.group() for m in measured] + [_numbered(region, m, talk) for m in tokens]
    values += _behind_slots(region, talk)
    if not talk.alone:
        whole = _bare_objects(region, talk)
        values += [phrase for phrase in whole if not any(loose(value) in loose(phrase) for value in values)]
        values += [] if values else _before_slots(region, talk)
    if not values and not strict:
        values += [phrase for phrase in _phrases(region, talk) if _is_quoted(phrase)]
    return values


def _numbered(region: str, token: re.Match[str], talk: Talk) -> str:
    """Return a code alone, and a short number with the name before it, if it was said so: "Lab Annex 313"."""
    bare = token.group().rstrip(".:-/")
    if len(bare) > SHORT_NUMBER or not bare.isdigit():
        return bare
    name = _NAME_BEFORE.search(region, 0, token.start())
    whole = f"{name.group()}{bare}" if name else ""
    words = whole.split()[:-1]
    while words:
        if plain(words[-1]) in _SLOTS:
            return bare
        phrase = " ".join([*words, bare])
        if talk.holding(phrase):
            return phrase
        del words[0]
    return bare


def _behind_slots(region: str, talk: Talk) -> list[str]:
    """Return what stands behind words such as code, phrase and location, as far as it was said before."""
    words = list(re.finditer(r"[^\s;]+", region))[:REGION]
    values: list[str] = []
    for at, word in enumerate(words[:-1]):
        slot = plain(_bare(region, word.start(), word.end()))
        if slot not in _SLOTS or region[word.end() - 1] in ",;":
            continue
        first = at + 1
        while first < len(words) and plain(words[first].group()) in _LINKS:
            first += 1
        if first < len(words) and not _opens_value(plain(words[first].group()), slot):
            continue
        run = _longest_run(region, words[first : first + LONGEST], talk)
        if (
            run
            and not _MEASURED.match(run)
            and (len(run.split()) > 1 or _is_value(slot, run, words[first + 1 :], talk))
        ):
            values.append(run)
    for time in _AT_PLACE.finditer(region):
        behind = [word for word in words if word.start() >= time.end()]
        run = _longest_run(region, behind[:LONGEST], talk)
        values += [run] if len(run.split()) > 1 else []
    return values


def _opens_value(word: str, slot: str) -> bool:
    if word in _SLOTS or word in _ABOUT:
        return False
    return word not in STOPS or (slot in _PLACES and word in _BESIDE)


def _longest_run(region: str, words: Sequence[re.Match[str]], talk: Talk) -> str:
    """Return the longest beginning of the words that was said before, up to the end of the name."""
    best = ""
    for end in range(1, len(words) + 1):
        phrase = _bare(region, words[0].start(), words[end - 1].end())
        if not phrase or not talk.holding(phrase):
            break
        best = phrase
        if region[words[end - 1].end() - 1] in ".,;:":
            break
    if not best or not _ends(region, words, len(best.split())):
        return ""
    left = best.split()
    while left and (plain(left[-1]) in STOPS or plain(left[-1]) in _SLOTS):
        del left[-1]
    return " ".join(left) if content_terms(" ".join(left)) else ""


def _ends(region: str, words: Sequence[re.Match[str]], count: int) -> bool:
    """Return whether a run of so many of the words is a whole name: a stop or a function word follows."""
    if count >= len(words) or region[words[count - 1].end() - 1] in ".,;:!?":
        return True
    behind = plain(words[count].group().strip(".,;:"))
    return plain(words[count - 1].group()) in STOPS or behind in STOPS or behind in _SLOTS or behind in _BESIDE


def _is_value(slot: str, word: str, behind: Sequence[re.Match[str]], talk: Talk) -> bool:
    """Return whether a single word was said close behind the word for it ("the passphrase is marigold").

    It is a part of a compound if another such word follows: the "bank card PIN" is no bank "card".
    """
    if behind and plain(behind[0].group()) in _SLOTS:
        return False
    near = re.compile(rf"(?<!\w){re.escape(slot)}\W+(?:(?:is|was|to|will be|now|now is|should be|as|remains)\W+)*")
    value = plain(word)
    return any(turn.plain.startswith(value, m.end()) for turn in talk.turns for m in near.finditer(turn.plain))


def _bare_objects(region: str, talk: Talk) -> list[str]:
    """Return objects that were said before in the same words: "remove the exact south courtyard bench"."""
    phrases = []
    for named in (part for m in _OBJECT.finditer(region) for part in m.group("object").split(" and ")):
        words = list(re.finditer(r"[^\s;,.]+", named))[:LONGEST]
        exact = False
        while words and (plain(words[0].group()) in _ADJECTIVES | _VERBS or plain(words[0].group()) in STOPS):
            exact |= plain(words[0].group()) == "exact"
            del words[0]
        run = _longest_run(named, words, talk) if words else ""
        last = plain(run.split()[-1]) if run else ""
        if len(run.split()) >= (2 if exact else BARE_PHRASE) and last not in _SLOTS:
            phrases.append(run)
    return phrases


def _before_slots(region: str, talk: Talk) -> list[str]:
    """Return what stands before a word such as location, if all of several words were said before."""
    text = loose(region)
    words = list(re.finditer(r"[^\s;,.]+", text))[:REGION]
    phrases = []
    for end, word in enumerate(words):
        if word.group() not in _PLACES:
            continue
        for start in range(max(0, end - LONGEST), end - BEFORE_SLOT + 1):
            phrase = text[words[start].start() : words[end - 1].end()]
            if words[start].group() not in STOPS and talk.holding(phrase):
                phrases.append(phrase)
                break
    return phrases


def _phrases(region: str, talk: Talk) -> list[str]:
    """Return the longest runs of words of a request that were said before in the same words."""
    words = list(re.finditer(r"\S+", region))[:REGION]
    statements = "\n".join(t.plain for t in talk.turns if t.role != PERSON or not asking.mentions_erasure(t.text))
    anywhere = "\n".join(t.plain for t in talk.turns)
    runs: list[tuple[int, int]] = []
    for at in range(len(words)):
        end = at
        while end < len(words) and _stands(_bare(region, words[at].start(), words[end].end()), statements, anywhere):
            end += 1
        runs.append((at, end))
    phrases: list[str] = []
    taken: set[int] = set()
    for at, end in sorted(runs, key=lambda run: (run[0] - run[1], -run[0])):
        if end > at and taken.isdisjoint(range(at, end)):
            taken.update(range(at, end))
            phrases.append(_trimmed(_bare(region, words[at].start(), words[end - 1].end())))
    return [phrase for phrase in phrases if phrase]


def _is_quoted(phrase: str) -> bool:
    words = phrase.split()
    return len(words) >= LONG_PHRASE or (len(words) > 1 and re.search(r"\d", phrase) is not None)


def _bare(region: str, start: int, end: int) -> str:
    return region[start:end].strip("\"'“”‘’.,;:!?()（）")


def _stands(phrase: str, statements: str, anywhere: str) -> bool:
    needle = plain(phrase)
    hay = anywhere if re.search(r"\d", phrase) else statements
    at = hay.find(needle) if needle else -1
    return at >= 0 and is_word_at(hay, at, at + len(needle))


def _trimmed(phrase: str) -> str:
    """Strip words of the description around a short value: "amount 2,910 USD figure" is 2,910 USD."""
    words = phrase.split()
    while len(words) > 1 and _describes(words[0]):
        del words[0]
    while len(words) > 1 and _describes(words[-1]):
        del words[-1]
    if len(words) >= LONG_PHRASE:
        return " ".join(words)
    special = [i for i, word in enumerate(words) if re.search(r"\d", word) or (word[:1].isupper() and i)]
    special += [0] if words[0][:1].isupper() and special else []
    if not special:
        return " ".join(words)
    last = max(special)
    while last + 1 < len(words) and _UNIT.fullmatch(words[last + 1].lower()):
        last += 1
    return " ".join(words[min(special) : last + 1])


def _describes(word: str) -> bool:
    return plain(word) in _SLOTS | _ADJECTIVES or plain(word) in STOPS


_SLOTS: Final = frozenset(
    "pin pins code codes keypad password passwords passcode passphrase phrase phrases wording label labels name names "
    "title titles token tokens credential credentials badge badges key keys number numbers amount amounts figure "
    "figures stipend value values sum price rate salary budget dose dosage minute minutes time times hour date dates "
    "window location locations place spot point points address note notes mapping sponsor host partner vendor client "
    "supplier codename string scope layer identifier id reference link url username login handle email extension "
    "entry diagnosis result results reading score grade medication drug alias nickname contact detail details "
    "override figure combination plate locker room bay suite desk account case file version draft marker tag serial "
    "allergy condition procedure treatment provider carrier bank employer hospital clinic pharmacy insurer".split()
)
"""Words for a value, behind which it is named: "the phrase coral lantern"."""

_PLACES: Final = frozenset("location locations place spot point points address note notes layer slot window".split())
_BESIDE: Final = frozenset("under behind inside in at on by near beside below above between beneath within".split())
_LINKS: Final = frozenset(["is", "was", "named", "called", "namely", "-", "–"])
_ABOUT: Final = frozenset(
    "about regarding concerning of from for that which who where when i you we he she they it as because".split()
)
_VERBS: Final = frozenset(
    "delete erase remove forget wipe scrub purge drop discard expunge redact strike clear retire deleted removed "
    "erased "
    "deleting removing erasing".split()
)
_ADJECTIVES: Final = frozenset(
    "exact old older oldest earlier earliest former previous prior first initial provisional approved current retired "
    "temporary internal private public revised placeholder original legacy higher lower school partner host sponsor "
    "family-release broader narrower obsolete outdated stale superseded deprecated hidden restricted resident-only "
    "backup fallback spare support deleted whole full entire specific".split()
)
"""Words around a value that describe it."""

QUOTED: Final = lazy_regex(
    r"(?P<mark>[\"“「『])(?P<said>[^\"“”「」『』\n]{2,200})[\"”」』]|(?<!\w)['‘](?P<single>[^'‘’\n]{2,200})['’](?!\w)"
)

_MEASURED: Final = lazy_regex(
    r"(?<![\w.,])(?:[$€£¥]\s?)?\d[\d,.:]*\s?(?:USD|EUR|GBP|CHF|RMB|dollars?|euros?|pounds?|yuan|[ap]\.m\.|[ap]m|%|"
    r"percent|"
    r"mg|mcg|ml|g|kg|kilos?|lbs?|units?|hours?|days?|weeks?|months?)(?![\w])|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}(?:, \d{4})?|"
    r"\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?",
    re.IGNORECASE,
)
"""A number with its unit, a time of day, a date."""

_NAME_BEFORE: Final = lazy_regex(r"(?:[A-Z][\w'&-]*\s+){1,5}$")
_AT_PLACE: Final = lazy_regex(r"\d\s?[ap]\.?m\.?,? (?:at|in|near|by|on) (?:the )?", re.IGNORECASE)
_OBJECT: Final = lazy_regex(
    rf"\b(?:{'|'.join(sorted(_VERBS))}) (?P<object>[^;,.]{{3,200}})",
    re.IGNORECASE,
)
_CAPITAL: Final = lazy_regex(r"\b[A-Z][a-z]")
_UNIT: Final = lazy_regex(r"usd|eur|gbp|euros?|dollars?|pounds?|yuan|kg|kilos?|percent|am|pm")

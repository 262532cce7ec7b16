"""Finds what a request to forget names by description: by meaning, shared words, kind of thing, and persons. Pure.

Cosines come from outside, so that no transaction is open while a model runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from core.forgetting import extent, people, requests, subjects
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import MEMORY, PERSON, ForgettingAsker, Talk, TurnSentence, mentions
from core.forgetting.text import clauses, content_terms, find_all, long_tokens, naming_terms, plain
from core.forgetting.wording import ACT, FRAME
from core.language import languages
from core.language.lazy_regex import either, lazy_regex
from core.statements.redaction import ERASED, MASKED

COMPARED: Final = 300
"""Statements of which cosines are asked for one request: those that share words or a kind, and the latest."""

HALF: Final = 0.5
"""Share of the words for a code or number that a statement has to have."""


@dataclass(frozen=True)
class Description:
    """A thing that a request names: its text without the words of asking."""

    text: str

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(naming_terms(self.text))

    @cached_property
    def kinds(self) -> frozenset[str]:
        kinds = subjects.named(self.plain)
        if "code" in kinds:
            return frozenset({"code"})
        return kinds - {"phone", "money"} if "identity" in kinds else kinds

    @cached_property
    def roles(self) -> frozenset[str]:
        return people.roles(self.plain)


def descriptions(request: ForgetRequest) -> list[Description]:
    """Return the things that a request names, each by itself: "my PIN and the wifi password"."""
    request_text = " ".join(sentence.text for sentence in request.asking)
    parts = [_acting(request) if names_something(request) else request.widened[0]]
    if (
        request.before
        and not _TELLS.search(plain(request_text))
        and (_UPON_IT.search(plain(request_text)) or not names_something(request))
    ):
        parts.append(request.before)
    texts = [unframed(text) for part in parts for text in _AND.split(part)]
    return [description for description in map(Description, texts) if description.words]


def names_something(request: ForgetRequest) -> bool:
    """Return whether the clauses that ask name what is meant, rather than point at it."""
    return bool(naming_terms(unframed(_acting(request))))


def _acting(request: ForgetRequest) -> str:
    """Return the clauses that ask, and those that go on naming; not the reasons before and behind."""
    pieces = [clause.text for sentence in request.asking for clause in clauses(sentence.text)]
    acting: list[str] = []
    for piece in pieces:
        if ACT.search(plain(piece)) or (acting and _GOES_ON.match(plain(piece))):
            acting += [] if extent.is_kept(piece) else [piece]
    return " ".join(acting)


def unframed(text: str) -> str:
    """Return a text without the words of asking around what it names."""
    bare, at = "", 0
    for match in FRAME.finditer(plain(text)):
        bare, at = f"{bare}{text[at : match.start()]} ", match.end()
    return " ".join(f"{bare}{text[at:]}".split()).strip(" ,.，。!?！？的")


def about_person(request: ForgetRequest, asker: ForgettingAsker, talk: Talk) -> list[TurnSentence] | None:
    """Return all statements about a person; None if the request names nobody, or itself where nobody else spoke."""
    if request.about_self and talk.alone:
        return None
    names = asker.names if request.about_self else _people(request, talk)
    speakers = named_speakers(request.text, talk) if request.about_self else frozenset()
    if not names:
        return None
    hits: list[TurnSentence] = []
    for before, passage in zip([None, *talk.passages], talk.passages, strict=False):
        spoken_by = not speakers or plain(passage.turn.speaker or "") in speakers
        follows = before is not None and before in hits and before.turn is passage.turn
        follows = follows and _PRONOUN.match(passage.plain) is not None
        if spoken_by and (mentions(passage.plain, names) or follows):
            hits.append(passage)
    return hits


def candidates(named: Sequence[Description], request: ForgetRequest, talk: Talk) -> list[TurnSentence]:
    """Return the statements among which a request may mean some: related ones, and the latest.

    What it says stays is none of them, nor are other requests. A memory whose message is among the turns is none
    either: it says the same in other words, and is erased with the message.
    """
    kinds = frozenset(kind for description in named for kind in description.kinds)
    terms = frozenset(term for description in named for term in description.words)
    message_keys = frozenset(turn.key for turn in talk.turns if turn.role == PERSON)
    free = [
        (passage, bool(terms & frozenset(naming_terms(passage.span.text)) or kinds & subjects.stated(passage.plain)))
        for passage in talk.passages
        if passage.turn.role in {PERSON, MEMORY}
        and not passage.turn.cites & message_keys
        and ERASED not in passage.span.text
        and content_terms(passage.span.text)
    ]
    related = [passage for passage, is_related in free if is_related][-COMPARED:]
    latest = [passage for passage, is_related in free if not is_related][len(related) - COMPARED or len(free) :]
    return [
        passage
        for passage in [*related, *latest]
        if not is_kept(passage, request) and requests.by_words(passage.turn.text) is None
    ]


def shared_words(description: Description, passage: TurnSentence) -> float:
    """Return the share of a description's words that a statement has."""
    terms = frozenset(naming_terms(passage.span.text))
    return len(description.words & terms) / len(description.words)


def speaks_of_old(description: Description) -> bool:
    return _OLD.search(description.plain) is not None


def age_score(description: Description, passage: TurnSentence) -> float:
    """Return 1 if a description speaks of something old and a statement of what was, -1 if it speaks of what is new."""
    if not speaks_of_old(description):
        return 0.0
    return float(bool(_WAS.search(passage.plain)) - bool(_IS_NOW.search(passage.plain)))


def lacks_modifiers(description: Description, terms: frozenset[str]) -> bool:
    """Return whether a code or number is described by words that a statement lacks: "the PIN of my bank card"."""
    kinds = description.kinds & _CODES
    naming = "".join(
        match.group() for kind in kinds for match in subjects.KINDS[kind].named.finditer(description.plain)
    )
    modifiers = {term for term in description.words if term not in naming}
    return bool(kinds and modifiers) and len(modifiers & terms) < HALF * len(modifiers)


def lacks_code(description: Description, passage: TurnSentence) -> bool:
    """Return whether a description names nothing but a code or number, and a statement gives none."""
    kinds = description.kinds
    return bool(kinds) and kinds <= _CODES and not subjects.values(kinds, passage.plain)


def values(named: Sequence[Description], passages: Sequence[TurnSentence], names: Collection[str] = ()) -> list[str]:
    """Return the codes and numbers that the statements give, if each of them gives one.

    `names`: of the person whose statements they are; a user id such as `u-4711` is no code.
    """
    by_plain: dict[str, str] = {}
    for passage in (passage for passage in passages if MASKED not in passage.span.text):
        kinds = (
            frozenset(kind for description in named for kind in description.kinds)
            & subjects.stated(passage.plain)
            & _CODES
        )
        spans = [
            (start, end)
            for start, end in subjects.values(kinds, passage.plain)
            if not any(passage.plain[start:end].strip() in name for name in names)
        ]
        if not spans:
            return []
        by_plain |= {passage.plain[a:b].strip(): passage.span.text[a:b].strip() for a, b in spans}
    return [value for key, value in by_plain.items() if not any(key != other and key in other for other in by_plain)]


def is_of_person(request: ForgetRequest) -> bool:
    """Return whether a request names persons and nothing of them: "everything on Damian"."""
    named = descriptions(request)
    return request.about_self or all(
        description.words <= description.roles | frozenset(naming_terms(" ".join(people.names(description.text))))
        for description in named
    )


def _people(request: ForgetRequest, talk: Talk) -> frozenset[str]:
    """Return the names of whom the request is about: named in it, or in the sentences before a pronoun."""
    request_text = " ".join(sentence.text for sentence in request.asking)
    for text in (request_text, *request.widened[1:]):
        chinese = [m.group("who") for m in _WHO.finditer(plain(text))]
        named = [name for phrase in chinese for name in _spoken_of(phrase, talk)]
        named += [m.group() for m in _NAME.finditer(text) if talk.holding(m.group())]
        names = {plain(name) for name in named}
        if names:
            return frozenset(names)
    return frozenset()


def _spoken_of(phrase: str, talk: Talk) -> list[str]:
    """Return the longest part of a phrase that names somebody: it was said before."""
    talk_text = "\n".join(turn.plain for turn in talk.turns)
    for length in range(len(phrase), 1, -1):
        for at in range(len(phrase) - length + 1):
            if phrase[at : at + length] in talk_text:
                return [phrase[at : at + length]]
    return []


def named_speakers(text: str, talk: Talk) -> frozenset[str]:
    """Return the persons who spoke and are named in a text, by full or first name."""
    folded = plain(text)
    return frozenset(speaker for speaker in talk.speakers if mentions(folded, {speaker, speaker.split()[0]}))


def is_kept(passage: TurnSentence, request: ForgetRequest) -> bool:
    """Return whether a statement holds a value, a name, or mostly words of what the request says stays."""
    terms, request_terms = _naming(passage.span.text), frozenset[str]()
    for text in request.widened[:1]:
        request_terms |= _naming(text)
    for clause in request.kept:
        kept = [m.group() for m in long_tokens(clause)] + _proper(clause)
        if any(find_all(passage.span.text, value) for value in kept if value not in _released(clause)):
            return True
        if _STAYS.search(plain(clause)) and (_naming(clause) - request_terms) & terms:
            return True
    return False


def _released(clause: str) -> str:
    """Return the parts of a clause that do not say what stays: "Dr. Pym retired and we see Dr. Shah now"."""
    parts = clause.split(" and ")
    return " and ".join(part for part in parts if not extent.is_kept(part)) if len(parts) > 1 else ""


def _naming(text: str) -> frozenset[str]:
    return frozenset(content_terms(text)) | people.roles(plain(text))


def _proper(clause: str) -> list[str]:
    return [m.group() for m in _PROPER.finditer(clause) if m.start() or len(m.group().split()) > 1]


_CODES: Final = frozenset({"code", "phone", "identity", "email"})
"""Kinds whose values mean nothing else wherever they stand."""

_FORMS: Final = [language.forgetting.described for language in languages.ALL if language.forgetting]

_STAYS: Final = either(forms.stays for forms in _FORMS)
_UPON_IT: Final = either(forms.upon_it for forms in _FORMS)
_TELLS: Final = either(forms.tells for forms in _FORMS)

_GOES_ON: Final = either(forms.goes_on for forms in _FORMS)

_AND: Final = either(forms.joined for forms in _FORMS)
_NAME: Final = lazy_regex(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,3}|^[A-Z][a-z]{2,30}(?='s|\b)")
_PROPER: Final = lazy_regex(r"\b[A-Z][\w.'-]{1,30}(?: [A-Z][\w.'-]{1,30}){0,3}")
_PRONOUN: Final = either(forms.pronoun for forms in _FORMS)
_OLD: Final = either(forms.old for forms in _FORMS)
_WAS: Final = either(forms.was for forms in _FORMS)
_IS_NOW: Final = either(forms.is_now for forms in _FORMS)
_WHO: Final = either(forms.who for forms in _FORMS)

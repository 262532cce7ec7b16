"""Finds what a request to forget names by description: a kind of thing, words of the statement, a person. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.forgetting import requests, subjects
from core.forgetting.literals import TOKEN, is_long
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import ASSISTANT, MEMORY, PERSON, Asker, Passage, Talk, mentions
from core.forgetting.text import content_terms, find_all, plain
from core.language.lazy_regex import lazy_regex

BASE: Final = 0.9
"""Least agreement of a description with a statement: one rare word, or the kind of thing."""

NEAR_BEST: Final = 0.75
"""Distance from the best statement within which others are meant as well."""

KIND: Final = 1.6
VALUED: Final = 0.6
NAMED: Final = 1.0
OWN: Final = 0.4
FROM_ASSISTANT: Final = -0.8
OLD: Final = 0.5
OTHERS_STATEMENT: Final = -2.0
"""Weights of the signals beside shared words, each of which weighs up to 1."""


@dataclass(frozen=True, slots=True)
class Described:
    """Statements that a description means, and the values that they give, if all of them do."""

    passages: Sequence[Passage]
    values: Sequence[str] = ()


def about_person(request: ForgetRequest, asker: Asker, talk: Talk) -> list[Passage] | None:
    """Return all statements about a person; None if the request names nobody who was spoken of."""
    names = asker.names if request.about_self else _people(request, talk)
    speakers = named_speakers(request.text, talk) if request.about_self else frozenset()
    if not names:
        return None
    hits: list[Passage] = []
    for before, one in zip([None, *talk.passages], talk.passages, strict=False):
        spoken_by = not speakers or plain(one.turn.speaker or "") in speakers
        follows = before is not None and before in hits and before.turn is one.turn and _PRONOUN.match(one.plain)
        if spoken_by and (mentions(one.plain, names) or follows):
            hits.append(one)
    return hits


def statements(
    descriptions: Sequence[str], request: ForgetRequest, asker: Asker, talk: Talk, *, wide: bool
) -> Described | None:
    """Return what the first of the descriptions means that means anything; None if none does.

    `wide`: all statements that agree with it are meant, not the best alone.
    """
    for description in descriptions:
        hits = _best(description, request, asker, talk, wide=wide)
        if hits:
            return Described(hits, _values(description, request, hits))
    return None


def _people(request: ForgetRequest, talk: Talk) -> frozenset[str]:
    """Return the names of whom the request is about: named in it, or in the sentences before a pronoun."""
    asked = " ".join(one.text for one in request.asking)
    for text in (asked, *request.widened[1:]):
        chinese = [m.group("who") for m in _WHO_ZH.finditer(plain(text))]
        named = [name for one in chinese for name in _spoken_of(one, talk)]
        named += [m.group() for m in _NAME.finditer(text) if talk.holding(m.group())]
        known = {plain(one) for one in named}
        if known:
            return frozenset(known)
    return frozenset()


def _spoken_of(phrase: str, talk: Talk) -> list[str]:
    """Return the longest part of a phrase that names somebody: it was said before."""
    said = "\n".join(turn.plain for turn in talk.turns)
    for length in range(len(phrase), 1, -1):
        for at in range(len(phrase) - length + 1):
            if phrase[at : at + length] in said:
                return [phrase[at : at + length]]
    return []


def named_speakers(text: str, talk: Talk) -> frozenset[str]:
    """Return the persons who spoke and are named in a text, by full or first name."""
    said = plain(text)
    return frozenset(one for one in talk.speakers if mentions(said, {one, one.split()[0]}))


def _best(description: str, request: ForgetRequest, asker: Asker, talk: Talk, *, wide: bool) -> list[Passage]:
    said = plain(description)
    kinds, wanted = subjects.named(said), frozenset(content_terms(description))
    speakers = named_speakers(description, talk) - asker.names
    scored: list[tuple[float, Passage]] = []
    for passage, words in zip(talk.passages, talk.terms, strict=True):
        base, score = _score(said, kinds, wanted, words, passage, talk)
        if base < BASE or is_kept(passage, request) or requests.read(passage.turn.text) is not None:
            continue
        score += OWN if passage.turn.user_id == asker.user_id and passage.turn.role in {PERSON, MEMORY} else 0
        score += FROM_ASSISTANT if passage.turn.role == ASSISTANT else 0
        if speakers:
            by = plain(passage.turn.speaker or "") in speakers and passage.turn.role == PERSON
            score += NAMED if by or mentions(passage.plain, speakers) else OTHERS_STATEMENT
        scored.append((score, passage))
    best = max((score for score, _ in scored), default=0.0)
    if best < BASE:
        return []
    return [one for score, one in scored if wide or score >= best - NEAR_BEST]


def _score(
    said: str, kinds: frozenset[str], wanted: frozenset[str], words: frozenset[str], passage: Passage, talk: Talk
) -> tuple[float, float]:
    """Return the agreement of a statement with a description, without and with hints at its age."""
    shared = kinds & subjects.stated(passage.plain) if kinds else frozenset()
    base = sum(talk.weight(term) for term in wanted & words)
    if shared:
        base += KIND + (VALUED if subjects.values(shared, passage.plain) else 0)
    hint = 0.0
    if _OLD.search(said):
        hint = OLD * (bool(_WAS.search(passage.plain)) - bool(_IS_NOW.search(passage.plain)))
    return base, base + hint


def is_kept(passage: Passage, request: ForgetRequest) -> bool:
    """Return whether a statement holds a value or name that the request says stays."""
    for clause in request.kept:
        kept = [m.group() for m in TOKEN.finditer(clause) if is_long(m.group())] + _proper(clause)
        if any(find_all(passage.span.text, one) for one in kept):
            return True
    return False


def _proper(clause: str) -> list[str]:
    return [m.group() for m in _PROPER.finditer(clause) if m.start() or len(m.group().split()) > 1]


def _values(description: str, request: ForgetRequest, hits: Sequence[Passage]) -> list[str]:
    """Return the values that these statements give; none if some of them give none."""
    kinds = subjects.named(plain(description))
    values: dict[str, str] = {}
    for one in hits:
        shared = kinds & subjects.stated(one.plain)
        for start, end in subjects.values(shared, one.plain):
            values.setdefault(one.plain[start:end].strip(), one.span.text[start:end].strip())
    kept = plain(" ".join(request.kept))
    named = [value for said, value in values.items() if said not in kept]
    old = _OLD.search(plain(description)) is not None
    if len(named) > 1 and old:
        named = named[:-1]
    longest = [one for one in named if not any(one != other and one in other for other in named)]
    valueless = [one for one in hits if not any(plain(value) in one.plain for value in longest)]
    return [] if any(one.turn.role == PERSON and not old for one in valueless) else longest


_NAME: Final = lazy_regex(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,3}|^[A-Z][a-z]{2,30}(?='s|\b)")
_PROPER: Final = lazy_regex(r"\b[A-Z][\w.'-]{1,30}(?: [A-Z][\w.'-]{1,30}){0,3}")
_PRONOUN: Final = lazy_regex(r"(?:and |but |so )?(?:he|she|they|his|her|their)\b|他|她")
_OLD: Final = lazy_regex(
    r"\b(?:old|former|previous|earlier|outdated|expired|first|original|retired|last year's)\b|旧|以前|原来|之前|"
    r"作废|前面|过期|老的|上一个|原先"
)
_WAS: Final = lazy_regex(
    r"\b(?:used to|was|were|old|former|previous|until|last year|originally|at first|back then)\b|以前|原来|旧|原先|"
    r"之前|本来|曾"
)
_IS_NOW: Final = lazy_regex(r"\b(?:now|since|new|instead|these days|currently|switched)\b|现在|新|换了|改了|如今")
_WHO_ZH: Final = lazy_regex(
    r"(?:跟|和|关于|有关|提到|牵扯到?|涉及|对于|凡是|所有|一切|全部|"
    r"但凡)(?P<who>[^，。！？、跟和你我]{2,8}?)(?=有关|沾|相关|的|，|。|统|全|都|这|那|$)"
)

"""Finds what a request to forget means among what was said, and whether the asker may have it forgotten. Pure.

Values named literally are found wherever they stand; things named by description by their kind (`core.forgetting.
subjects`) and by the words they share with the statement. An asker disposes of what they said, of what others said
about them, and of values that they told first; nobody disposes of what others said about themselves.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from core.forgetting import requests, subjects
from core.forgetting.requests import ForgetRequest, ForgetScope
from core.forgetting.text import READ, Span, clauses, content_terms, find_all, is_word_at, plain, sentences
from core.language.lazy_regex import lazy_regex
from core.statements.redaction import ERASED

PERSON: Final = "user"
"""Role of messages that a person wrote."""

MEMORY: Final = "memory"
"""Role of statements that are memories, not messages."""

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

SEARCHED: Final = 20_000
"""Characters of a message that are searched by description; values are searched for in all of it."""

LONG_PHRASE: Final = 5
"""Words from which a phrase of a request that was said before counts as quoted from there."""

REGION: Final = 120
"""Words of a request that are searched for such phrases."""

ANSWERED: Final = 10
"""Messages back to which an agreement refers."""


@dataclass(frozen=True)
class Turn:
    """A message or a memory: its key, its position in order, who said it and what.

    `alone`: whether the user is the only person in the session, so that the assistant's messages are theirs as well.
    """

    key: Any
    position: int
    user_id: str
    speaker: str | None
    role: str
    text: str
    alone: bool = True

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def pieces(self) -> Sequence[Span]:
        return sentences(self.text[:SEARCHED])


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the user, and the names by which others speak of them."""

    user_id: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a turn."""

    turn: Turn
    span: Span
    plain: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a request means: places in turns by key, values to remove wherever they stand, what others have to decide.

    `refused`: how many statements were found that the asker does not dispose of.
    """

    scope: ForgetScope
    places: Mapping[Any, Sequence[tuple[int, int]]]
    values: Sequence[str] = ()
    refused: int = 0
    refused_values: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return not self.places


def asker_of(turn: Turn) -> Asker:
    """Return the asker of a message, with full and first name and the user's id."""
    names = {turn.user_id} | (
        {turn.speaker, turn.speaker.split()[0]} if turn.speaker and turn.speaker.strip() else set()
    )
    return Asker(turn.user_id, frozenset(plain(name) for name in names if len(name) > 1))


def find(request: ForgetRequest, asking: Turn, turns: Sequence[Turn]) -> Found:
    """Return what a request means among these turns, in their order; the asking one is not searched."""
    others = [turn for turn in turns if turn.key != asking.key]
    found = _find(request, asker_of(asking), _Talk(others), asking.position)
    if request.agrees and not found.values:
        return _agreed(request, asking, others)
    return found


def blank_request(request: ForgetRequest, found: Found, turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return the places in the request that repeat what is forgotten: its values, and words of erased sentences."""
    spots = [place for value in found.values for place in find_all(request.text, value)]
    if found.scope is ForgetScope.EVERYTHING or found.values:
        return sorted(set(spots))
    texts = {turn.key: turn.text for turn in turns}
    said = {
        term
        for key, places in found.places.items()
        for start, end in places
        for term in content_terms(texts.get(key, "")[start:end])
    }
    for sentence in request.asking:
        repeated = [m for m in _WORD.finditer(sentence.text) if said.intersection(content_terms(m.group()))]
        spots += [(sentence.start + word.start(), sentence.start + word.end()) for word in repeated]
        spots += [(sentence.start + a, sentence.start + b) for a, b in _shared_han(sentence.text, said)]
    return sorted(set(spots))


def value_candidates(said: str) -> list[str]:
    """Return what in a text may be a value: tokens with a digit, with the words around them, and quoted phrases."""
    read = said[:READ]
    found = [m.group("said") or m.group("single") for m in _QUOTED.finditer(read)]
    for token in _TOKEN.finditer(read):
        if not _is_long(token.group()):
            continue
        bare = token.group().rstrip(".:-/,")
        words = read[token.start() :].split()[:2]
        before = read[: token.start()].split()[-2:]
        found += [bare, *([f"{bare} {_bare(words[1], 0, len(words[1]))}"] if len(words) > 1 else [])]
        found += [" ".join([*before[-count:], bare]) for count in (1, 2) if len(before) >= count]
    return list(dict.fromkeys(found))[:REGION]


def places_of(said: str, values: Iterable[str]) -> list[tuple[int, int]]:
    """Return the places of values in a text."""
    return merged(place for value in values for place in find_all(said, value))


class _Talk:
    """Turns cut into passages, with the frequency of their words."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.passages = [
            Passage(turn, span, turn.plain[span.start : span.end]) for turn in turns for span in turn.pieces
        ]
        self.terms = [frozenset(content_terms(one.span.text)) for one in self.passages]
        told = [found for one, found in zip(self.passages, self.terms, strict=True) if one.turn.role != MEMORY]
        self.number = max(len(told), 2)
        self.counts = Counter(term for found in told for term in found)
        self.speakers = {plain(t.speaker) for t in turns if t.speaker and t.role == PERSON}

    def weight(self, term: str) -> float:
        """Return how rare a word is: 1 in one statement alone. Memories repeat messages, and do not count."""
        return math.log1p(self.number / max(1, self.counts[term])) / math.log1p(self.number)

    def holding(self, value: str) -> list[Turn]:
        needle = plain(value)
        return [turn for turn in self.turns if needle in turn.plain and find_all(turn.text, value)]


def _find(request: ForgetRequest, asker: Asker, talk: _Talk, position: int) -> Found:
    if request.scope is ForgetScope.EVERYTHING:
        return _everything(asker, talk)
    values = _literals(request, talk)
    if values:
        return _by_values(request.scope, values, asker, talk)
    if request.agrees:
        return Found(request.scope, {})
    if request.scope is ForgetScope.ALL_ABOUT:
        found = _about_person(request, asker, talk)
        if found is not None:
            return found
    wide = request.scope is ForgetScope.ALL_ABOUT
    if request.scope is ForgetScope.LAST or not _describes(request):
        described = _described(request.widened[:1], request, asker, talk, wide=False) if _describes(request) else None
        return described if described is not None and not described.is_empty else _last(asker, talk, position)
    return _described(request.widened, request, asker, talk, wide=wide) or Found(request.scope, {})


def _describes(request: ForgetRequest) -> bool:
    """Return whether the request names what it means, rather than pointing at it."""
    if request.scope is ForgetScope.LAST:
        return bool(subjects.named(plain(request.widened[0])))
    return any(subjects.named(plain(one)) or content_terms(one) for one in request.widened)


def _everything(asker: Asker, talk: _Talk) -> Found:
    places = {
        turn.key: [(0, len(turn.text))]
        for turn in talk.turns
        if turn.text and turn.user_id == asker.user_id and (turn.role in {PERSON, MEMORY} or turn.alone)
    }
    return Found(ForgetScope.EVERYTHING, places)


def _last(asker: Asker, talk: _Talk, position: int) -> Found:
    own = [
        t for t in talk.turns if t.user_id == asker.user_id and t.role == PERSON and t.position < position and t.text
    ]
    asked = [turn for turn in own if requests.read(turn.text) is None]
    return Found(ForgetScope.LAST, {asked[-1].key: [(0, len(asked[-1].text))]} if asked else {})


def _by_values(scope: ForgetScope, values: Sequence[str], asker: Asker, talk: _Talk) -> Found:
    places: dict[Any, list[tuple[int, int]]] = {}
    allowed: list[str] = []
    refused: list[str] = []
    for value in values:
        holding = talk.holding(value)
        free = _disposable(holding, asker, value)
        (allowed if free else refused).append(value)
        for turn in free:
            places.setdefault(turn.key, []).extend(find_all(turn.text, value))
    kept = {key: merged(spots) for key, spots in places.items()}
    return Found(scope, kept, allowed, len(refused), refused)


def _disposable(holding: Sequence[Turn], asker: Asker, value: str) -> Sequence[Turn]:
    """Return the turns in which the asker may have a value erased: all, if they told it first or it is about them."""
    told = [turn for turn in holding if turn.role != "assistant"] or list(holding)
    if any(turn.role == MEMORY and turn.user_id == asker.user_id for turn in told):
        return holding
    first = next((turn for turn in told if turn.role == PERSON), told[0] if told else None)
    if first is not None and first.user_id == asker.user_id:
        return holding
    if any(turn.user_id != asker.user_id and _names(turn, asker, value) for turn in told):
        return holding
    return [turn for turn in holding if turn.user_id == asker.user_id and turn.role == PERSON]


def _names(turn: Turn, asker: Asker, value: str) -> bool:
    """Return whether the sentences of a turn that hold a value name the asker."""
    return any(_mentions(plain(one.text), asker.names) for one in turn.pieces if plain(value) in plain(one.text))


def _mentions(said: str, names: Iterable[str]) -> bool:
    for name in names:
        at = said.find(name)
        while at >= 0:
            if is_word_at(said, at, at + len(name)):
                return True
            at = said.find(name, at + 1)
    return False


def _may_erase(passage: Passage, asker: Asker) -> bool:
    turn = passage.turn
    if turn.user_id == asker.user_id and (turn.role in {PERSON, MEMORY} or turn.alone):
        return True
    return turn.role == PERSON and _mentions(passage.plain, asker.names)


# Values named literally.


def _literals(request: ForgetRequest, talk: _Talk) -> list[str]:
    """Return the values that the request names and that were said before, without those that stay."""
    regions, quoted, kept = [], [], set()
    for piece in request.asking:
        for clause in clauses(_QUOTED.sub(lambda found: "\x00" * len(found.group()), piece.text)):
            said = piece.text[clause.start : clause.end]
            named = [m.group("said") or m.group("single") for m in _QUOTED.finditer(said)]
            if requests.is_kept(said):
                kept |= {plain(one) for one in named}
            else:
                quoted += named
                regions.append(_QUOTED.sub(" ", said))
    kept |= {plain(token.group()) for clause in request.kept for token in _TOKEN.finditer(clause)}
    phrases = [one for region in regions for one in _phrases(region, talk)]
    exact = [one for one in phrases if _is_value(one)]
    found = [
        one
        for one in [*quoted, *exact, *_tokens(regions)]
        if plain(one) not in kept and ERASED not in one and talk.holding(one)
    ]
    if not found and not request.agrees and not subjects.named(plain(" ".join(regions))):
        found = [one for one in phrases if len(_CAPITAL.findall(one)) > 1]
    longest: list[str] = []
    for one in sorted(dict.fromkeys(found), key=len, reverse=True):
        if not any(plain(one) in plain(other) for other in longest):
            longest.append(one)
    return longest


def _tokens(regions: Sequence[str]) -> list[str]:
    return [m.group().rstrip(".:-/") for region in regions for m in _TOKEN.finditer(region) if _is_long(m.group())]


def _is_long(token: str) -> bool:
    return sum(sign.isdigit() for sign in token) > 2 or (len(token) > 3 and re.search("[A-Za-z]", token) is not None)  # noqa: PLR2004


def _is_value(phrase: str) -> bool:
    words = phrase.split()
    return (
        len(words) >= LONG_PHRASE
        or (any(_is_long(one) and re.search(r"\d", one) for one in words))
        or (len(words) > 1 and re.search(r"\d", phrase) is not None)
    )


def _phrases(region: str, talk: _Talk) -> list[str]:
    """Return the longest runs of words of a request that were said before in the same words."""
    words = list(re.finditer(r"\S+", region))[:REGION]
    said = "\n".join(t.plain for t in talk.turns if t.role != PERSON or not requests.mentions_erasure(t.text))
    anywhere = "\n".join(t.plain for t in talk.turns)
    runs: list[tuple[int, int]] = []
    for at in range(len(words)):
        end = at
        while end < len(words) and _stands(_bare(region, words[at].start(), words[end].end()), said, anywhere):
            end += 1
        runs.append((at, end))
    found: list[str] = []
    taken: set[int] = set()
    for at, end in sorted(runs, key=lambda run: (run[0] - run[1], -run[0])):
        if end > at and taken.isdisjoint(range(at, end)):
            taken.update(range(at, end))
            found.append(_trimmed(_bare(region, words[at].start(), words[end - 1].end())))
    return [one for one in found if one]


def _bare(region: str, start: int, end: int) -> str:
    return region[start:end].strip("\"'“”‘’.,;:!?()（）")


def _stands(phrase: str, said: str, anywhere: str) -> bool:
    needle = plain(phrase)
    hay = anywhere if re.search(r"\d", phrase) else said
    at = hay.find(needle) if needle else -1
    return at >= 0 and is_word_at(hay, at, at + len(needle))


def _trimmed(phrase: str) -> str:
    """Strip words of the description around a short value: "amount 2,910 USD figure" is 2,910 USD."""
    words = phrase.split()
    while len(words) > 1 and words[0].lower() in _DESCRIBING:
        del words[0]
    while len(words) > 1 and words[-1].lower() in _DESCRIBING:
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


# Things named by description.


def _about_person(request: ForgetRequest, asker: Asker, talk: _Talk) -> Found | None:
    """Return all statements about a person; None if the request names nobody who was spoken of."""
    names = asker.names if request.about_self else _people(request, talk)
    speakers = _named_speakers(request, talk) if request.about_self else frozenset()
    if not names:
        return None
    hits: list[Passage] = []
    for before, one in zip([None, *talk.passages], talk.passages, strict=False):
        spoken_by = not speakers or plain(one.turn.speaker or "") in speakers
        follows = before is not None and before in hits and before.turn is one.turn and _PRONOUN.match(one.plain)
        if spoken_by and (_mentions(one.plain, names) or follows):
            hits.append(one)
    return _divided(request.scope, hits, asker)


def _people(request: ForgetRequest, talk: _Talk) -> frozenset[str]:
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


def _spoken_of(phrase: str, talk: _Talk) -> list[str]:
    """Return the longest part of a phrase that names somebody: it was said before."""
    said = "\n".join(turn.plain for turn in talk.turns)
    for length in range(len(phrase), 1, -1):
        for at in range(len(phrase) - length + 1):
            if phrase[at : at + length] in said:
                return [phrase[at : at + length]]
    return []


def _named_speakers(request: ForgetRequest, talk: _Talk) -> frozenset[str]:
    text = plain(request.text)
    return frozenset(one for one in talk.speakers if _mentions(text, {one, one.split()[0]}))


def _described(
    descriptions: Sequence[str], request: ForgetRequest, asker: Asker, talk: _Talk, *, wide: bool
) -> Found | None:
    for description in descriptions:
        hits = _best(description, request, asker, talk, wide=wide)
        if hits:
            return _with_values(description, request, hits, asker, talk)
    return None


def _best(description: str, request: ForgetRequest, asker: Asker, talk: _Talk, *, wide: bool) -> list[Passage]:
    said = plain(description)
    kinds, wanted = subjects.named(said), frozenset(content_terms(description))
    speakers = _named_speakers(replace(request, text=description), talk) - asker.names
    scored: list[tuple[float, Passage]] = []
    for passage, words in zip(talk.passages, talk.terms, strict=True):
        base, score = _score(said, kinds, wanted, words, passage, talk)
        if base < BASE or _is_kept(passage, request) or requests.read(passage.turn.text) is not None:
            continue
        score += OWN if passage.turn.user_id == asker.user_id and passage.turn.role in {PERSON, MEMORY} else 0
        score += FROM_ASSISTANT if passage.turn.role == "assistant" else 0
        if speakers:
            by = plain(passage.turn.speaker or "") in speakers and passage.turn.role == PERSON
            score += NAMED if by or _mentions(passage.plain, speakers) else OTHERS_STATEMENT
        scored.append((score, passage))
    best = max((score for score, _ in scored), default=0.0)
    if best < BASE:
        return []
    return [one for score, one in scored if wide or score >= best - NEAR_BEST]


def _score(
    said: str, kinds: frozenset[str], wanted: frozenset[str], words: frozenset[str], passage: Passage, talk: _Talk
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


def _is_kept(passage: Passage, request: ForgetRequest) -> bool:
    """Return whether a statement holds a value or name that the request says stays."""
    for clause in request.kept:
        kept = [m.group() for m in _TOKEN.finditer(clause) if _is_long(m.group())] + _proper(clause)
        if any(find_all(passage.span.text, one) for one in kept):
            return True
    return False


def _proper(clause: str) -> list[str]:
    return [m.group() for m in _PROPER.finditer(clause) if m.start() or len(m.group().split()) > 1]


def _with_values(description: str, request: ForgetRequest, hits: Sequence[Passage], asker: Asker, talk: _Talk) -> Found:
    """Return the values of these statements, wherever they stand, or the statements where they state no value."""
    kinds = subjects.named(plain(description))
    values: dict[str, str] = {}
    for one in hits:
        shared = kinds & subjects.stated(one.plain)
        for start, end in subjects.values(shared, one.plain):
            values.setdefault(one.plain[start:end].strip(), one.span.text[start:end].strip())
    kept = plain(" ".join(request.kept))
    named = [value for said, value in values.items() if said not in kept]
    if len(named) > 1 and _OLD.search(plain(description)):
        named = named[:-1]
    longest = [one for one in named if not any(one != other and one in other for other in named)]
    valueless = [one for one in hits if not any(plain(value) in one.plain for value in longest)]
    if not longest or any(one.turn.role == PERSON and not _OLD.search(plain(description)) for one in valueless):
        return _divided(request.scope, hits, asker)
    return _by_values(request.scope, longest, asker, talk)


def _divided(scope: ForgetScope, hits: Sequence[Passage], asker: Asker) -> Found:
    """Divide statements into those that the asker disposes of and others; the assistant's go with them."""
    free = [one for one in hits if _may_erase(one, asker)]
    refused = [one for one in hits if one.turn.role == PERSON and one not in free]
    if free:
        free += [one for one in hits if one.turn.role == "assistant" and one not in free]
    places: dict[Any, list[tuple[int, int]]] = {}
    for one in free:
        places.setdefault(one.turn.key, []).append((one.span.start, one.span.end))
    return Found(scope, {key: merged(spots) for key, spots in places.items()}, (), len(refused))


def _agreed(request: ForgetRequest, asking: Turn, others: Sequence[Turn]) -> Found:
    """Return what the requests of others just before mean, as far as the one who agrees disposes of it."""
    before = [t for t in others if t.role == PERSON and asking.position - ANSWERED <= t.position < asking.position]
    for turn in reversed(before):
        answered = requests.read(turn.text) if turn.user_id != asking.user_id else None
        if answered is None or answered.scope is not ForgetScope.FACT:
            continue
        rest = _Talk([one for one in others if one.key != turn.key])
        values = _literals(answered, rest)
        found = _by_values(ForgetScope.FACT, values, asker_of(asking), rest) if values else None
        if found is not None and not found.is_empty:
            spots = [place for value in found.values for place in find_all(turn.text, value)]
            return replace(found, places={**found.places, turn.key: merged(spots)})
    return Found(request.scope, {})


def merged(spots: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places in order, those that touch joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spots):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _shared_han(sentence: str, said: Iterable[str]) -> list[tuple[int, int]]:
    words = [one for one in said if len(one) > 1 and one > "\u2e80"]
    text = plain(sentence)
    return [place for word in words for place in find_all(text, word)]


_DESCRIBING: Final = frozenset(
    "the "
    "a "
    "an "
    "my our his her their this that these those exact old older earlier former previous first provisional approved "
    "current "
    "retired "
    "temporary internal private public revised placeholder original legacy wording label amount figure number "
    "code "
    "token "
    "credential badge value phrase higher lower partner school host sponsor string location family-release broader "
    "exact private phrase name mapping support to from of and at is was for in on".split()
)
"""Words around a value that describe it."""

_TOKEN: Final = lazy_regex(
    r"\d{2,4}年\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}月\d{1,2}[日号]|[A-Za-z0-9_@+-]*(?:\d|[A-Za-z]@)[A-Za-z0-9_@./:+-]*"
    r"(?:,\d{3}(?!\d))*(?:\.\d+)?"
)
_QUOTED: Final = lazy_regex(
    r"(?P<mark>[\"“「『])(?P<said>[^\"“”「」『』\n]{2,200})[\"”」』]|(?<!\w)['‘](?P<single>[^'‘’\n]{2,200})['’](?!\w)"
)
_NAME: Final = lazy_regex(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,3}|^[A-Z][a-z]{2,30}(?='s|\b)")
_PROPER: Final = lazy_regex(r"\b[A-Z][\w.'-]{1,30}(?: [A-Z][\w.'-]{1,30}){0,3}")
_CAPITAL: Final = lazy_regex(r"\b[A-Z][a-z]")
_WORD: Final = lazy_regex(r"[A-Za-zÀ-ÿ'-]{3,40}|\d[\d,.]*")
_UNIT: Final = lazy_regex(r"usd|eur|gbp|euros?|dollars?|pounds?|yuan|kg|kilos?|percent|am|pm")
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

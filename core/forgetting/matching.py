"""Finds what a request to forget means among what was said, and whether the asker may have it forgotten. Pure.

Values named literally (`core.forgetting.literals`) are found wherever they stand, other things by description
(`core.forgetting.described`). An asker disposes of what they said, of what others said about them, and of values that
they told first; in a group whose members may all ask, of every value that was said to the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.forgetting import described, literals, requests
from core.forgetting.asking import AGREES
from core.forgetting.described import Description
from core.forgetting.extent import ForgetScope
from core.forgetting.params import MayAsk
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import (
    ASSISTANT,
    MEMORY,
    PERSON,
    ForgettingAsker,
    Talk,
    Turn,
    TurnSentence,
    asker_of,
    mentions,
)
from core.forgetting.text import content_terms, find_all, naming_terms, plain
from core.language.lazy_regex import lazy_regex
from core.statements.redaction import merged

Floats = NDArray[np.float32]
Cosines = Callable[[Sequence[str], Sequence[str]], Floats]
"""Returns the cosines of each of some texts with each of others."""

Meant = Callable[[str, Sequence[str]], Floats]
"""Returns the log-odds that a request means each statement."""

READ: Final = 64
"""Statements, those nearest to the request, of which it is asked whether they are meant."""

MEANT: Final = -1.0
"""Log-odds from which a statement is meant."""

SHARED: Final = 1.5
"""Log-odds for a statement that has all words of what the request names."""

AGE: Final = 2.0
"""Log-odds for what was, and against what is new, where the request speaks of something old."""

OTHER_CODE: Final = 1.0
"""Log-odds against a code or number that is described by other words: the library's card, not the bank's."""

NO_CODE: Final = 2.0
"""Log-odds against a statement that gives no code or number, where one is described."""

TOGETHER: Final = 0.2
"""Distance from the best log-odds within which others are meant with it."""

DOUBT: Final = 0.5
"""Distance from the best log-odds within which any other leaves it unclear which statement is meant."""

LIKELY: Final = -4.0
"""Log-odds from which the likeliest statement is held for approval."""

CLOSE: Final = 1.0
"""Distance from the best log-odds within which others are held with it."""

LOOSE: Final = 3
"""Statements that a request holds at most where it is unclear which is meant."""

ANSWERED: Final = 10
"""Messages back to which an agreement refers."""


@dataclass(frozen=True, slots=True)
class Found:
    """Result of the search for what a request means: places in turns by key, and values to remove wherever they stand.

    `refused`: how many statements were found that the asker does not dispose of. `described`: whether they were found
    by meaning, so that nothing but their places tells what was meant.
    """

    scope: ForgetScope
    places: Mapping[Any, Sequence[tuple[int, int]]]
    values: Sequence[str] = ()
    refused: int = 0
    refused_values: Sequence[str] = ()
    described: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.places


NOTHING: Final = Found(ForgetScope.FACT, {})


def may_request(asking: Turn, sentences: Sequence[int], may_ask: MayAsk) -> bool:
    """Return whether a turn may make a request, as far as it tells by itself."""
    members = _is_members(asking, may_ask)
    if asking.role == PERSON and _request_of(asking, sentences, members=members) is not None:
        return True
    agrees = asking.role == PERSON and AGREES.search(plain(asking.text)) is not None
    return (agrees or (members and asking.role in {PERSON, ASSISTANT})) and requests.declared(asking.text) is not None


def read(
    asking: Turn, sentences: Sequence[int], turns: Sequence[Turn], may_ask: MayAsk = MayAsk.CONCERNED
) -> ForgetRequest | None:
    """Return the request that a turn makes with these sentences; None if it makes none.

    Where all members of a group may ask, a command need not name the memory; who says that something is deleted asks
    for it, and so does an assistant that says so in answer to a person's request.
    """
    members = _is_members(asking, may_ask)
    if asking.role == PERSON:
        request = _request_of(asking, sentences, members=members)
        if request is not None or not (members or AGREES.search(plain(asking.text))):
            return request
    elif asking.role != ASSISTANT or not members or not _answered(asking, turns):
        return None
    return requests.declared(asking.text)


def _request_of(asking: Turn, sentences: Sequence[int], *, members: bool) -> ForgetRequest | None:
    """Return what a person's turn asks; a bare command has to name a code, or be a member's."""
    request = None if members else requests.read(asking.text, sentences)
    if request is not None:
        return request
    command = requests.commands(asking.text)
    if command is not None and members:
        return replace(command, scope=ForgetScope.FACT) if command.values_only else command
    return command if command is not None and command.of_value else None


def _is_members(asking: Turn, may_ask: MayAsk) -> bool:
    """Return whether a turn was said in a group whose members may all ask."""
    return may_ask is MayAsk.MEMBERS and asking.group_id is not None


def find(request: ForgetRequest, asking: Turn, turns: Sequence[Turn], may_ask: MayAsk = MayAsk.CONCERNED) -> Found:
    """Return what a request means among these turns, in their order; the asking one is not searched."""
    others = [turn for turn in turns if turn.key != asking.key]
    members = _is_members(asking, may_ask)
    asker = asker_of(asking, asking.group_id if members else None)
    extent = _find(request, asker, Talk(others), asking.position)
    if request.agrees and not (extent.values and (members or not request.values_only)):
        return _agreed(request, asker, asking, others)
    if not extent.values:
        extent = replace(extent, places=with_replies(extent.places, turns))
    if extent.is_empty and request.of_value and members and not extent.refused_values:
        return _said_here_alone(request, asking)
    return extent


def blank_request(request: ForgetRequest, extent: Found, turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return the places in the request that repeat what is forgotten: its values, and words of erased sentences."""
    spots = [spot for value in extent.values for spot in find_all(request.text, value)]
    if extent.scope is ForgetScope.EVERYTHING or extent.values:
        return sorted(set(spots))
    texts = {turn.key: turn.text for turn in turns}
    terms = {
        term
        for key, places in extent.places.items()
        for start, end in places
        for term in content_terms(texts.get(key, "")[start:end])
    }
    for sentence in request.asking:
        repeated = [m for m in _WORD.finditer(sentence.text) if terms.intersection(content_terms(m.group()))]
        spots += [(sentence.start + match.start(), sentence.start + match.end()) for match in repeated]
        spots += [(sentence.start + a, sentence.start + b) for a, b in _shared_han(sentence.text, terms)]
    return sorted(set(spots))


def places_of(text: str, values: Iterable[str]) -> list[tuple[int, int]]:
    """Return the places of values in a text."""
    return merged(spot for value in values for spot in find_all(text, value))


def by_meaning(
    request: ForgetRequest, asking: Turn, turns: Sequence[Turn], cosines: Cosines, meant: Meant | None
) -> Found:
    """Return what a request means by description; no transaction may be open.

    `meant`: the trained model; without it the nearest statement is held for approval.
    """
    if request.values_only:
        return Found(request.scope, {})
    talk = Talk([turn for turn in turns if turn.key != asking.key])
    named = described.descriptions(request)
    passages = described.candidates(named, request, talk)
    hits, sure = _meant_passages(request, named, passages, cosines, meant)
    if not hits:
        return Found(request.scope, {})
    if any(map(described.speaks_of_old, named)):
        hits = _without_newest(hits)
    asker = asker_of(asking)
    values = described.values(named, hits, asker.names)
    scope = request.scope if sure else ForgetScope.SIMILAR
    if values:
        extent = _by_values(scope, values, asker, talk)
    else:
        extent = _divided(scope, hits, asker)
        extent = replace(extent, places=with_replies(extent.places, turns))
    return replace(extent, described=True)


def _meant_passages(
    request: ForgetRequest,
    named: Sequence[Description],
    passages: Sequence[TurnSentence],
    cosines: Cosines,
    meant: Meant | None,
) -> tuple[list[TurnSentence], bool]:
    """Return the passages that a request means, and whether that is certain; without the model the nearest one."""
    if meant is None and named:
        passages = [
            passage for passage in passages if not all(_is_other_code(description, passage) for description in named)
        ]
    by_text = {passage.span.text: passage for passage in passages}
    if not by_text:
        return [], False
    statements = list(by_text)
    near = cosines([request.heard, *(description.text for description in named)], statements).max(axis=0)
    nearest = [statements[at] for at in np.argsort(-near)[:READ]]
    texts, sure = {nearest[0]}, False
    if meant is not None:
        texts, sure = _chosen(named, [by_text[text] for text in nearest], meant(request.heard, nearest))
    return [passage for passage in passages if passage.span.text in texts], sure


def _without_newest(hits: Sequence[TurnSentence]) -> list[TurnSentence]:
    """Return statements without what was said last: of two PINs "my old PIN" is the first."""
    newest = max(hits, key=lambda passage: passage.turn.position).span.text
    return [passage for passage in hits if passage.span.text != newest] or list(hits)


def _chosen(named: Sequence[Description], passages: Sequence[TurnSentence], log_odds: Floats) -> tuple[set[str], bool]:
    """Return the statements that any of the named things means, and whether each choice is certain."""
    wording = [[_wording(description, passage) for passage in passages] for description in named]
    choices = [choose(log_odds + np.array(row)) for row in wording or [[0.0] * len(passages)]]
    return {passages[at].span.text for chosen, _ in choices for at in chosen}, all(sure for _, sure in choices)


def _wording(description: Description, passage: TurnSentence) -> float:
    """Return what the words for a thing say for a statement, beside the trained model, in log-odds."""
    shared, age = described.shared_words(description, passage), described.age_score(description, passage)
    return (
        SHARED * shared
        + AGE * age
        - OTHER_CODE * _is_other_code(description, passage)
        - NO_CODE * described.lacks_code(description, passage)
    )


def choose(log_odds: Floats) -> tuple[list[int], bool]:
    """Return the statements that are meant, and whether that is certain: no other one is nearly as likely."""
    best = log_odds.max()
    meant = np.flatnonzero(log_odds >= max(MEANT, best - TOGETHER)).tolist()
    if meant and not np.any((log_odds < best - TOGETHER) & (log_odds >= best - DOUBT)):
        return meant, True
    likely = [int(at) for at in np.argsort(-log_odds) if log_odds[at] >= max(LIKELY, best - CLOSE)]
    return likely[:LOOSE], False


def _is_other_code(description: Description, passage: TurnSentence) -> bool:
    """Return whether a statement gives another code or number than the named one: the library's, not the bank's."""
    return described.lacks_modifiers(description, frozenset(naming_terms(passage.span.text)))


def _find(request: ForgetRequest, asker: ForgettingAsker, talk: Talk, position: int) -> Found:
    """Return what a request names by extent, by value, or as a person who was spoken of; descriptions are not read."""
    if request.scope is ForgetScope.EVERYTHING:
        return _everything(asker, talk)
    values = literals.named(request, talk, strict=request.scope is ForgetScope.UNNAMED)
    if values:
        return _by_values(request.scope, values, asker, talk)
    if request.values_only:
        return Found(request.scope, {})
    if request.scope is ForgetScope.ALL_ABOUT and described.is_of_person(request):
        passages = described.about_person(request, asker, talk)
        if passages is not None:
            return _divided(request.scope, passages, asker)
    if request.scope is ForgetScope.LAST and not described.names_something(request):
        return _last(asker, talk, position)
    return Found(request.scope, {})


def _everything(asker: ForgettingAsker, talk: Talk) -> Found:
    places = {
        turn.key: [(0, len(turn.text))]
        for turn in talk.turns
        if turn.text and turn.user_id == asker.user_id and (turn.role in {PERSON, MEMORY} or turn.alone)
    }
    return Found(ForgetScope.EVERYTHING, places)


def _last(asker: ForgettingAsker, talk: Talk, position: int) -> Found:
    own = [
        t for t in talk.turns if t.user_id == asker.user_id and t.role == PERSON and t.position < position and t.text
    ]
    statements = [turn for turn in own if requests.by_words(turn.text) is None]
    return Found(ForgetScope.LAST, {statements[-1].key: [(0, len(statements[-1].text))]} if statements else {})


def _by_values(scope: ForgetScope, values: Sequence[str], asker: ForgettingAsker, talk: Talk) -> Found:
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


def _disposable(holding: Sequence[Turn], asker: ForgettingAsker, value: str) -> Sequence[Turn]:
    """Return the turns in which the asker may have a value erased: all, if they told it first or it is about them.

    A member who may ask for the group has it erased from all that the group heard.
    """
    sources = [turn for turn in holding if turn.role != ASSISTANT] or list(holding)
    if any(turn.role == MEMORY and turn.user_id == asker.user_id for turn in sources):
        return holding
    first = next((turn for turn in sources if turn.role == PERSON), sources[0] if sources else None)
    if first is not None and first.user_id == asker.user_id:
        return holding
    if any(turn.user_id != asker.user_id and _names(turn, asker, value) for turn in sources):
        return holding
    if asker.group_id is not None:
        return [turn for turn in holding if turn.group_id == asker.group_id or turn.user_id == asker.user_id]
    return [turn for turn in holding if turn.user_id == asker.user_id and turn.role == PERSON]


def _names(turn: Turn, asker: ForgettingAsker, value: str) -> bool:
    """Return whether the sentences of a turn that hold a value name the asker."""
    return any(mentions(plain(piece.text), asker.names) for piece in turn.pieces if plain(value) in plain(piece.text))


def may_erase(passage: TurnSentence, asker: ForgettingAsker) -> bool:
    """Return whether the asker disposes of a sentence: they said it, or it names them."""
    turn = passage.turn
    if turn.user_id == asker.user_id and (turn.role in {PERSON, MEMORY} or turn.alone):
        return True
    return turn.role == PERSON and mentions(passage.plain, asker.names)


def _divided(scope: ForgetScope, hits: Sequence[TurnSentence], asker: ForgettingAsker) -> Found:
    """Divide statements into those that the asker disposes of and others; the assistant's go with them."""
    free = [passage for passage in hits if may_erase(passage, asker)]
    refused = [passage for passage in hits if passage.turn.role == PERSON and passage not in free]
    if free:
        free += [passage for passage in hits if passage.turn.role == ASSISTANT and passage not in free]
    places: dict[Any, list[tuple[int, int]]] = {}
    for passage in free:
        places.setdefault(passage.turn.key, []).append((passage.span.start, passage.span.end))
    return Found(scope, {key: merged(spots) for key, spots in places.items()}, (), len(refused))


def _answered(asking: Turn, turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns of persons just before one, of others than its author, that make a request; the latest first."""
    before = [t for t in turns if t.role == PERSON and asking.position - ANSWERED <= t.position < asking.position]
    others = [t for t in before if asking.role != PERSON or t.user_id != asking.user_id]
    return [t for t in reversed(others) if requests.by_words(t.text) or requests.commands(t.text)]


def with_replies(
    places: Mapping[Any, Sequence[tuple[int, int]]], turns: Sequence[Turn]
) -> dict[Any, list[tuple[int, int]]]:
    """Return the places, and those of the assistant's sentences right behind that repeat a word of them."""
    extended = {key: list(spots) for key, spots in places.items()}
    conversation = [turn for turn in turns if turn.role != MEMORY]
    for turn, reply in pairwise(conversation):
        if turn.role != PERSON or reply.role != ASSISTANT or turn.key not in places or reply.key in places:
            continue
        gone = " ".join(turn.text[start:end] for start, end in places[turn.key])
        terms = set(content_terms(gone)) - set(content_terms(rest_of(turn.text, places[turn.key])))
        spots = [(piece.start, piece.end) for piece in reply.pieces if terms.intersection(content_terms(piece.text))]
        if spots:
            extended[reply.key] = merged(spots)
    return extended


def rest_of(text: str, spots: Sequence[tuple[int, int]]) -> str:
    """Return a text without what stands at these places."""
    rest, at = "", 0
    for start, end in sorted(spots):
        rest, at = f"{rest} {text[at:start]}", end
    return f"{rest} {text[at:]}"


def _said_here_alone(request: ForgetRequest, asking: Turn) -> Found:
    """Return values that only the request itself says: it does not bring into the memory what it wants gone."""
    values = literals.unheard(request)
    spots = merged(spot for value in values for spot in find_all(asking.text, value))
    return Found(request.scope, {asking.key: spots} if spots else {}, values if spots else ())


def _agreed(request: ForgetRequest, asker: ForgettingAsker, asking: Turn, others: Sequence[Turn]) -> Found:
    """Return what the requests of others just before mean, as far as the one who agrees disposes of it."""
    for turn in _answered(asking, others):
        answered = requests.by_words(turn.text) or requests.commands(turn.text)
        if answered is None or answered.scope not in {ForgetScope.FACT, ForgetScope.UNNAMED}:
            continue
        rest = Talk([other for other in others if other.key != turn.key])
        values = literals.named(answered, rest, strict=True)
        extent = _by_values(ForgetScope.FACT, values, asker, rest) if values else None
        if extent is not None and not extent.is_empty:
            spots = [spot for value in extent.values for spot in find_all(turn.text, value)]
            return replace(extent, places={**extent.places, turn.key: merged(spots)})
    return Found(request.scope, {})


def _shared_han(sentence: str, terms: Iterable[str]) -> list[tuple[int, int]]:
    han_terms = [term for term in terms if len(term) > 1 and term > "\u2e80"]
    text = plain(sentence)
    return [spot for term in han_terms for spot in find_all(text, term)]


_WORD: Final = lazy_regex(r"[A-Za-zÀ-ÿ'-]{3,40}|\d[\d,.]*")

"""Earlier statements that a new statement ends: a trained reader judges them pair by pair.

A statement that may end anything is read together with the nearest earlier ones of its subject. Slots decide by
themselves (`core.consolidation.judge`), and what happens to one person or thing ends nothing that is true of another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.language import languages, scripts
from core.language.ngrams import logistic
from core.memory.codes import CATEGORIES, LONGEST, code_of, microseconds
from core.memory.identity import KnownMemory, Revised
from core.memory.known_set import Flags, KnownSet
from core.statements import clauses
from core.types import Candidate, Category

NEAREST: Final = 20
"""Earlier statements that are read with a new one, of those of its batch as many again."""

TENTATIVE: Final = 4
"""Sentences that were not kept, the nearest, that are read with a new statement beside those."""

LATER: Final = 5
"""Statements said later, the nearest, that are read with one that arrives after them."""

MAY_END: Final = -0.75
"""Log-odds of ending anything from which a statement is read with others."""

LEAST: Final = 2.25
"""Log-odds from which a statement counts as ended."""

DOUBT: Final = 1.0
"""Log-odds from which a statement that is not ended is doubted: contexts and results show it as perhaps outdated."""

DOUBTED: Final = 2
"""Statements, the likeliest, that a new one makes doubtful."""

FLOOR: Final = -3.0
"""Log-odds of a whole statement from which its clauses are read: below, hardly any is over."""

CLAUSE: Final = 0.5
"""Log-odds by which a clause that is read by itself is likelier to be over: nothing else blurs it."""

LEANS: Final = 0.7
"""Log-odds from which a clause says nothing without one that is over."""

TOGETHER: Final = 8
"""Earlier statements, the likeliest, that are compared with each other: which of them does a new one end?"""

COMPARED: Final = 0.5
"""Weight of how much less likely than the likeliest of them a statement is in that comparison."""

MARGIN: Final = 0.3
"""Log-odds below those of the likeliest within which a statement ends others, too: most end one thing, or two."""

COPY: Final = 10
"""Words of which one may differ in a statement that repeats another."""

_REASON: Final = "Something said later is likely to end it ({likely:.0%}, by the trained reader)."

Floats = NDArray[np.float32]
Pair = tuple[str, str]
"""The contents of a statement and of an earlier one."""


class Reading(NamedTuple):
    """How far a statement ends an earlier one: log-odds that it ends all of it, and that it ends a part of it.

    `rest`: what remains of the earlier one; empty: nothing does.
    """

    whole: float
    part: float
    rest: str = ""

    @property
    def likely(self) -> float:
        """Return the log-odds that count: those of a part, if what remains can be told."""
        return self.part if self.rest else self.whole


Readings = Mapping[Pair, Reading]
"""What the reader says of pairs of statements."""

UNREAD: Final = Reading(-np.inf, -np.inf)


class Reader(Protocol):
    """The trained judgements that endings rest on."""

    def ends(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text ends anything that was said before."""
        ...

    def over(self, pairs: Sequence[Pair]) -> Floats:
        """Return the log-odds that the first text of each pair ends what the second one says."""
        ...

    def which(self, text: str, earlier: Sequence[str]) -> Floats:
        """Return the log-odds that a text ends each of some earlier ones, which are read all together."""
        ...

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each text is understood only with the one beside it, said before."""
        ...


def may_end(reader: Reader, contents: Sequence[str]) -> dict[str, float]:
    """Return those of some statements that may end others, with the log-odds of it."""
    short = [content for content in contents if len(content) <= LONGEST]
    log_odds = reader.ends([_words(content) for content in short]).tolist()
    return {content: value for content, value in zip(short, log_odds, strict=True) if value >= MAY_END}


def pairs(
    candidates: Sequence[Candidate], vectors: Floats, neighbours: Sequence[KnownSet], ending: Collection[str]
) -> list[Pair]:
    """Return the pairs that decide what a batch ends, in itself too, and what has ended it. `ending`: see `may_end`."""
    result: dict[Pair, None] = {}
    for index, (candidate, known) in enumerate(zip(candidates, neighbours, strict=True)):
        if candidate.tentative:
            continue
        for later in known.at(_later(candidate, known)):
            result[later.content, candidate.content] = None
        if candidate.content not in ending or candidate.relations is not None:
            continue
        for earlier in known.at(_earlier(candidate, known)):
            result[candidate.content, earlier.content] = None
        cosines = vectors[:index] @ vectors[index]
        for tentative in (False, True):
            for other in within(candidate, candidates[:index], cosines, tentative=tentative):
                result[candidate.content, candidates[other].content] = None
    return [pair for pair in result if not repeats(*pair)]


def repeats(new: str, old: str) -> bool:
    """Return whether a statement is an earlier one but for its digits, or for a word in `COPY`.

    Slots and announced changes of a number decide about those; the reader takes the fifth chapter for the end of the
    fourth, a second dog for the end of the first, and a rent of 950 for no change of 900. What is inserted, as "no
    longer", may end something.
    """
    if _DIGITS.sub("0", new) == _DIGITS.sub("0", old):
        return True
    tokens: list[str] = _WORD.findall(new.lower())
    earlier: list[str] = _WORD.findall(old.lower())
    differing = sum(token != other for token, other in zip(tokens, earlier, strict=False))
    return len(tokens) == len(earlier) >= COPY * differing


_DIGITS: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD: Final = re.compile(rf"[{scripts.HAN}]|[^\W{scripts.HAN}]+")


def within(
    candidate: Candidate, earlier: Sequence[Candidate], cosines: Floats, *, tentative: bool = False
) -> list[int]:
    """Return the places of the nearest candidates of its own batch, tentative ones or others, that one may end."""
    places = [
        index
        for index in np.argsort(-cosines, kind="stable").tolist()
        if earlier[index].tentative == tentative and _may_be_ended(candidate, earlier[index])
    ]
    return places[: TENTATIVE if tentative else NEAREST]


def read(reader: Reader, pairs: Sequence[Pair]) -> Readings:
    """Return what the reader says of each pair. An earlier statement of several clauses is read by each, too.

    "I quit the orchestra" beside "I'm a nurse, and I play the cello in an orchestra" looks half as likely to end
    anything as beside its second clause.
    """
    alone = dict(zip(pairs, reader.over([(_words(new), _words(old)) for new, old in pairs]).tolist(), strict=True))
    losses = _losses(reader, alone)
    whole = {pair: value - losses.get(pair, 0.0) for pair, value in alone.items()}
    clauses_of = {
        (new, old): _clauses(old) if whole[new, old] >= FLOOR and len(old) <= LONGEST else [] for new, old in pairs
    }
    texts = dict.fromkeys(
        (_words(new), clause) for (new, _), several in clauses_of.items() for clause in several if clause not in new
    )
    log_odds = dict(zip(texts, reader.over(list(texts)).tolist(), strict=True))
    parts = {
        (new, old): [
            -np.inf if clause in new else log_odds[_words(new), clause] + CLAUSE - losses.get((new, old), 0.0)
            for clause in several
        ]
        for (new, old), several in clauses_of.items()
    }
    over = _with_dependent({pair: _over(whole[pair], parts[pair]) for pair in pairs}, clauses_of, reader)
    return {pair: _reading(pair[1], whole[pair], parts[pair], over[pair]) for pair in pairs}


def _losses(reader: Reader, alone: Mapping[Pair, float]) -> dict[Pair, float]:
    """Return the log-odds that comparing them takes from the earlier statements that a new one is likeliest to end.

    Read alone, what is like the statement that is over looks over, too; read together, less so.
    """
    likeliest: dict[str, list[str]] = {}
    for new, old in sorted(alone, key=lambda pair: -alone[pair]):
        likeliest.setdefault(new, []).append(old)
    losses = dict[Pair, float]()
    for new, several in likeliest.items():
        compared = several[:TOGETHER]
        if len(compared) > 1 and alone[new, compared[0]] >= FLOOR:
            values = reader.which(_words(new), [_words(old) for old in compared])
            fallen = (COMPARED * (values.max() - values)).tolist()
            losses |= {(new, old): loss for old, loss in zip(compared, fallen, strict=True)}
    return losses


def _reading(old: str, whole: float, parts: Sequence[float], over: frozenset[int]) -> Reading:
    part = max(parts, default=whole)
    if len(over) == len(parts):
        return Reading(max(whole, part), part)
    return Reading(whole, part, clauses.without(old, over) if over and part >= LEAST else "")


def _clauses(content: str) -> list[str]:
    """Return the clauses of a statement that are read by themselves; none if there is one."""
    several = clauses.clauses(clauses.framed(content).text)
    return [clauses.bare(clause) for clause in several] if len(several) > 1 else []


def _over(whole: float, parts: Sequence[float]) -> frozenset[int]:
    """Return the places of the clauses that are over; none: the statement is not ended, or has one clause."""
    if max(whole, *parts, -np.inf) < LEAST:
        return frozenset()
    return frozenset(position for position, value in enumerate(parts) if value >= CLAUSE)


def _with_dependent(
    over: Mapping[Pair, frozenset[int]], clauses_of: Mapping[Pair, Sequence[str]], reader: Reader
) -> dict[Pair, frozenset[int]]:
    """Return with the clauses that are over those that say nothing without them ("at eighteen yuan an hour")."""
    kept = [
        (pair, position, (clause, " ".join(clauses_of[pair][at] for at in sorted(gone))))
        for pair, gone in over.items()
        for position, clause in enumerate(clauses_of[pair])
        if gone and position not in gone
    ]
    leaning = reader.leans([texts for *_, texts in kept]).tolist()
    result = dict(over)
    for (pair, position, (clause, _)), value in zip(kept, leaning, strict=True):
        if value >= LEANS or languages.begins_with_somebody(clause):
            result[pair] |= {position}
    return result


def ended(
    candidate: Candidate,
    known: KnownSet,
    added: Sequence[KnownMemory],
    readings: Readings,
    rests: Container[str] = (),
    tentative: Sequence[KnownMemory] = (),
) -> list[Revised]:
    """Return the known memories and additions of the batch that a candidate ends, the likeliest first.

    `rests`: what may remain of known memories; of others nothing does. `tentative`: what was not kept. It ends beside
    the others, and saves none of them by being likelier.
    """
    rated = _rated(candidate, known, added, readings)
    unkept = _rated(candidate, KnownSet.of([]), tentative, readings)
    least, unkept_least = _least(rated), _least(sorted([*rated, *unkept], key=lambda pair: -pair[0].likely))
    return [
        *(
            _revised(memory, reading.likely, reading.rest if reading.rest in rests else "")
            for reading, memory in rated
            if reading.likely >= least
        ),
        *(_revised(memory, reading.likely) for reading, memory in unkept if reading.likely >= unkept_least),
    ]


def doubted(
    candidate: Candidate, memories: KnownSet, added: Sequence[KnownMemory], readings: Readings
) -> list[KnownMemory]:
    """Return what a candidate may end, though not certainly enough for `ended`, the likeliest first."""
    rated = _rated(candidate, memories, added, readings)
    least = _least(rated)
    return [memory for reading, memory in rated if DOUBT <= max(reading.whole, reading.part) < least][:DOUBTED]


def _rated(
    candidate: Candidate, memories: KnownSet, added: Sequence[KnownMemory], readings: Readings
) -> list[tuple[Reading, KnownMemory]]:
    """Return what is read of a candidate beside each earlier statement, the likeliest to be ended first."""
    if not readings:
        return []
    rated = [
        *((_reading_of(candidate, memory, readings), memory) for memory in memories.at(_earlier(candidate, memories))),
        *((_reading_of(candidate, memory, readings)._replace(rest=""), memory) for memory in added),
    ]
    return sorted(rated, key=lambda pair: -pair[0].likely)


def _least(rated: Sequence[tuple[Reading, KnownMemory]]) -> float:
    """Return the log-odds from which statements are ended, the likeliest of which comes first."""
    return max(LEAST, rated[0][0].likely - MARGIN) if rated else LEAST


def _reading_of(candidate: Candidate, memory: KnownMemory, readings: Readings) -> Reading:
    return readings.get((candidate.content, memory.content), UNREAD)


def ended_by(candidate: Candidate, known: KnownSet, readings: Readings) -> Revised | None:
    """Return the known memory, said later, that had ended a candidate before it came."""
    later = known.at(_later(candidate, known)) if readings else []
    rated = [(readings.get((memory.content, candidate.content), UNREAD).whole, memory) for memory in later]
    value, memory = max(rated, key=lambda pair: pair[0], default=(-np.inf, None))
    return _revised(memory, value) if memory is not None and value >= LEAST else None


def rests(readings: Readings) -> list[str]:
    """Return what remains of statements that are ended in part."""
    return list(dict.fromkeys(read.rest for read in readings.values() if read.rest and read.part >= LEAST))


def _revised(memory: KnownMemory, log_odds: float, rest: str = "") -> Revised:
    likely = logistic(log_odds - CLAUSE if rest else log_odds)
    return Revised(memory, _REASON.format(likely=likely), likely, rest)


def _earlier(candidate: Candidate, known: KnownSet) -> NDArray[Any]:
    """Return the indexes of the memories that a candidate is read with."""
    is_earlier = known.rows["told"] <= microseconds(candidate.told_at)
    return known.nearest_first(_may_meet(candidate, known) & is_earlier)[:NEAREST]


def _later(candidate: Candidate, known: KnownSet) -> NDArray[Any]:
    """Return the indexes of the memories that were said later and may have ended a candidate."""
    is_later = known.rows["told"] > microseconds(candidate.told_at)
    return known.nearest_first(_may_meet(candidate, known) & is_later)[:LATER]


def _may_meet(candidate: Candidate, known: KnownSet) -> Flags:
    """Return of which memories `_may_be_ended` holds."""
    rows = known.rows
    if candidate.category is Category.EPISODE:
        return np.zeros(len(rows), dtype=np.bool_)
    allowed = (rows["content"] != code_of(candidate.content)) & ~rows["long"]
    allowed &= (rows["category"] != CATEGORIES.index(Category.EPISODE)) & (
        rows["subject"] == code_of(candidate.subject)
    )
    if candidate.attribute:
        allowed &= rows["attribute"] != code_of(candidate.attribute)
    return np.asarray(allowed)


def _may_be_ended(candidate: Candidate, other: Candidate) -> bool:
    """Return whether two statements are of one subject and no episodes, differ, and do not fill one slot."""
    return (
        Category.EPISODE not in {candidate.category, other.category}
        and candidate.subject == other.subject
        and candidate.content != other.content
        and len(other.content) <= LONGEST
        and (candidate.attribute is None or candidate.attribute != other.attribute)
    )


def _words(content: str) -> str:
    """Return what is read of a statement: of a quotation the words of its speaker."""
    statement = clauses.framed(content)
    return statement.text if statement.is_quoted else content

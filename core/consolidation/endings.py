"""Earlier statements that a new statement ends: a trained reader judges them pair by pair.

A statement that may end anything is read together with the nearest earlier ones of its subject. Slots decide by
themselves (`core.consolidation.judge`), and what happens to one person or thing ends nothing that is true of another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.language.ngrams import logistic
from core.memory.codes import CATEGORIES, LONGEST, code_of, microseconds
from core.memory.identity import KnownMemory, Revised
from core.memory.known_set import Flags, KnownSet
from core.statements import quotation
from core.types import Candidate, Category

NEAREST: Final = 20
"""Earlier statements that are read with a new one, of those of its batch as many again."""

LATER: Final = 5
"""Statements said later, the nearest, that are read with one that arrives after them."""

MAY_END: Final = -0.75
"""Log-odds of ending anything from which a statement is read with others."""

LEAST: Final = 2.0
"""Log-odds from which a statement counts as ended."""

MARGIN: Final = 0.3
"""Log-odds below those of the likeliest within which a statement ends others, too: most end one thing, or two."""

_REASON: Final = "Something said later is likely to end it ({likely:.0%}, by the trained reader)."

Floats = NDArray[np.float32]
Pair = tuple[str, str]
"""The contents of a statement and of an earlier one."""
LogOdds = Mapping[Pair, float]
"""The log-odds that the first statement of each pair ends the second one."""


class Reader(Protocol):
    """The trained judgements that endings rest on."""

    def ends(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text ends anything that was said before."""
        ...

    def over(self, pairs: Sequence[Pair]) -> Floats:
        """Return the log-odds that the first text of each pair ends what the second one says."""
        ...


def may_end(reader: Reader, contents: Sequence[str]) -> frozenset[str]:
    """Return those of some statements that may end others."""
    short = [content for content in contents if len(content) <= LONGEST]
    log_odds = reader.ends([_words(content) for content in short])
    return frozenset(content for content, value in zip(short, log_odds, strict=True) if value >= MAY_END)


def pairs(
    candidates: Sequence[Candidate], vectors: Floats, neighbours: Sequence[KnownSet], ending: Collection[str]
) -> list[Pair]:
    """Return the pairs that decide what a batch ends, in itself too, and what has ended it. `ending`: see `may_end`."""
    result: dict[Pair, None] = {}
    for index, (candidate, known) in enumerate(zip(candidates, neighbours, strict=True)):
        for later in known.at(_later(candidate, known)):
            result[later.content, candidate.content] = None
        if candidate.content not in ending or candidate.relations is not None:
            continue
        for earlier in known.at(_earlier(candidate, known)):
            result[candidate.content, earlier.content] = None
        for other in within(candidate, candidates[:index], vectors[:index] @ vectors[index]):
            result[candidate.content, candidates[other].content] = None
    return [pair for pair in result if not _differ_in_numbers_alone(*pair)]


def _differ_in_numbers_alone(new: str, old: str) -> bool:
    """Return whether two statements are the same but for their digits: chapters, tickets, amounts.

    Slots and announced changes of a number decide about those; the reader takes the fifth chapter for the end of the
    fourth, and a rent of 950 for no change of 900.
    """
    return _DIGITS.sub("0", new) == _DIGITS.sub("0", old)


_DIGITS: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")


def within(candidate: Candidate, earlier: Sequence[Candidate], cosines: Floats) -> list[int]:
    """Return the places of the nearest candidates of its own batch that a candidate may end."""
    places = [
        index for index in np.argsort(-cosines, kind="stable").tolist() if _may_be_ended(candidate, earlier[index])
    ]
    return places[:NEAREST]


def read(reader: Reader, pairs: Sequence[Pair]) -> LogOdds:
    """Return what the reader says of each pair."""
    log_odds = reader.over([(_words(new), _words(old)) for new, old in pairs])
    return dict(zip(pairs, log_odds.tolist(), strict=True))


def ended(candidate: Candidate, known: KnownSet, added: Sequence[KnownMemory], log_odds: LogOdds) -> list[Revised]:
    """Return the known memories and additions of the batch that a candidate ends, the likeliest first."""
    if not log_odds:
        return []
    compared = [*known.at(_earlier(candidate, known)), *added]
    odds = [log_odds.get((candidate.content, memory.content), -np.inf) for memory in compared]
    least = max(LEAST, max(odds, default=LEAST) - MARGIN)
    order = sorted((index for index, value in enumerate(odds) if value >= least), key=lambda index: -odds[index])
    return [_revised(compared[index], odds[index]) for index in order]


def ended_by(candidate: Candidate, known: KnownSet, log_odds: LogOdds) -> Revised | None:
    """Return the known memory, said later, that had ended a candidate before it came."""
    later = known.at(_later(candidate, known)) if log_odds else []
    rated = [(log_odds.get((memory.content, candidate.content), -np.inf), memory) for memory in later]
    value, memory = max(rated, key=lambda pair: pair[0], default=(-np.inf, None))
    return _revised(memory, value) if memory is not None and value >= LEAST else None


def _revised(memory: KnownMemory, log_odds: float) -> Revised:
    likely = logistic(log_odds)
    return Revised(memory, _REASON.format(likely=likely), likely)


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
    quoted = quotation.read(content)
    return quoted.words if quoted else content

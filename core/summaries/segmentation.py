"""Topic segmentation. Pure.

A boundary is final: it is drawn once the few messages after it that decide about it have arrived. Later messages
change the last unit and add new ones, and a unit is cut from its own messages alone. So a conversation can be cut
incrementally, from the beginning of its last unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.language import languages
from core.language.terms import terms

Vectors = NDArray[np.float32]

FEWEST: Final = 4
"""Minimum messages with words on either side of a shift, and before a greeting; fewer are no topic of their own."""

FEWEST_MARKED: Final = 2
"""Minimum messages with words before an announced change of topic."""

MOST: Final = 40
"""Maximum messages with words in one unit."""

BLOCK: Final = 2
"""Messages compared on either side of a position: longer blocks find less (`bench/segment.py`)."""

BLOCK_TERMS: Final = 12
"""Minimum terms of a block, within BLOCK_MOST messages: "Yes." and "Why?" say nothing."""

BLOCK_MOST: Final = 5
"""Maximum messages of a block, so that decisions need not wait for long."""

REACH: Final = 4
"""Positions on each side in which cohesion must have been higher."""

NARROW: Final = 2
"""Positions on each side of which none may have lower cohesion."""

WORD_WEIGHT: Final = 0.8
"""Weight of shared words relative to the cosine of the vectors."""

DEPTH: Final = 0.8
"""Minimum depth of a valley in cohesion, both sides together (`bench/segment.py`)."""

WORD_DEPTH: Final = 0.5
"""Minimum depth by words alone, which suffices if vectors hardly differ."""

READ: Final = 2_000
"""Characters of a message whose words count; longer text is pasted."""


class Boundary(StrEnum):
    """Reason why a unit begins where it does."""

    START = "start"
    GAP = "gap"
    SHIFT = "shift"
    MARKER = "marker"
    LENGTH = "length"


class Opening(StrEnum):
    """Kind of opening by which a message itself announces another topic."""

    TOPIC = "topic"
    GREETING = "greeting"


@dataclass(frozen=True, slots=True)
class SegmentTurn:
    """A message as used for segmentation; not `spoken`: it is no talk, and only lies in between."""

    sent_at: datetime
    words: Mapping[str, int]
    mark: Opening | None = None
    spoken: bool = True


@dataclass(frozen=True, slots=True)
class Slice:
    """The turns of a unit, from `start` to before `stop`."""

    start: int
    stop: int
    boundary: Boundary


def turn(content: str, sent_at: datetime, *, spoken: bool = True) -> SegmentTurn:
    """Return a message as a turn; one without text is not `spoken`."""
    if not spoken or not content.strip():
        return SegmentTurn(sent_at, {}, None, spoken=False)
    return SegmentTurn(sent_at, Counter(terms(content[:READ])), opening_of(content))


def opening_of(content: str) -> Opening | None:
    """Return the opening of a message, if it announces another topic."""
    if _TOPIC.match(content):
        return Opening.TOPIC
    return Opening.GREETING if _GREETING.match(content) else None


def cut(
    turns: Sequence[SegmentTurn], vectors: Vectors, gap: timedelta, opened: Boundary = Boundary.START
) -> list[Slice]:
    """Return the units of a conversation, each turn in one of them; all but the last are final.

    `vectors`: a row for each turn. `opened`: why the first unit begins, if cutting continues an earlier conversation.
    """
    beginnings: list[tuple[int, Boundary]] = []
    for start, stop in _runs(turns, gap):
        beginnings.append((start, Boundary.GAP if start else opened))
        spoken = [position for position in range(start, stop) if turns[position].spoken]
        run = _TurnRun([turns[position] for position in spoken], vectors[spoken], stop < len(turns))
        beginnings += [(spoken[position], boundary) for position, boundary in _cuts(run)]
    stops = [*(start for start, _ in beginnings[1:]), len(turns)][: len(beginnings)]
    return [Slice(start, stop, why) for (start, why), stop in zip(beginnings, stops, strict=True)]


def _runs(turns: Sequence[SegmentTurn], gap: timedelta) -> Iterator[tuple[int, int]]:
    """Return runs of turns without a gap; a message inserted late but said long before was said in another run."""
    start = 0
    for position in range(1, len(turns)):
        if abs(turns[position].sent_at - turns[position - 1].sent_at) > gap:
            yield start, position
            start = position
    if turns:
        yield start, len(turns)


@dataclass(frozen=True, slots=True)
class _TurnRun:
    """Turns with words and without a gap. `closed`: a gap follows, so no more turns come."""

    turns: Sequence[SegmentTurn]
    vectors: Vectors
    closed: bool


class _UndecidedError(Exception):
    """The messages that decide about a position have not arrived yet."""


def _cuts(run: _TurnRun) -> Iterator[tuple[int, Boundary]]:
    """Yield the beginnings of units after the first, as far as they are decided."""
    beginning = _OpenUnit(run, 0).end()
    while beginning is not None:
        yield beginning
        beginning = _OpenUnit(run, beginning[0]).end()


class _OpenUnit:
    """A unit from its beginning, to find its end. Earlier messages are ignored."""

    def __init__(self, run: _TurnRun, start: int) -> None:
        self._run, self._start, self._count = run, start, len(run.turns)
        self._stops = self._ends()
        self._cohesions: dict[int, tuple[float, float]] = {}

    def end(self) -> tuple[int, Boundary] | None:
        """Return where the next unit begins, and why; None: not within the messages so far."""
        depths: dict[int, float] = {}
        try:
            for position in range(self._start + 1, self._count):
                if self._is_marked(position):
                    return position, Boundary.MARKER
                if position - self._start == MOST:
                    return max(
                        depths, key=lambda index: (index - self._start >= MOST // 2, depths[index], -index)
                    ), Boundary.LENGTH
                if position - self._start >= FEWEST:
                    depths[position] = self._depth(position)
                    if depths[position] >= 1:
                        return position, Boundary.SHIFT
        except _UndecidedError:
            pass
        return None

    def _is_marked(self, position: int) -> bool:
        """Return whether a message announces another unit; in a round of greetings only the first does."""
        turns, length = self._run.turns, position - self._start
        if turns[position].mark is not Opening.GREETING:
            return turns[position].mark is Opening.TOPIC and length >= FEWEST_MARKED
        return length >= FEWEST and all(
            earlier.mark is not Opening.GREETING for earlier in turns[position - FEWEST + 1 : position]
        )

    def _ends(self) -> list[int]:
        """Return, for each position, where the block after it ends: at the next marker, or with the last message."""
        ends = [self._count] * (self._count - self._start)
        for position in range(self._count - 2, self._start - 1, -1):
            index = position - self._start
            ends[index] = position + 1 if self._is_marked(position + 1) else ends[index + 1]
        return ends

    def _stop(self, position: int, count: int) -> int:
        """Return where the block after a position ends, if that is within as many messages as are wanted."""
        stop = self._stops[position - self._start]
        if stop == self._count and not self._run.closed and position + count > stop:
            raise _UndecidedError
        return stop

    def _depth(self, position: int) -> float:
        """Return the depth of the valley in cohesion, 1 where it is cut; 0: no valley, or at an end."""
        stop = self._stop(position, max(FEWEST, REACH + 1))
        if stop - position < FEWEST:
            return 0.0
        around = range(max(self._start + 1, position - REACH), min(position + REACH + 1, stop))
        cohesions = {other: self._cohesion(other) for other in around}
        if any(sum(cohesions[other]) < sum(cohesions[position]) for other in around if abs(other - position) <= NARROW):
            return 0.0
        before, after = ([cohesions[other] for other in around if sign * (other - position) >= 0] for sign in (-1, 1))
        both = _rise(map(sum, before), map(sum, after), sum(cohesions[position]))
        lexical = _rise(
            (cohesion[1] for cohesion in before), (cohesion[1] for cohesion in after), cohesions[position][1]
        )
        return max(both / DEPTH, lexical / (WORD_WEIGHT * WORD_DEPTH))

    def _cohesion(self, position: int) -> tuple[float, float]:
        """Return the similarity of the blocks before and after a position: of their vectors, and of their words."""
        if position not in self._cohesions:
            before = self._block(range(position - 1, self._start - 1, -1))
            after = self._block(range(position, self._stops[position - self._start]))
            if len(after) < BLOCK_MOST and not self._is_full(after):
                self._stop(position, len(after) + 1)
            alike = _cosine(self._run.vectors[before], self._run.vectors[after])
            self._cohesions[position] = alike, WORD_WEIGHT * _overlap(self._words(before), self._words(after))
        return self._cohesions[position]

    def _block(self, positions: Sequence[int]) -> list[int]:
        """Return the first of these positions, as many as are needed to be meaningful."""
        block: list[int] = []
        for position in positions[:BLOCK_MOST]:
            if self._is_full(block):
                break
            block.append(position)
        return block

    def _is_full(self, block: Sequence[int]) -> bool:
        return len(block) >= BLOCK and self._words(block).total() >= BLOCK_TERMS

    def _words(self, positions: Sequence[int]) -> Counter[str]:
        words: Counter[str] = Counter()
        for position in positions:
            words.update(self._run.turns[position].words)
        return words


def _rise(before: Iterable[float], after: Iterable[float], here: float) -> float:
    """Return the rise from a position to the highest before it plus the rise to the highest after it."""
    return max(before) + max(after) - 2 * here


def _cosine(left: Vectors, right: Vectors) -> float:
    first, second = left.sum(axis=0), right.sum(axis=0)
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if length else 0.0


def _overlap(left: Counter[str], right: Counter[str]) -> float:
    shared = sum(count * right[word] for word, count in left.items())
    length = sum(n * n for n in left.values()) * sum(n * n for n in right.values())
    return shared / float(length**0.5) if length else 0.0


_FORMS: Final = [language.openings for language in languages.ALL if language.openings]

_TOPIC = re.compile(
    rf"\s*(?:{'|'.join(forms.lead for forms in _FORMS)}){{0,3}}(?:{'|'.join(forms.topic for forms in _FORMS)})",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that announce another topic, behind a few others."""

_GREETING = re.compile(
    rf"\s*(?:(?:oh|well|and|wow|ok|okay)[,!.\ ]+)?(?:{'|'.join(forms.greeting for forms in _FORMS)})",
    re.IGNORECASE | re.VERBOSE,
)
"""Greetings; within a conversation they are addressed to somebody who has just joined."""

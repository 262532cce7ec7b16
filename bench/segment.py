"""How well a conversation is cut into units, where its topic changes are known.

    python -m bench.segment [path/to/locomo.json]

Two sets, both without the time gap, which would give every boundary away. `sessions`: all sessions of a conversation
as one stream; a boundary is where one ends and the next begins, though within a session people change the topic, too.
`mixed`: pieces of 6 to 14 messages, from within sessions of all conversations in turn; there each boundary is a change
of topic and nothing else. Pk and WindowDiff are shares of windows that are cut wrong, beside the floor: as many
boundaries, evenly spaced. A boundary counts as found where one is drawn at most one message away.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any, Final

import numpy as np

from bench import arguments
from bench.extract import sessions
from core.inference.local_embedder import LocalEmbedder
from core.summaries import segmentation, unit_rule_text
from core.summaries.segmentation import SegmentTurn, Vectors
from core.types import Message

CONVERSATIONS: Final = Path("../shared/data/locomo_dev.json")
MIXED: Final = 500
"""Messages of one mixed stream."""

STREAMS: Final = 5
"""Mixed streams, of one seed."""

NEAR: Final = 1
GAP: Final = timedelta(days=1)
AT: Final = datetime(2026, 11, 21, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stream:
    """Turns said at once, their vectors, and where the topic changes."""

    turns: Sequence[SegmentTurn]
    vectors: Vectors
    changes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Figure:
    """How one way of cutting did on a set: shares of wrong windows, those of the floor, boundaries, found, right."""

    pk: float
    pk_floor: float
    windows: float
    windows_floor: float
    drawn: int
    found: float
    right: float


def streams(path: Path) -> dict[str, list[Stream]]:
    """Both sets."""
    talks = [
        [list(messages) for messages in sessions(sample)] for sample in json.loads(path.read_text(encoding="utf-8"))
    ]
    embedder = LocalEmbedder()
    read = [[_stream([session], embedder) for session in talk] for talk in talks]
    whole = [_joined(talk) for talk in read]
    rng = random.Random(7)
    return {"sessions": whole, "mixed": [_joined(list(_pieces(read, rng))) for _ in range(STREAMS)]}


def _stream(talk: Sequence[Sequence[Message]], embedder: LocalEmbedder) -> Stream:
    texts = [message.content for session in talk for message in session]
    return Stream([segmentation.turn(text, AT) for text in texts], embedder.embed(texts), frozenset())


def _joined(parts: Sequence[Stream]) -> Stream:
    ends = np.cumsum([len(part.turns) for part in parts])
    turns = [turn for part in parts for turn in part.turns]
    return Stream(turns, np.concatenate([part.vectors for part in parts]), frozenset(int(end) for end in ends[:-1]))


def _pieces(talks: Sequence[Sequence[Stream]], rng: random.Random) -> Iterator[Stream]:
    """Pieces of sessions, without how these begin and end, no two in a row from one conversation."""
    count, last = 0, -1
    while count < MIXED:
        last = rng.choice([index for index in range(len(talks)) if index != last])
        session, length = rng.choice(talks[last]), rng.randint(6, 14)
        start = rng.randint(2, max(2, len(session.turns) - length - 2))
        stop = min(start + length, len(session.turns) - 2)
        count += stop - start
        yield Stream(session.turns[start:stop], session.vectors[start:stop], frozenset())


def as_used(stream: Stream) -> list[int]:
    """By everything."""
    return _cut(stream.turns, stream.vectors)


def unmarked(stream: Stream) -> list[int]:
    """By vectors and words, without what people say of it themselves."""
    return _cut([replace(turn, mark=None) for turn in stream.turns], stream.vectors)


def by_words(stream: Stream) -> list[int]:
    """By words alone: all vectors are the same."""
    return _cut([replace(turn, mark=None) for turn in stream.turns], np.ones_like(stream.vectors))


def by_vectors(stream: Stream) -> list[int]:
    """By vectors alone: as many words as there are, of which none is said again."""
    others = [{f"{number} {n}": 1 for n in range(sum(turn.words.values()))} for number, turn in enumerate(stream.turns)]
    turns = [replace(turn, mark=None, words=words) for turn, words in zip(stream.turns, others, strict=True)]
    return _cut(turns, stream.vectors)


WAYS: Final[Mapping[str, Callable[[Stream], list[int]]]] = {
    "words": by_words,
    "vectors": by_vectors,
    "both": unmarked,
    "both, markers": as_used,
}


def _cut(turns: Sequence[SegmentTurn], vectors: Vectors) -> list[int]:
    return [piece.start for piece in segmentation.cut(turns, vectors, GAP)][1:]


def measure(some: Sequence[Stream], way: Callable[[Stream], list[int]]) -> Figure:
    """The means over streams."""
    drawn = [way(stream) for stream in some]
    even = [_even(len(cuts), len(stream.turns)) for cuts, stream in zip(drawn, some, strict=True)]
    cut = [wrong(stream, cuts) for stream, cuts in zip(some, drawn, strict=True)]
    floor = [wrong(stream, cuts) for stream, cuts in zip(some, even, strict=True)]
    return Figure(
        mean(errors[0] for errors in cut),
        mean(errors[0] for errors in floor),
        mean(errors[1] for errors in cut),
        mean(errors[1] for errors in floor),
        sum(map(len, drawn)),
        mean(_near(stream.changes, cuts) for stream, cuts in zip(some, drawn, strict=True)),
        mean(_near(cuts, stream.changes) for stream, cuts in zip(some, drawn, strict=True)),
    )


def _even(count: int, length: int) -> list[int]:
    return [round(length * (position + 1) / (count + 1)) for position in range(count)]


def _near(changes: Sequence[int] | frozenset[int], there: Sequence[int] | frozenset[int]) -> float:
    """The share of the wanted places beside which one of the others is."""
    return sum(any(abs(change - other) <= NEAR for other in there) for change in changes) / max(1, len(changes))


def wrong(stream: Stream, drawn: Sequence[int]) -> tuple[float, float]:
    """Pk and WindowDiff, over windows half as long as the mean distance of two changes."""
    length = len(stream.turns)
    wide = max(2, round(length / (len(stream.changes) + 1) / 2))
    there, here = _counted(stream.changes, length, wide), _counted(drawn, length, wide)
    return float(np.mean((there > 0) != (here > 0))), float(np.mean(there != here))


def _counted(places: Sequence[int] | frozenset[int], length: int, wide: int) -> Any:
    """How many of the places each window holds."""
    marks = np.zeros(length + 1, dtype=int)
    marks[list(places)] = 1
    sums = marks.cumsum()
    return sums[wide:length] - sums[: length - wide]


def rates(path: Path, whole: Sequence[Stream]) -> tuple[float, float]:
    """Messages a second of processor time: cut (vectors apart), and told."""
    count = sum(len(stream.turns) for stream in whole)
    start = time.process_time()
    for stream in whole:
        as_used(stream)
    cut = count / (time.process_time() - start)
    talks = [talk for sample in json.loads(path.read_text(encoding="utf-8")) for talk in sessions(sample)]
    start = time.process_time()
    for talk in talks:
        plain = list(unit_rule_text.screen_messages(talk))
        unit_rule_text.rule_text(plain, list(unit_rule_text.lines(plain)))
    return cut, sum(map(len, talks)) / (time.process_time() - start)


def main() -> None:
    """Print a row for each set and way."""
    parser = arguments.parser(__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=CONVERSATIONS)
    options = parser.parse_args()
    sets = streams(options.path)
    print(f"{'set':<9} {'way':<14} {'Pk':>5} {'floor':>6} {'ratio':>6} {'WD':>6} {'floor':>6} {'ratio':>6}", end="")
    print(f" {'there':>6} {'drawn':>6} {'found':>6} {'right':>6}")
    for name, some in sets.items():
        there = sum(len(stream.changes) for stream in some)
        for how, way in WAYS.items():
            row = measure(some, way)
            print(
                f"{name:<9} {how:<14} {row.pk:>5.3f} {row.pk_floor:>6.3f} {row.pk / (row.pk_floor or np.nan):>6.2f}",
                end="",
            )
            print(
                f" {row.windows:>6.3f} {row.windows_floor:>6.3f} {row.windows / (row.windows_floor or np.nan):>6.2f}",
                end="",
            )
            print(f" {there:>6} {row.drawn:>6} {row.found:>6.2f} {row.right:>6.2f}", flush=True)
    cut, marked = rates(options.path, sets["sessions"])
    print(f"speed: {cut:,.0f} messages/s cut, vectors apart; {marked:,.0f} messages/s told")


if __name__ == "__main__":
    main()

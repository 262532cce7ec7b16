"""Layout of memories over time: a lane for each category, a row for each memory, and what replaced it.

Places across are percentages, so that the drawing fits any width and its text keeps its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from core.types import Json

ROW: Final = 22
"""Height of a row, and of the heading of a lane."""

HEAD: Final = 24
"""Height above the first lane, where the times stand."""

TICKS: Final = 4
LEAST_WIDTH: Final = 0.8
"""Per cent: what was true for a moment is still seen."""

RIGHTMOST_LABEL: Final = 62.0
"""Per cent from which on a text stands before its end instead of behind its beginning."""

SPANS: Final = {"week": 7, "month": 30, "quarter": 91, "year": 365, "decade": 3652}
"""Days of a span by its name."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A memory in its row. `label_x` and `anchor`: where its text stands; `cut`: it began before the span."""

    memory: Json
    y: int
    x: float
    width: float
    label_x: float
    anchor: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class CategoryLane:
    """The memories of a category; `y`: of its heading."""

    category: str
    y: int
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Arrow:
    """From the end of a memory to the beginning of the one that took its place."""

    relation: str
    x1: float
    y1: int
    x2: float
    y2: int


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A time of the axis."""

    at: str
    x: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A timeline of this height; `today`: where now is, None: outside."""

    lanes: Sequence[CategoryLane]
    arrows: Sequence[Arrow]
    ticks: Sequence[AxisTick]
    height: int
    today: float | None
    replaced_by: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The span of a page."""

    since: datetime | None
    until: datetime | None

    def moved(self, share: float) -> str | None:
        """Return the end of the span that is moved by a share of its length; None: it has no length."""
        if self.since is None or self.until is None:
            return None
        return (self.until + (self.until - self.since) * share).date().isoformat()


def window(span: str, until: str, now: datetime) -> TimeWindow:
    """Return the span with this name that ends with a day, or now; without a name all of time. ValueError."""
    if span not in SPANS:
        return TimeWindow(None, None)
    end = datetime.fromisoformat(until).replace(tzinfo=UTC) if until else now
    return TimeWindow(end - timedelta(days=SPANS[span]), end)


def laid_out(timeline: Json, seen: TimeWindow, now: datetime) -> Drawing:
    """Return the drawing of `GET /v1/memories/timeline`."""
    start, end = _extent(timeline["items"], seen, now)
    lanes, y = [], HEAD
    by_category = sorted(timeline["items"], key=lambda memory: (memory["category"], memory["begins"], memory["id"]))
    for category, members in groupby(by_category, key=lambda memory: memory["category"]):
        bars = [_bar(memory, y + ROW * row, start, end) for row, memory in enumerate(members, 1)]
        lanes.append(CategoryLane(category, y, bars))
        y += ROW * (len(bars) + 1)
    bars_by_id = {bar.memory["id"]: bar for lane in lanes for bar in lane.bars}
    return Drawing(
        lanes=lanes,
        arrows=[_arrow(succession, bars_by_id) for succession in timeline["successions"]],
        ticks=_ticks(start, end),
        height=y + 4,
        today=_x(now, start, end) if start <= now <= end else None,
        replaced_by=_replacements(timeline["successions"]),
    )


def _replacements(successions: Sequence[Json]) -> dict[str, list[str]]:
    replacements: dict[str, list[str]] = {}
    for succession in successions:
        replacements.setdefault(succession["before"], []).append(succession["after"])
    return replacements


def _extent(memories: Sequence[Json], seen: TimeWindow, now: datetime) -> tuple[datetime, datetime]:
    """Return the span, or from the first beginning to the last time that is known."""
    if seen.since is not None and seen.until is not None:
        return seen.since, seen.until
    times = [datetime.fromisoformat(memory[name]) for memory in memories for name in ("begins", "ends") if memory[name]]
    start, end = min([*times, now]), max([*times, now])
    margin = max((end - start) * 0.02, timedelta(hours=1))
    return start - margin, end + margin


def _bar(memory: Json, y: int, start: datetime, end: datetime) -> Bar:
    begins = datetime.fromisoformat(memory["begins"])
    ends = datetime.fromisoformat(memory["ends"]) if memory["ends"] else None
    left = _x(max(begins, start), start, end)
    right = 100.0 if ends is None or ends >= end else max(_x(ends, start, end), 0.0)
    width = round(max(right - left, LEAST_WIDTH), 2)
    left = min(left, 100 - width)
    is_right = left > RIGHTMOST_LABEL
    return Bar(
        memory,
        y,
        left,
        width,
        round(left + (width if is_right else 0), 2),
        "end" if is_right else "start",
        ends is None,
    )


def _arrow(succession: Json, bars: dict[str, Bar]) -> Arrow:
    before, after = bars[succession["before"]], bars[succession["after"]]
    middle = ROW // 2 - 2
    return Arrow(
        succession["relation"], round(before.x + before.width, 2), before.y + middle, after.x, after.y + middle
    )


def _ticks(start: datetime, end: datetime) -> list[AxisTick]:
    anchors = ["start", *["middle"] * (TICKS - 1), "end"]
    moments = [start + (end - start) * step / TICKS for step in range(TICKS + 1)]
    return [
        AxisTick(at.astimezone(UTC).isoformat(), round(100 * step / TICKS, 2), anchor)
        for step, (at, anchor) in enumerate(zip(moments, anchors, strict=True))
    ]


def _x(at: datetime, start: datetime, end: datetime) -> float:
    return round(100 * ((at - start) / (end - start)), 2)

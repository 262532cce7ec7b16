"""Charts drawn on the server as coordinates of SVG: the policy of the pages allows no style in an element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from core.memory import decay
from core.types import Json

WIDTH: Final = 640
HEIGHT: Final = 120
STEPS: Final = 80
PAST_SHARE: Final = 0.25
SHORTEST_DAYS: Final = 30.0
LONGEST_DAYS: Final = 730.0
"""Days ahead that a curve shows: until the memory has faded, within these bounds."""


@dataclass(frozen=True, slots=True)
class StrengthChart:
    """The strength of a memory over time: polylines in a box of WIDTH by HEIGHT, where today is and the day it fades.

    `fades` None: it does not, or not within what is shown.
    """

    past: str
    future: str
    today: float
    fades: float | None
    threshold: float
    begins: str
    ends: str


def strength_chart(memory: Json, now: datetime) -> StrengthChart:
    """Return the chart of a memory as `GET /v1/memories/{id}` shows it, if nobody uses it from now on."""
    given = memory["curve"]
    curve = decay.Curve(given["height"], given["half_life_days"], given["floor"])
    since = datetime.fromisoformat(given["since"])
    ahead = _days_ahead(memory["fade_at"], now)
    start, end = now - timedelta(days=ahead * PAST_SHARE / (1 - PAST_SHARE)), now + timedelta(days=ahead)
    moments = [start + (end - start) * step / STEPS for step in range(STEPS + 1)]
    points = [(_x(at, start, end), _y(curve.strength(since, at)), at) for at in moments if at >= since]
    today = _x(now, start, end)
    return StrengthChart(
        past=_line([(x, y) for x, y, at in points if at <= now]),
        future=_line([(x, y) for x, y, at in points if at >= now]),
        today=today,
        fades=_x(fades, start, end) if (fades := _moment(memory["fade_at"])) and start <= fades <= end else None,
        threshold=_y(decay.UNDER),
        begins=start.astimezone(UTC).isoformat(),
        ends=end.astimezone(UTC).isoformat(),
    )


def _moment(written: str | None) -> datetime | None:
    return datetime.fromisoformat(written) if written else None


def _days_ahead(fade_at: str | None, now: datetime) -> float:
    fades = _moment(fade_at)
    if fades is None:
        return LONGEST_DAYS / 2
    days = (fades - now) / timedelta(days=1)
    return min(LONGEST_DAYS, max(SHORTEST_DAYS, days * 1.15))


def _x(at: datetime, start: datetime, end: datetime) -> float:
    return round(WIDTH * ((at - start) / (end - start)), 1)


def _y(strength: float) -> float:
    return round(HEIGHT * (1 - min(1.0, max(0.0, strength))), 1)


def _line(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


@dataclass(frozen=True, slots=True)
class LaneMark:
    """Decisions of one kind in one bucket of a lane: where, how strong (1 to 4), and how many."""

    x: int
    verdict: str
    strength: int
    count: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One rule over time."""

    rule: str
    total: int
    marks: Sequence[LaneMark]


@dataclass(frozen=True, slots=True)
class LaneChart:
    """A lane for each rule that decided something in the time span; `buckets` marks wide."""

    begins: str
    ends: str
    buckets: int
    lanes: Sequence[Lane]


VERDICTS: Final = ("held", "gathered", "fired")
"""Kinds of decisions in ascending priority: a bucket shows the last one that occurs in it."""

STRENGTHS: Final = (1, 5, 25)
"""Counts above which a mark is stronger."""


def lane_chart(activity: Json) -> LaneChart:
    """Return the lanes of `GET /v1/rules/activity`, the busiest rules first."""
    lanes = [_lane(row) for row in activity["items"]]
    busy = sorted((lane for lane in lanes if lane.total), key=lambda lane: -lane.total)
    return LaneChart(activity["from"], activity["to"], activity["buckets"], busy)


def _lane(row: Json) -> Lane:
    marks: dict[int, LaneMark] = {}
    for verdict in VERDICTS:
        for bucket, number in enumerate(row[verdict]):
            if number:
                marks[bucket] = LaneMark(bucket, verdict, 1 + sum(number > least for least in STRENGTHS), number)
    return Lane(row["rule"], sum(sum(row[verdict]) for verdict in VERDICTS), list(marks.values()))


@dataclass(frozen=True, slots=True)
class SparkBar:
    """Decisions of one kind in one step."""

    x: int
    y: float
    height: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Decisions of a rule in stacked bars of width 1, in a box SPARK_HEIGHT high; totals, and when most of them were.

    `estimated`: whether a bar holds an estimate.
    """

    steps: int
    bars: Sequence[SparkBar]
    totals: Mapping[str, int]
    most_at: str | None
    estimated: bool


SPARK_HEIGHT: Final = 20


def sparkline(lane: Json, since: datetime, step: timedelta) -> Sparkline:
    """Return the bars of a rule in `GET /v1/rules/activity`, the highest of them as high as the box."""
    steps = len(lane["fired"])
    sums = [sum(lane[verdict][bucket] for verdict in VERDICTS) for bucket in range(steps)]
    most, bars = max(sums, default=0), list[SparkBar]()
    for bucket in range(steps):
        top = float(SPARK_HEIGHT)
        for verdict in reversed(VERDICTS):
            if number := lane[verdict][bucket]:
                height = round(SPARK_HEIGHT * number / most, 2)
                top = round(top - height, 2)
                bars.append(SparkBar(bucket, top, height, verdict))
    totals = {verdict: sum(lane[verdict]) for verdict in VERDICTS}
    most_at = (since + step * sums.index(most)).isoformat() if most else None
    return Sparkline(steps, bars, totals, most_at, bool(lane["estimated"]))

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from api.console.charts import HEIGHT, SPARK_HEIGHT, WIDTH, lane_chart, sparkline, strength_chart

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def memory(days_old: float, half_life: float | None, fades_in: float | None) -> dict[str, object]:
    since = NOW - timedelta(days=days_old)
    fade_at = None if fades_in is None else (NOW + timedelta(days=fades_in)).isoformat()
    curve = {"since": since.isoformat(), "height": 1.0, "floor": 0.0, "half_life_days": half_life}
    return {"curve": curve, "fade_at": fade_at}


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in line.split())]


def test_a_curve_falls_from_the_last_use_and_ends_below_the_threshold_after_the_day_it_fades() -> None:
    chart = strength_chart(memory(10, 30, 120), NOW)
    past, future = points(chart.past), points(chart.future)
    assert past[-1][0] <= chart.today <= future[0][0]
    assert all(before[1] <= after[1] for before, after in pairwise(future))
    assert future[-1][0] == WIDTH
    assert future[-1][1] > chart.threshold
    assert abs(past[0][1] - 0) < HEIGHT * 0.15


def test_what_does_not_fade_is_a_level_line() -> None:
    chart = strength_chart(memory(10, None, None), NOW)
    assert {y for _, y in points(chart.future)} == {0.0}


def test_a_sparkline_stacks_the_decisions_of_each_step_and_its_highest_is_as_high_as_the_box() -> None:
    lane = {"fired": [2, 0, 1], "gathered": [0, 0, 1], "held": [2, 0, 0], "estimated": []}
    found = sparkline(lane, NOW, timedelta(hours=12))
    shown = [(bar.x, bar.verdict, bar.y, bar.height) for bar in found.bars]
    assert shown == [
        (0, "fired", SPARK_HEIGHT / 2, SPARK_HEIGHT / 2),
        (0, "held", 0, SPARK_HEIGHT / 2),
        (2, "fired", SPARK_HEIGHT * 3 / 4, SPARK_HEIGHT / 4),
        (2, "gathered", SPARK_HEIGHT / 2, SPARK_HEIGHT / 4),
    ]
    assert (found.steps, found.totals) == (3, {"fired": 3, "gathered": 1, "held": 2})
    assert (found.most_at, found.estimated) == (NOW.isoformat(), False)


def test_a_rule_that_met_nothing_has_an_empty_sparkline() -> None:
    found = sparkline({"fired": [0], "gathered": [0], "held": [0], "estimated": []}, NOW, timedelta(hours=12))
    assert (found.bars, found.most_at) == ([], None)


def test_a_lane_shows_the_strongest_kind_of_decision_in_each_bucket() -> None:
    quiet = {"rule": "quiet", "fired": [0, 0], "gathered": [0, 0], "held": [0, 0]}
    busy = {"rule": "busy", "fired": [0, 30], "gathered": [4, 2], "held": [1, 0]}
    chart = lane_chart({"from": "a", "to": "b", "buckets": 2, "items": [quiet, busy]})
    assert [lane.rule for lane in chart.lanes] == ["busy"]
    assert [(mark.x, mark.verdict, mark.strength, mark.count) for mark in chart.lanes[0].marks] == [
        (0, "gathered", 2, 4),
        (1, "fired", 4, 30),
    ]
    assert chart.lanes[0].total == 37

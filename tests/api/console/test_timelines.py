from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from api.console.timelines import TimeWindow, laid_out, window
from core.types import Json

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def memory(name: str, begins: int, ends: int | None = None, category: str = "fact") -> Json:
    """A memory that began and ended these numbers of days ago."""
    until = None if ends is None else (NOW - timedelta(days=ends)).isoformat()
    begun = (NOW - timedelta(days=begins)).isoformat()
    return {"id": name, "content": name, "category": category, "status": "active", "begins": begun, "ends": until}


def answer(*items: Json, successions: tuple[tuple[str, str], ...] = ()) -> Json:
    pairs = [{"before": one, "after": other, "relation": "supersedes"} for one, other in successions]
    return {"items": list(items), "successions": pairs, "left_out": 0, "more": False}


def test_each_category_is_a_lane_in_which_the_oldest_stands_on_top() -> None:
    drawing = laid_out(
        answer(memory("b", 5), memory("a", 9), memory("p", 1, category="plan")), TimeWindow(None, None), NOW
    )
    assert [(lane.category, [bar.memory["id"] for bar in lane.bars]) for lane in drawing.lanes] == [
        ("fact", ["a", "b"]),
        ("plan", ["p"]),
    ]
    places = [bar.y for lane in drawing.lanes for bar in lane.bars]
    assert places == sorted(set(places))
    assert drawing.height > max(places)


def test_bars_lie_within_the_span_and_are_never_too_narrow_to_see() -> None:
    seen = window("month", "2026-11-20", NOW)
    drawing = laid_out(answer(memory("long", 400), memory("brief", 10, 10), memory("last", 0, 0)), seen, NOW)
    bars = {bar.memory["id"]: bar for lane in drawing.lanes for bar in lane.bars}
    assert (bars["long"].x, bars["long"].width, bars["long"].is_open) == (0, 100, True)
    assert bars["brief"].width > 0.5
    assert all(bar.x >= 0 and bar.x + bar.width <= 100 for bar in bars.values())
    assert (bars["long"].anchor, bars["last"].anchor) == ("start", "end")


def test_an_arrow_leads_from_the_end_of_what_was_replaced_to_the_beginning_of_what_replaced_it() -> None:
    drawing = laid_out(
        answer(memory("old", 20, 10), memory("new", 10), successions=(("old", "new"),)),
        window("month", "2026-11-20", NOW),
        NOW,
    )
    [arrow] = drawing.arrows
    [lane] = drawing.lanes
    old, new = lane.bars
    assert (arrow.x1, arrow.x2) == (round(old.x + old.width, 2), new.x)
    assert old.y < arrow.y1 < arrow.y2 < new.y + 17
    assert drawing.replaced_by == {"old": ["new"]}


def test_now_is_marked_where_the_span_contains_it() -> None:
    assert laid_out(answer(memory("a", 5)), window("month", "", NOW), NOW).today == 100
    assert laid_out(answer(memory("a", 50)), window("week", "2026-10-01", NOW), NOW).today is None


@pytest.mark.parametrize(("share", "day"), [(-0.5, "2026-11-16"), (0.5, "2026-11-23")])
def test_a_span_is_moved_by_half_its_length(share: float, day: str) -> None:
    assert window("week", "2026-11-20", NOW).moved(share) == day
    assert window("", "", NOW).moved(share) is None

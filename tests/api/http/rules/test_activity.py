"""`GET /v1/rules/activity`: the lanes of a chart."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.doors import OTHER, Doors
from tests.rules.samples import a_document
from tests.samples import event
from tests.works import Works


def test_the_last_day_is_shown_in_quarters_of_an_hour(door: Doors, works: Works) -> None:
    assert door.post("/v1/rules", a_document(name="r", event_type="order.placed")).status_code == 201
    door.post("/v1/events", event("order.placed"))
    works.settle()
    chart = door.get("/v1/rules/activity").json()
    assert (chart["buckets"], chart["bucket_seconds"], chart["left_out"]) == (96, 900, 0)
    span = datetime.fromisoformat(chart["to"]) - datetime.fromisoformat(chart["from"])
    assert span == timedelta(days=1)
    lane = chart["items"][0]
    assert (lane["rule"], lane["enabled"], lane["deleted"], lane["estimated"]) == ("r", True, False, [])
    assert (len(lane["fired"]), lane["fired"][-1], sum(lane["held"]), sum(lane["gathered"])) == (96, 1, 0, 0)
    stranger = door.get("/v1/rules/activity", tenant=OTHER).json()
    assert all(sum(one["fired"] + one["held"] + one["gathered"]) == 0 for one in stranger["items"])
    assert "r" not in [one["rule"] for one in stranger["items"]]


def test_the_chart_of_chosen_rules_has_no_others(door: Doors) -> None:
    for name in ("one", "two", "three"):
        assert door.post("/v1/rules", a_document(name=name, event_type="order.placed")).status_code == 201
    chart = door.get("/v1/rules/activity", params={"rule": ["one", "two"], "limit": 1}).json()
    assert sorted(one["rule"] for one in chart["items"]) == ["one", "two"]
    assert chart["left_out"] == 0


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"from": "2026-11-01T00:00:00Z", "to": "2026-11-09T00:00:00Z"}, "/from"),
        ({"from": "2026-11-01T00:00:00Z", "to": "2026-11-01T00:10:00Z"}, "/from"),
        ({"from": "2026-11-01T00:00:00Z", "to": "2026-10-01T00:10:00Z"}, "/from"),
        ({"from": "yesterday"}, "/from"),
        ({"to": "9999-12-31T23:59:59Z"}, "/to"),
        ({"buckets": 201}, "/buckets"),
        ({"limit": 101}, "/limit"),
        ({"rules": "r"}, "/rules"),
    ],
)
def test_a_span_that_cannot_be_drawn_is_refused(door: Doors, params: dict[str, str], pointer: str) -> None:
    refused = door.get("/v1/rules/activity", params=params)
    assert (refused.status_code, [one["pointer"] for one in refused.json()["errors"]]) == (422, [pointer])

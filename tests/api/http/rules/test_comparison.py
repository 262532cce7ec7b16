"""`GET /v1/rules/{name}/beside/{other}`: two rules on the same events."""

from __future__ import annotations

import pytest

from tests.doors import OTHER, Doors
from tests.rules.samples import a_document
from tests.samples import event
from tests.works import Works


def test_a_rule_in_shadow_stands_beside_the_live_one(door: Doors, works: Works) -> None:
    for name, mode in (("live", "auto"), ("live.shadow", "shadow")):
        document = a_document(name=name, event_type="order.placed", action_mode=mode)
        assert door.post("/v1/rules", document).status_code == 201
    door.post("/v1/events", event("order.placed"))
    works.settle()
    found = door.get("/v1/rules/live/beside/live.shadow").json()
    assert [found[side]["mode"] for side in ("rule", "beside")] == ["auto", "shadow"]
    assert found["differences"] == []
    assert door.get("/v1/rules/live/beside/live.shadow", tenant=OTHER).status_code == 404
    assert door.get("/v1/rules/live/beside/nothing").status_code == 404


@pytest.mark.parametrize(
    ("params", "pointer"),
    [({"from": "2026-11-02T00:00:00Z", "to": "2026-11-01T00:00:00Z"}, "/from"), ({"limit": 201}, "/limit")],
)
def test_a_span_without_an_inside_is_refused(door: Doors, params: dict[str, str], pointer: str) -> None:
    refused = door.get("/v1/rules/live/beside/other", params=params)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)

"""Alarms over HTTP: tried on what they count now, and listed as they stand."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, opened
from tests.rules.samples import an_alarm
from tests.samples import TENANT, accept_all, event

RUSH: Json = an_alarm(
    "rush",
    counts={"orders": {"of": "events", "event_type": "order.placed", "within_seconds": 300}},
    conditions={"field": "count.orders", "op": ">=", "value": 3},
    actions=[
        {"action_type": "notify", "channel": "log", "template": "{{payload.counts.orders}} for {{payload.source}}"}
    ],
)


def of_each(kind: str) -> Json:
    return {**RUSH, "schedule": {"every_seconds": 60, "for_each": kind}}


def test_a_draft_is_tried_on_what_it_counts_now(settings: Settings, app: Database) -> None:
    with opened(settings) as door:
        quiet = door.post("/v1/rules/test", {"rule": RUSH}).json()
        accept_all(app, [event() for _ in range(3)])
        busy = door.post("/v1/rules/test", {"rule": RUSH}).json()
    assert (quiet["matched"], quiet["tree"]["actual"]) == (False, 0)
    assert (busy["matched"], busy["tree"]["actual"]) == (True, 3)
    assert busy["actions"][0]["template"] == "3 for "
    assert busy["warnings"] == []


def test_of_several_keys_one_that_would_raise_is_shown(settings: Settings, app: Database) -> None:
    accept_all(app, [event(source=name) for name in ("a", "shop", "shop", "shop")])
    with opened(settings) as door:
        tried = door.post("/v1/rules/test", {"rule": of_each("source")}).json()
    assert tried["actions"][0]["template"] == "3 for shop"


@pytest.mark.parametrize("body", [{"names": ["forget_nightly"]}, {"names": ["alarm_dead_letters", "forget_nightly"]}])
def test_what_is_no_single_alarm_needs_an_event(settings: Settings, body: Json) -> None:
    with opened(settings) as door:
        refused = door.post("/v1/rules/test", body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/event"


def test_an_alarm_is_not_run_on_request(settings: Settings) -> None:
    with opened(settings) as door:
        refused = door.post("/v1/rules/alarm_dead_letters/run")
    assert refused.status_code == 409
    assert "imprint rules test alarm_dead_letters" in refused.json()["detail"]


def test_a_tenant_has_at_most_so_many_alarms(settings: Settings) -> None:
    with opened(settings.model_copy(update={"alarms_per_tenant": 5})) as door:
        first = door.ask("PUT", "/v1/rules/rush", json=RUSH)
        assert (first.status_code, first.json()["warnings"]) == (200, [])
        again = door.ask("PUT", "/v1/rules/rush", json=RUSH)
        second = door.ask("PUT", "/v1/rules/crush", json={**RUSH, "name": "crush"})
    assert (again.status_code, second.status_code) == (200, 409)
    assert "5 alarms in force" in second.json()["detail"]


def test_a_tenants_alarms_are_listed_page_by_page_and_no_others(settings: Settings, app: Database) -> None:
    insert = """
        INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts)
        SELECT :tenant, 'rush', key, 'source', 1, CASE WHEN key <> '' THEN now() END, now(), '{"orders": 3}'
        FROM unnest(cast(:keys AS text[])) AS key
    """
    for tenant, keys in ((TENANT, ["", "shop", "stall"]), (OTHER, ["theirs"])):
        with app.tenant(tenant) as tx:
            tx.execute(text(insert), {"tenant": tenant, "keys": keys})
    with opened(settings) as door:
        first = door.get("/v1/alarms?limit=2").json()
        second = door.get(f"/v1/alarms?limit=2&after={first['next']}").json()
        raised = door.get("/v1/alarms?raised=true&rule=rush").json()
    assert [item["key"] for page in (first, second) for item in page["items"]] == [None, "shop", "stall"]
    assert second["next"] is None
    assert [item["key"] for item in raised["items"]] == ["shop", "stall"]


def test_a_backtest_says_how_often_it_would_have_been_raised(settings: Settings, app: Database) -> None:
    accept_all(app, [event() for _ in range(3)])
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET received_at = '2026-11-21T12:00:00Z' WHERE event_type = 'order.placed'"))
    span = {"from": "2026-11-21T11:50:00Z", "to": "2026-11-21T12:20:00Z"}
    with opened(settings) as door:
        result = door.post("/v1/rules/backtest", {"rule": RUSH, **span}).json()
    assert result["alarm"] == {"looks": 30, "raised": 1, "cleared": 1, "partial": 0, "standing": 0}
    assert result["fired"] == 1

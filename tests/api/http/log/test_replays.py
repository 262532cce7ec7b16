"""Stored events are decided again over HTTP: planned, in the shadow and live."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from tests.doors import OTHER, Doors, key_of, opened
from tests.samples import TENANT, ended, event, said
from tests.works import Works

YESTERDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)
ORDERS = {"filter": {"types": ["order.placed"]}}
ECHO: Json = {
    "name": "echo",
    "event_type": "order.placed",
    "conditions": {"field": "payload.n", "op": ">=", "value": 1},
    "actions": [{"action_type": "emit", "event_type": "order.seen", "payload": {"n": "{{payload.n}}"}}],
}


def save(door: Doors, *documents: Json, tenant: str = TENANT) -> None:
    for document in documents:
        answer = door.post("/v1/rules", document, tenant=tenant)
        assert answer.status_code == 201, answer.text


def happened(door: Doors, works: Works, *documents: Json, tenant: str = TENANT) -> None:
    """Events of yesterday, all work on them long done."""
    assert door.post("/v1/events", list(documents), tenant=tenant).status_code == 202
    works.settle()


def orders(count: int, *, seconds: int = 60, **payload: Any) -> list[Json]:
    """Orders of Ada and Bob in turn, `n` counting from 0."""
    return [
        event(
            "order.placed",
            {"user_id": ("ada", "bob")[n % 2], "n": n, **payload},
            id=f"o{n}",
            time=(YESTERDAY + timedelta(seconds=seconds * n)).isoformat(),
        )
        for n in range(count)
    ]


def asked(door: Doors, body: Json, *, key: str | None = None, tenant: str = TENANT, status: int = 202) -> Json:
    headers = {"Idempotency-Key": key} if key else {}
    answer = door.ask("POST", "/v1/events/replay", json=body, headers=headers, tenant=tenant)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def planned(door: Doors, body: Json, **more: Any) -> Json:
    return asked(door, body | {"mode": "plan"}, status=200, **more)


def replayed(door: Doors, works: Works, body: Json, *, mode: str = "live", tenant: str = TENANT) -> Json:
    begun = asked(door, body | {"mode": mode}, tenant=tenant)
    works.settle()
    return dict(door.get(f"/v1/events/replays/{begun['id']}", tenant=tenant).json())


def rule_of(made: Json, name: str) -> Json:
    return next(dict(rule) for rule in made["rules"] if rule["rule"] == name)


def emitted(door: Doors, event_type: str, *, tenant: str = TENANT) -> list[Json]:
    items = door.get("/v1/events", params={"type": event_type, "limit": 500}, tenant=tenant).json()["items"]
    return list(reversed(items))


def test_a_rule_added_after_the_fact_is_applied_to_the_events_of_yesterday(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO)
    made = planned(door, ORDERS)
    assert (made["events"], made["truncated"], made["dispatches"]) == (4, False, 3)
    echo = rule_of(made, "echo")
    assert (echo["matched"], echo["fired"], echo["users"]) == (3, 3, 2)
    assert [sample["events"] for sample in echo["samples"]] == [["o1"], ["o2"], ["o3"]]
    assert echo["samples"][0]["actions"][0]["payload"] == {"n": 1}
    assert emitted(door, "order.seen") == []
    done = replayed(door, works, ORDERS)
    assert (done["status"], done["events"], done["decided"]) == ("done", 4, 4)
    assert done["dispatches"] == {"done": 3}
    assert [one["payload"]["n"] for one in emitted(door, "order.seen")] == [1, 2, 3]


KEY = ["payload.user_id"]
FLOWS: dict[str, Json] = {
    "waits": {"debounce": {"seconds": 150, "max_wait_seconds": 300, "key": KEY}},
    "counts": {"count": {"threshold": 3, "key": KEY}},
    "cools": {"cooldown": {"seconds": 150, "key": KEY}},
    "throttles": {"throttle": {"limit": 2, "per_seconds": 400, "key": KEY}},
    "waits_and_cools": {"debounce": {"seconds": 90, "key": KEY}, "cooldown": {"seconds": 300, "key": KEY}},
}


def with_flow(name: str, flow: Json) -> Json:
    return ECHO | {"name": name, "flow": flow}


def test_what_the_plan_says_is_what_is_then_done_and_held_back_by_flow_control(door: Doors, works: Works) -> None:
    happened(door, works, *orders(13), *[order | {"id": f"late-{order['id']}"} for order in orders(3, seconds=4_000)])
    save(door, ECHO, *(with_flow(name, flow) for name, flow in FLOWS.items()))
    made, done = planned(door, ORDERS | {"limit_samples": 100}), replayed(door, works, ORDERS)
    fields = ("matched", "fired", "held", "gathered")
    for name in ("echo", *FLOWS):
        before, after = rule_of(made, name), rule_of(done, name)
        assert {field: before[field] for field in fields} == {field: after[field] for field in fields}, name
        assert before["estimate"]["dispatches"] == after["dispatches"], name
        dispatches = door.get("/v1/dispatches", params={"rule": name, "limit": 500}).json()["items"]
        assert len(dispatches) == after["dispatches"]
        shown = [sample["events"] for sample in before["samples"]]
        if name in {"waits", "counts"}:
            assert [d["params"]["gathered"] for d in reversed(dispatches)] == shown
    assert {name: sum(rule_of(made, name)["held"].values()) > 0 for name in FLOWS} == {
        "waits": False,
        "counts": False,
        "cools": True,
        "throttles": True,
        "waits_and_cools": True,
    }
    assert rule_of(made, "counts")["gathered"] > 0
    assert len(emitted(door, "order.seen")) == made["dispatches"] == sum(done["dispatches"].values())


def test_a_plan_writes_nothing(door: Doors, works: Works, app: Database) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO)
    works.settle()
    tables = ("events", "dispatches", "decisions", "replays", "replay_decisions", "flows")
    with app.tenant(TENANT) as tx:
        before = [tx.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in tables]
    assert asked(door, ORDERS, status=200)["mode"] == "plan"
    assert asked(door, ORDERS | {"mode": "dry_run"}, status=200)["dispatches"] == 3
    works.settle()
    with app.tenant(TENANT) as tx:
        assert [tx.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in tables] == before


def test_in_the_shadow_it_is_recorded_beside_the_original_and_nothing_is_done(door: Doors, works: Works) -> None:
    save(door, ECHO)
    works.settle()
    happened(door, works, *orders(2))
    original = door.get("/v1/events/o1/trace").json()
    seen = emitted(door, "order.seen")
    done = replayed(door, works, ORDERS, mode="shadow")
    assert (done["status"], done["dispatches"]) == ("done", {"shadow": 1})
    assert emitted(door, "order.seen") == seen
    trace = door.get("/v1/events/o1/trace").json()
    [replay] = trace.pop("replays")
    assert trace == {name: value for name, value in original.items() if name != "replays"}
    assert (replay["id"], replay["mode"], replay["status"]) == (done["id"], "shadow", "done")
    assert [(one["rule"], one["verdict"]) for one in replay["rules"]] == [("echo", "fired")]
    assert [(one["rule"], one["status"]) for one in replay["dispatches"]] == [("echo", "shadow")]
    assert (replay["changes"], replay["followed_by"]) == ([], [])


def test_a_live_replay_is_in_the_trace_with_all_that_followed_and_the_original_stays(door: Doors, works: Works) -> None:
    save(door, ECHO)
    works.settle()
    happened(door, works, *orders(2))
    original = door.get("/v1/events/o1/trace").json()
    done = replayed(door, works, ORDERS)
    trace = door.get("/v1/events/o1/trace").json()
    [replay] = trace.pop("replays")
    assert trace == {name: value for name, value in original.items() if name != "replays"}
    assert [one["status"] for one in replay["dispatches"]] == ["done"]
    [seen] = replay["followed_by"]
    assert (seen["event_type"], seen["causation_id"], seen["correlation_id"]) == ("order.seen", "o1", done["id"])
    assert len(emitted(door, "order.seen")) == 2
    [completed] = emitted(door, "replay.completed")
    assert completed["payload"] == {
        "replay_id": done["id"], "mode": "live", "events": 2, "fired": 1, "dispatches": 1,
    }  # fmt: skip


def test_the_same_key_begins_one_replay_and_another_request_under_it_is_refused(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO)
    live = ORDERS | {"mode": "live"}
    first = asked(door, live, key="k1")
    works.settle()
    again = asked(door, live, key="k1", status=200)
    works.settle()
    assert again["id"] == first["id"]
    assert again["status"] == "done"
    assert len(emitted(door, "order.seen")) == 3
    asked(door, live | {"limit": 2}, key="k1", status=409)
    assert asked(door, live, key="k2")["id"] != first["id"]
    works.settle()
    assert len(emitted(door, "order.seen")) == 6


def test_the_filter_chooses_the_events(door: Doors, works: Works) -> None:
    happened(door, works, *orders(6), event("order.placed", {"n": 9}, id="other", source="shop"), event("ping"))
    save(door, ECHO)

    def events(**chosen: Any) -> int:
        return int(planned(door, {"filter": chosen, "rules": ["echo"]})["events"])

    assert events(types=["order.*"]) == 7
    assert events(types=["order.placed", "ping"]) == 8
    assert events() == 8
    assert events(user_id="ada") == 3
    assert events(source="shop") == 1
    assert events(event_ids=["o1", "o3", "nothing"]) == 2
    at = YESTERDAY.isoformat()
    assert events(**{"from": at, "to": (YESTERDAY + timedelta(minutes=3)).isoformat()}) == 3


def test_events_of_the_service_itself_have_to_be_named(door: Doors, works: Works) -> None:
    save(door, ECHO)
    works.settle()
    happened(door, works, *orders(3))
    every = ECHO | {"name": "every", "event_type": "*", "conditions": None}
    save(door, {name: value for name, value in every.items() if value is not None})
    chosen: Json = {"rules": ["every"]}

    def types(**named: Any) -> int:
        return int(planned(door, chosen | {"filter": named})["events"])

    assert types() == types(types=["*"]) == 3
    assert types(types=["order.seen"]) == types(types=["order.s*"]) == 2
    assert types(types=["order.*"]) == 5
    assert types(source="imprint", types=["order.seen"]) == 2
    [seen, _] = emitted(door, "order.seen")
    assert types(event_ids=[seen["id"], "o1"]) == 2


def test_more_than_the_limit_is_said_and_the_next_replay_goes_on_behind_it(door: Doors, works: Works) -> None:
    happened(door, works, *orders(5))
    save(door, ECHO)
    first = planned(door, ORDERS | {"limit": 2})
    assert (first["events"], first["truncated"], first["dispatches"]) == (2, True, 1)
    done = replayed(door, works, ORDERS | {"limit": 2})
    assert (done["decided"], done["truncated"], done["next"]) == (2, True, first["next"])
    rest = {"filter": {"types": ["order.placed"], "after": done["next"]}}
    assert planned(door, rest)["truncated"] is False
    replayed(door, works, rest)
    assert [one["payload"]["n"] for one in emitted(door, "order.seen")] == [1, 2, 3, 4]


def test_rules_that_are_not_chosen_have_no_say(door: Doors, works: Works) -> None:
    happened(door, works, *orders(3))
    save(door, ECHO, ECHO | {"name": "first", "priority": 10, "stop": True})
    assert rule_of(planned(door, ORDERS), "echo")["held"] == {"stop": 2}
    alone = planned(door, ORDERS | {"rules": ["echo"]})
    assert (rule_of(alone, "echo")["fired"], len(alone["rules"]), alone["idle"]) == (2, 1, [])


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"rules": ["echo", "nothing"]}, "/rules/1"),
        ({"filter": {"from": "2026-11-21T00:00:00Z", "to": "2026-11-20T00:00:00Z"}}, "/filter/to"),
        ({"filter": {"type": ["order.placed"]}}, "/filter/type"),
        ({"filter": {"types": ["order placed"]}}, "/filter/types/0"),
        ({"filter": {"types": ["*a" * 6]}}, "/filter/types/0"),
        ({"mode": "dead"}, "/mode"),
        ({"limit": 100_001}, "/limit"),
        ({"rules": []}, "/rules"),
    ],
)
def test_a_bad_request_says_where_it_is_wrong(door: Doors, body: Json, pointer: str) -> None:
    save(door, ECHO)
    answer = asked(door, body | {"mode": body.get("mode", "live")}, status=422)
    assert [error["pointer"] for error in answer["errors"]] == [pointer]


def test_a_replay_needs_the_scope_for_rules_and_a_plan_does_not(door: Doors, works: Works, settings: Settings) -> None:
    happened(door, works, *orders(2))
    reader, editor = key_of(settings, TENANT, ("read", "write", "publish")), key_of(settings, TENANT, ("read", "rules"))
    assert door.post("/v1/events/replay", ORDERS, key=reader).status_code == 200
    for mode in ("live", "shadow"):
        assert door.post("/v1/events/replay", ORDERS | {"mode": mode}, key=reader).status_code == 403
    begun = door.post("/v1/events/replay", ORDERS | {"mode": "shadow"}, key=editor)
    assert begun.status_code == 202
    path = f"/v1/events/replays/{begun.json()['id']}"
    assert door.get(path, key=reader).status_code == 200
    assert door.post(f"{path}/cancel", key=reader).status_code == 403


def test_each_tenant_replays_its_own_events(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    happened(door, works, *orders(2), tenant=OTHER)
    save(door, ECHO)
    save(door, ECHO, tenant=OTHER)
    done = replayed(door, works, ORDERS, tenant=OTHER)
    assert (done["events"], done["dispatches"]) == (2, {"done": 1})
    assert (len(emitted(door, "order.seen")), len(emitted(door, "order.seen", tenant=OTHER))) == (0, 1)
    path = f"/v1/events/replays/{done['id']}"
    assert [door.get(path).status_code, door.post(f"{path}/cancel").status_code] == [404, 404]
    assert door.get("/v1/events/replays").json()["items"] == []


def test_replays_are_listed_page_by_page_newest_first(door: Doors, works: Works) -> None:
    save(door, ECHO)
    ids = [replayed(door, works, ORDERS)["id"] for _ in range(3)]
    first = door.get("/v1/events/replays", params={"limit": 2}).json()
    rest = door.get("/v1/events/replays", params={"limit": 2, "after": first["next"]}).json()
    assert [one["id"] for one in (*first["items"], *rest["items"])] == ids[::-1]
    assert rest["next"] is None


def test_actions_wait_for_approval_and_not_for_the_one_who_replays(settings: Settings, works: Works) -> None:
    with opened(settings.model_copy(update={"four_eyes": True})) as door:
        happened(door, works, *orders(2))
        save(door, ECHO | {"action_mode": "approve"})
        second, third = (key_of(settings, TENANT, ("read", "rules")) for _ in range(2))
        begun = door.post("/v1/events/replay", ORDERS | {"mode": "live"}, key=second).json()
        works.settle()
        [held] = door.get("/v1/dispatches", params={"replay_id": begun["id"]}).json()["items"]
        assert (held["status"], held["hold"], held["replay_id"]) == ("held", "approval", begun["id"])
        assert emitted(door, "approval.requested")[0]["payload"]["dispatch_id"] == held["id"]
        approve = f"/v1/dispatches/{held['id']}/approve"
        assert door.post(approve, key=second).status_code == 403
        assert door.post(approve, key=third).status_code == 200
        token = door.get(f"/v1/events/replays/{begun['id']}").json()["settle_token"]
        assert door.get("/v1/settle", params={"token": token, "timeout": 0}).json()["settled"] is False


def test_a_rule_of_high_risk_waits_for_approval_unless_the_tenant_allows_it(
    door: Doors, works: Works, app: Database
) -> None:
    happened(door, works, *orders(2))
    with app.tenant(TENANT) as tx:
        tenants.allow_high_risk(tx, TENANT, allowed=True)
    save(door, ECHO | {"risk_level": "high"})
    with app.tenant(TENANT) as tx:
        tenants.allow_high_risk(tx, TENANT, allowed=False)
    assert replayed(door, works, ORDERS)["dispatches"] == {"held": 1}
    with app.tenant(TENANT) as tx:
        tenants.allow_high_risk(tx, TENANT, allowed=True)
    assert replayed(door, works, ORDERS)["dispatches"] == {"done": 1}


def test_a_rule_in_shadow_stays_there(door: Doors, works: Works) -> None:
    happened(door, works, *orders(2))
    save(door, ECHO | {"action_mode": "shadow"})
    assert replayed(door, works, ORDERS)["dispatches"] == {"shadow": 1}


def test_the_end_of_a_chain_triggers_nothing(door: Doors, works: Works, app: Database) -> None:
    happened(door, works, *orders(3))
    save(door, ECHO)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET hop = 8 WHERE id = 'o1'"))
    assert rule_of(planned(door, ORDERS), "echo")["held"] == {"hop": 1}
    done = replayed(door, works, ORDERS)
    assert (rule_of(done, "echo")["held"], done["dispatches"]) == ({"hop": 1}, {"done": 1})


def test_a_full_backlog_and_too_many_replays_are_refused_for_a_while(settings: Settings) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=3, replays=1)})) as door:
        live = ORDERS | {"mode": "live"}
        begun = asked(door, live, key="k")
        answer = door.post("/v1/events/replay", live)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "10")
        assert "`replays`" in answer.json()["detail"]
        door.post(f"/v1/events/replays/{begun['id']}/cancel")
        assert door.post("/v1/events", orders(3)).status_code in {202, 429}
        answer = door.post("/v1/events/replay", live)
        assert answer.status_code == 429
        assert "`events_waiting`" in answer.json()["detail"]
        assert asked(door, live, key="k", status=200)["status"] == "cancelled"


def test_a_cancelled_replay_takes_its_open_dispatches_with_it(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO | {"action_mode": "approve"})
    done = replayed(door, works, ORDERS)
    assert done["dispatches"] == {"held": 3}
    path = f"/v1/events/replays/{done['id']}/cancel"
    cancelled = door.post(path).json()
    assert (cancelled["status"], cancelled["dispatches"]) == ("cancelled", {"cancelled": 3})
    assert door.post(path).json() == cancelled
    plain = replayed(door, works, ORDERS | {"rules": ["track_plans"]})
    assert door.post(f"/v1/events/replays/{plain['id']}/cancel").status_code == 409


def test_one_that_is_cancelled_before_it_begins_decides_nothing(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO)
    begun = asked(door, ORDERS | {"mode": "live"})
    assert door.post(f"/v1/events/replays/{begun['id']}/cancel").status_code == 200
    works.settle()
    assert emitted(door, "order.seen") == []
    assert door.get(f"/v1/events/replays/{begun['id']}").json()["decided"] == 0


def test_one_that_no_rule_carries_out_says_so(door: Doors, works: Works) -> None:
    door.ask("PATCH", "/v1/rules/replay_on_request", json={"enabled": False})
    standing = replayed(door, works, ORDERS)
    assert standing["status"] == "running"
    assert "replay_on_request" in standing["error"]


def test_a_session_that_was_read_to_its_end_yields_nothing_again(door: Doors, works: Works) -> None:
    happened(door, works, said("I live in Lisbon.", message_id="m1"), said("I like tea."), said("Yes."), ended())
    before = door.get("/v1/memories", params={"user_id": "ada", "limit": 100}).json()["items"]
    assert before
    ends = {"filter": {"types": ["session.ended"]}, "rules": ["consolidate_on_session_end"]}
    done = replayed(door, works, ends)
    assert done["dispatches"]["done"] >= 1
    after = door.get("/v1/memories", params={"user_id": "ada", "limit": 100}).json()["items"]
    assert [(one["id"], one["version"]) for one in after] == [(one["id"], one["version"]) for one in before]


def test_its_settle_token_waits_for_all_that_follows(door: Doors, works: Works) -> None:
    happened(door, works, *orders(3))
    save(door, ECHO, ECHO | {"name": "again", "event_type": "order.seen"})
    begun = asked(door, ORDERS | {"mode": "live", "rules": ["echo"]})
    settle = {"token": begun["settle_token"], "timeout": 0}
    assert door.get("/v1/settle", params=settle).json()["settled"] is False
    works.settle()
    assert door.get("/v1/settle", params=settle).json() == {"settled": True, "pending": 0}
    assert len(emitted(door, "order.seen")) == 2 + 2

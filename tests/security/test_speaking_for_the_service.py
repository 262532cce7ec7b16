"""Nobody but the service publishes under its source, answers a request of somebody else, or takes the id of a tick."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.events import log, parsing, reserved
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.commands import Imprint, served
from tests.doors import Doors, key_of
from tests.factories import a_memory, carry_out, events_since
from tests.samples import TENANT, accept, event, said
from tests.works import at_work
from workers.routing.bus_consumer import BusMessage, Intake

SPELLINGS = ["imprint", "Imprint", "IMPRINT", " imprint ", "imprint\u00a0", "ｉｍｐｒｉｎｔ", "im\u200bprint"]
SPELLINGS += ["\u0456mprint", "іmрrіnt", "ιmprint", "ímprint", "ıMPRINT", "𝐢𝐦𝐩𝐫𝐢𝐧𝐭", "lmprint", "1mprint", "irnprint"]


def sources(app: Database) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [found.source for found in events_since(tx, 0, 1000)]


def refused(answer: Any, pointer: str) -> None:
    assert answer.status_code == 422, answer.text
    (fault,) = [one for one in answer.json()["errors"] if one["pointer"] == pointer]
    assert "`imprint`" in fault["detail"]
    assert "use your own name" in fault["detail"]


def test_a_native_event_may_not_carry_the_source_of_the_service(
    door: Doors, app: Database, subtests: pytest.Subtests
) -> None:
    for source in SPELLINGS:
        with subtests.test(source):
            refused(door.post("/v1/events", event("user.erased", {"user_id": "ada"}, source=source)), "/0/source")
            refused(door.post("/v1/events", [event(), event(source=source)]), "/1/source")
            assert sources(app) == []


def test_types_of_the_service_are_refused_from_everybody_else(
    door: Doors, app: Database, subtests: pytest.Subtests
) -> None:
    for kind in sorted(reserved.TYPES):
        with subtests.test(kind):
            answer = door.post("/v1/events", [event(), event(kind, {"user_id": "ada"}, source="shop")])
            assert answer.status_code == 422
            (fault,) = answer.json()["errors"]
            assert fault["pointer"] == "/1/event_type"
            assert f"`my.{kind}`" in fault["detail"]
            assert "Reserved are" in fault["detail"]
            assert sources(app) == []


@pytest.mark.parametrize("kind", [*sorted(parsing.PAYLOADS), "my.clock.ticked", "memory.noted", "clock.stopped"])
def test_types_that_clients_publish_are_not_reserved(kind: str) -> None:
    assert not reserved.is_own_type(kind)


def test_a_type_in_other_case_is_reserved_over_the_bus_as_well(app: Database) -> None:
    bus = Intake(app, TENANT, 100, 4096, lambda: None)
    BusMessage(bus, json.dumps(event("Clock.Ticked", source="shop")).encode(), {}, "application/json").accept()
    assert sources(app) == []


def test_nor_a_line_of_ndjson(door: Doors, app: Database, subtests: pytest.Subtests) -> None:
    for source in SPELLINGS:
        with subtests.test(source):
            lines = "\n".join(json.dumps(one) for one in (event(), event(source=source)))
            headers = {"content-type": "application/x-ndjson"}
            refused(door.ask("POST", "/v1/events", content=lines.encode(), headers=headers), "/1/source")
            assert sources(app) == []


def test_nor_a_cloud_event_in_any_mode(door: Doors, app: Database, subtests: pytest.Subtests) -> None:
    for source in SPELLINGS:
        with subtests.test(source):
            no_cloud_event(door, source)
            assert sources(app) == []


def no_cloud_event(door: Doors, source: str) -> None:
    """Refused in structured mode, in a batch, and in binary mode."""
    cloud = {"specversion": "1.0", "id": "1", "source": source, "type": "approval.decided", "data": {}}
    for kind, body in (("cloudevents", cloud), ("cloudevents-batch", [cloud])):
        headers = {"content-type": f"application/{kind}+json"}
        refused(door.ask("POST", "/v1/events", content=json.dumps(body).encode(), headers=headers), "/0/source")
    quoted = "".join(f"%{byte:02X}" for byte in source.encode())
    binary = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": quoted, "ce-type": "user.erased"}
    answer = door.ask("POST", "/v1/events", content=b"{}", headers={"content-type": "application/json", **binary})
    refused(answer, "/0/source")


@pytest.mark.parametrize("source", SPELLINGS)
def test_nor_a_message_of_the_bus(app: Database, source: str) -> None:
    bus = Intake(app, TENANT, 100, 4096, lambda: None)
    BusMessage(bus, json.dumps(event("clock.ticked", source=source)).encode(), {}, "application/json").accept()
    assert sources(app) == []
    with app.tenant(TENANT) as tx:
        (letter,) = tx.execute(text("SELECT error FROM dispatches WHERE target = 'bus'")).scalars()
    assert "/0/source" in letter


def test_nor_an_agent_over_mcp(door: Doors, app: Database) -> None:
    arguments = {"event_type": "user.erased", "source": "Imprint", "payload": {"user_id": "ada"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked = call | {"params": {"name": "event_publish", "arguments": arguments}}
    answer = door.post("/mcp", asked, headers={"host": "127.0.0.1:8070"})
    assert "use your own name" in answer.text
    assert sources(app) == []


def test_nor_a_command(settings: Settings, app: Database, monkeypatch: Any, capsys: Any) -> None:
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        said_ = Imprint(monkeypatch, capsys)("publish", "--type", "user.erased", "--user", "ada", "--source", "IMPRINT")
    assert said_.code == 1
    assert "use your own name" in said_.err
    assert sources(app) == []


def test_a_source_that_only_resembles_it_is_its_publishers_own(door: Doors, app: Database) -> None:
    for source in ("imprint-cli", "my-imprint", "imprint/7", "/imprint", "reprint"):
        assert door.post("/v1/events", event(source=source)).status_code == 202
    assert len(sources(app)) == 5


def test_a_rule_can_still_be_tried_on_an_event_of_the_service(door: Doors) -> None:
    rule = {
        "name": "r",
        "event_type": "memory.created",
        "conditions": {"field": "source", "op": "==", "value": "imprint"},
        "actions": [{"action_type": "notify", "channel": "log", "template": "x"}],
    }
    answer = door.post("/v1/rules/test", {"rule": rule, "event": event("memory.created", source="imprint")})
    assert answer.json()["matched"] is True


@pytest.mark.parametrize("kind", ["user.erased", "memory.stated", "approval.decided", "clock.ticked", "dispatch.dead"])
def test_a_rule_may_not_emit_what_only_the_service_has_to_say(door: Doors, kind: str) -> None:
    """An emitted event bears the source of the service, so that its own types would be forged by anyone with rules."""
    rule = {
        "name": "forge",
        "event_type": "go.now",
        "actions": [{"action_type": "emit", "event_type": kind, "payload": {"user_id": "ada"}}],
    }
    answer = door.post("/v1/rules", rule)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["pointer"] == "/actions/0/event_type"
    assert kind in fault["detail"]


def test_a_rule_saved_before_that_was_refused_emits_nothing_either(settings: Settings, app: Database) -> None:
    emit = {"action_type": "emit", "event_type": "user.erased", "payload": {"user_id": "ada"}}
    document = {"name": "forge", "event_type": "go.now", "actions": [{**emit, "event_type": "order.checked"}]}
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, document, author="test")
        old = json.dumps({**document, "actions": [emit]})
        tx.execute(text("UPDATE rules SET document = cast(:old AS jsonb) WHERE name = 'forge'"), {"old": old})
    accept(app, event("go.now"))
    with at_work(settings) as works:
        works.settle()
    with app.tenant(TENANT) as tx:
        assert log.find(tx, event_type="user.erased") == []
        (letter,) = tx.execute(text("SELECT error FROM dispatches WHERE rule = 'forge' AND status = 'dead'")).scalars()
    assert "user.erased" in letter


BOB = {"user_id": "bob", "content": "Bob is allergic to penicillin."}
ADA = {"user_id": "ada", "content": "Ada keeps her passport in the blue drawer."}


def state(door: Doors, statement: Json, name: str, **more: Any) -> Any:
    return door.post("/v1/memories", statement, headers={"idempotency-key": name}, **more)


def test_a_published_event_answers_nobodys_request(settings: Settings, door: Doors, app: Database) -> None:
    """The request of another service is kept, whatever someone has published under its key beforehand."""
    ada = door.post("/v1/memories", ADA).json()
    forged = {
        "user_id": "bob",
        "decision_id": ada["decision_id"],
        "memory_id": ada["memory"]["id"],
        "verdict": "add",
        "characters": len(str(BOB["content"])),
    }
    publisher = key_of(settings, TENANT, ("publish",))
    door.post("/v1/events", event("memory.stated", forged, source="imprint", id="order-77"), key=publisher)
    door.post("/v1/events", event("memory.stated", forged, source="shop", id="order-77"), key=publisher)
    _forge_in_the_log(app, forged, "order-77")
    answer = state(door, BOB, "order-77", key=key_of(settings, TENANT, ("write",)))
    assert answer.status_code == 201
    assert answer.json()["memory"]["content"] == BOB["content"]
    assert "passport" not in answer.text


def _forge_in_the_log(app: Database, payload: Json, event_id: str) -> None:
    """Such an event may stand in the log of an installation from before its source was refused."""
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("""
                INSERT INTO events (tenant_id, id, source, event_type, time, payload, correlation_id)
                VALUES (:tenant, :id, 'imprint', 'memory.stated', now(), cast(:payload AS jsonb), :id)
                ON CONFLICT DO NOTHING
            """),
            {"tenant": TENANT, "id": event_id, "payload": json.dumps(payload)},
        )


def test_a_key_answers_only_the_user_for_whom_it_was_used(door: Doors) -> None:
    first = state(door, ADA, "k").json()
    other = state(door, BOB, "k")
    assert other.status_code == 201
    assert other.json()["memory"]["user_id"] == "bob"
    again = state(door, ADA, "k").json()
    assert (again["decision_id"], again["memory"]["id"]) == (first["decision_id"], first["memory"]["id"])


def test_a_key_answers_only_the_door_through_which_it_came(door: Doors, app: Database) -> None:
    state(door, ADA, "k/0")
    batch = door.post("/v1/memories/batch", {"memories": [BOB]}, headers={"idempotency-key": "k"})
    assert batch.json()["items"][0]["memory"]["user_id"] == "bob"
    two = door.post("/v1/memories/batch", {"memories": [ADA]}, headers={"idempotency-key": "k"})
    assert two.status_code in {200, 409}
    assert "allergic" not in two.text


def test_a_key_with_another_body_is_refused(door: Doors) -> None:
    state(door, ADA, "k")
    for other in ({**ADA, "content": "Ada keeps her keys in the red drawer."}, {**ADA, "category": "preference"}):
        answer = state(door, other, "k")
        assert answer.status_code == 409
        assert "Idempotency-Key" in answer.json()["detail"]


def test_no_key_of_a_request_takes_the_id_of_a_tick(door: Doors, app: Database) -> None:
    """Both are events of the service, and of one id the log takes the first: the schedule would not fire."""
    due = "close_idle_sessions@2026-11-22T19:30:00Z"
    assert state(door, ADA, due).status_code == 201
    with app.tenant(TENANT) as tx:
        tick = log.Announcement(due, "clock.ticked", _now(), {"rule": "close_idle_sessions"})
        assert log.announce(tx, TENANT, [tick]) == 1


def _now() -> datetime:
    return datetime.now(UTC)


def test_what_others_say_under_the_id_of_a_tick_does_not_keep_it_away(door: Doors, app: Database) -> None:
    due = "nightly@2026-11-22T19:30:00Z"
    assert door.post("/v1/events", event("cron.ticked", {"rule": "nightly"}, id=due, source="cron")).status_code == 202
    with app.tenant(TENANT) as tx:
        assert log.announce(tx, TENANT, [log.Announcement(due, "clock.ticked", _now(), {})]) == 1


def test_what_stands_in_an_old_log_as_a_tick_or_a_recall_is_not_believed(settings: Settings, app: Database) -> None:
    """Such events may stand in the log of an installation from before their types were refused."""
    change = a_memory("Ada has a cat.")
    carry_out(app, change)
    cat = str(change.id)
    accept(
        app,
        event("clock.ticked", {"rule": "forget_nightly"}, source="cron"),
        event("memory.recalled", {"user_id": "ada", "memory_ids": [cat]}, source="shop"),
    )
    with at_work(settings) as works:
        works.settle()
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT rule, status, result FROM dispatches ORDER BY id")).all()
        last_used = tx.execute(text("SELECT uses FROM memories WHERE id = :id"), {"id": cat}).scalar_one()
    assert [(row.rule, row.status) for row in rows if row.rule in {"forget_nightly", "reinforce_recalled"}] == [
        ("reinforce_recalled", "dead")
    ]
    assert last_used == 0


def test_a_tenants_tick_is_not_kept_away_by_another_tenant(door: Doors, app: Database) -> None:
    door.post("/v1/events", said("x", id="t@1"), tenant="globex")
    with app.tenant(TENANT) as tx:
        assert log.announce(tx, TENANT, [log.Announcement("t@1", "clock.ticked", _now(), {})]) == 1

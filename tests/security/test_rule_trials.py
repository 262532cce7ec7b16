"""Trying rules over HTTP costs in proportion to what was sent, and no transaction of a request lasts for ever."""

from __future__ import annotations

import pytest
from sqlalchemy import event as alchemy
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from core.config import Settings
from core.storage.db import Database
from tests.doors import Doors, opened
from tests.rules.samples import a_document
from tests.samples import TENANT, said

HUGE = 100_000


def test_only_so_many_names_are_tried_and_each_once(door: Doors) -> None:
    many = door.post("/v1/rules/test", {"names": [f"rule{n}" for n in range(101)], "event": said("x")})
    twice = door.post("/v1/rules/test", {"names": ["track_plans", "track_plans"], "event": said("x")})
    nothing = door.post("/v1/rules/test", {"event": said("x")})
    assert [answer.status_code for answer in (many, twice, nothing)] == [422, 422, 422]
    assert [answer.json()["errors"][0]["pointer"] for answer in (many, twice)] == ["/names", "/names/1"]


def test_names_are_read_in_one_statement(door: Doors) -> None:
    names = [item["name"] for item in door.get("/v1/rules").json()["items"]]
    statements: list[str] = []
    engine = door.client.app.state.deps.db.engine  # type: ignore[attr-defined]
    alchemy.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    answer = door.post("/v1/rules/test", {"names": names, "event": said("x")})
    assert [one["rule"] for one in answer.json()] == names
    assert sum("FROM rules" in statement for statement in statements) == 1
    missing = door.post("/v1/rules/test", {"names": [*names, "nothing"], "event": said("x")})
    assert missing.status_code == 404
    assert "'nothing'" in missing.json()["detail"]


def test_the_event_is_checked_and_bounded_like_a_published_one(settings: Settings) -> None:
    with opened(settings.model_copy(update={"event_bytes": 2_000})) as small:
        large = small.post("/v1/rules/test", {"rule": a_document(), "event": said("x" * 2_000)})
        wrong = small.post("/v1/rules/test", {"rule": a_document(), "event": said("x", role="nobody")})
    assert large.status_code == 422
    assert large.json()["errors"][0]["pointer"] == "/event"
    assert wrong.json()["errors"][0]["pointer"] == "/event/payload/role"


def test_what_an_action_may_copy_is_bounded_before_it_is_built(door: Doors) -> None:
    copies = {"action_type": "notify", "channel": "log", "template": "{{payload.content}}" * 60}
    rule = a_document(event_type="message.added", actions=[copies] * 4)
    answer = door.post("/v1/rules/test", {"rule": rule, "event": said("x" * HUGE)})
    assert answer.status_code == 422
    assert len(answer.content) < 2_000
    assert "524,288" in answer.json()["detail"]


def test_the_answer_is_bounded_where_many_conditions_show_a_long_value(door: Doors) -> None:
    leaf = {"field": "payload.content", "op": "exists"}
    rule = a_document(event_type="message.added", conditions={"all": [leaf] * 20})
    answer = door.post("/v1/rules/test", {"rule": rule, "event": said("x" * HUGE)})
    assert answer.status_code == 422
    assert len(answer.content) < 2_000


def test_the_samples_of_a_backtest_are_bounded(settings: Settings) -> None:
    copies = {"action_type": "notify", "channel": "log", "template": "{{payload.content}}" * 60}
    rule = a_document(event_type="message.added", actions=[copies] * 4)
    with opened(settings.model_copy(update={"event_bytes": 20_000})) as door:
        assert door.post("/v1/events", [said("x" * 10_000, session=f"s{n}") for n in range(5)]).status_code == 202
        answer = door.post("/v1/rules/backtest", {"rule": rule, "limit_samples": 100})
    assert (answer.status_code, answer.json()["fired"]) == (200, 5)
    assert len(answer.content) < 100_000
    assert "40,000" in answer.json()["samples"][0]["actions"][0]["omitted"]


def test_a_statement_of_a_request_ends_after_its_time(settings: Settings, app: Database) -> None:
    with opened(settings.model_copy(update={"http_statement_seconds": 0.2})) as door:
        database: Database = door.client.app.state.deps.db  # type: ignore[attr-defined]
        with pytest.raises(OperationalError, match="timeout"), database.tenant(TENANT) as tx:
            tx.execute(text("SELECT pg_sleep(5)"))
        with database.tenant(TENANT) as tx:
            assert tx.execute(text("SELECT 1")).scalar_one() == 1
    with app.tenant(TENANT) as tx:  # Workers have no such limit.
        assert tx.execute(text("SHOW statement_timeout")).scalar_one() == "0"

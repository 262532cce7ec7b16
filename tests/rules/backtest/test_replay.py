from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Json
from rules.backtest import replay
from rules.backtest.replay import ReplayedRequest, SessionReading
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.engine.similarity import Meanings
from tests.samples import TENANT, accept, ended, event, said

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NEVER = NOON + timedelta(days=999)


def a_rule(name: str, **fields: Any) -> Json:
    plain = {
        "name": name,
        "event_type": "session.ended",
        "actions": [{"action_type": "run_agent", "target": "memory_extractor"}],
    }
    return plain | fields


def readings(app: Database, *documents: Json, until: datetime = NEVER) -> list[SessionReading | ReplayedRequest]:
    rules = [(parse(document, TARGETS), 1) for document in documents]
    return list(replay.read(app, TENANT, "ada", rules, until, Meanings(HashEmbedder())))


def at(minutes: int) -> str:
    return (NOON + timedelta(minutes=minutes)).isoformat()


def test_a_session_is_read_when_the_rule_would_have_had_it_read(app: Database) -> None:
    accept(app, said("I live in Lisbon.", time=at(0)), said("Yes.", time=at(1)), ended(time=at(2), message_count=2))
    (reading,) = readings(app, a_rule("at_end"))
    assert isinstance(reading, SessionReading)
    assert (reading.session_id, reading.link) == ("s1", False)
    assert readings(app, a_rule("long", conditions={"field": "payload.message_count", "op": ">=", "value": 3})) == []


def test_a_debounce_ends_its_wait_between_the_messages_or_after_the_last(app: Database) -> None:
    accept(app, *(said(str(n), time=at(minute)) for n, minute in enumerate((0, 1, 60, 61))))
    while_chatting = a_rule("chat", event_type="message.added", flow={"debounce": {"seconds": 300}})
    first, last = readings(app, while_chatting)
    assert isinstance(first, SessionReading)
    assert isinstance(last, SessionReading)
    assert first.upto < last.upto


def test_what_someone_asked_for_is_kept_whatever_the_rules_are(app: Database) -> None:
    accept(app, event("memory.requested", {"user_id": "ada", "content": "I like tea."}))
    (stated,) = readings(app)
    assert isinstance(stated, ReplayedRequest)
    assert stated.event.payload["content"] == "I like tea."


def test_what_happened_later_and_to_others_is_not_replayed(app: Database) -> None:
    accept(app, said("Mine.", time=at(0)), ended(time=at(1)))
    accept(app, said("Theirs.", user="bob", session="s2", time=at(0)), ended(session="s2", user="bob", time=at(1)))
    accept(app, said("Later.", session="s3", time=at(9)), ended(session="s3", time=at(10)))
    found = readings(app, a_rule("at_end"), until=NOON + timedelta(minutes=5))
    assert [one.session_id for one in found if isinstance(one, SessionReading)] == ["s1"]


def test_a_rule_in_shadow_has_nothing_read(app: Database) -> None:
    accept(app, said("Mine."), ended())
    assert readings(app, a_rule("at_end", action_mode="shadow")) == []

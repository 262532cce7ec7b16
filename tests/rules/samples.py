"""Events and rules that the tests of this folder are about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from core.events import reserved
from core.types import Event, Json
from rules.document.schema import Rule, parse

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
RUN: Json = {"action_type": "run_agent", "target": "memory_extractor"}


def an_event(payload: Json | None = None, **fields: Any) -> Event:
    """A `message.added` of Ada in session s1 at noon, but for what is given."""
    known: Json = {
        "seq": 1,
        "tenant_id": "acme",
        "id": "e1",
        "source": reserved.SERVICE if fields.get("event_type") in reserved.TYPES else "support-bot",
        "event_type": "message.added",
        "subject": "session:s1",
        "time": NOON,
        "session_id": "s1",
        "user_id": "ada",
    }
    return Event(**{**known, **fields}, payload=payload or {})


def a_document(**fields: Any) -> Json:
    """A rule document that is right, but for what is given."""
    return {"name": "r", "event_type": "message.added", "actions": [RUN], **fields}


def a_rule(name: str = "r", **fields: Any) -> Rule:
    """A rule of that name, checked."""
    return parse(a_document(name=name, **fields))


def a_leaf(op: str, *value: Any, field: str = "payload.x", **more: Any) -> Json:
    """A comparison of `payload.x`, without a value where none is given."""
    return {"field": field, "op": op, **({"value": value[0]} if value else {}), **more}


DEAD: Json = {"of": "dispatches", "status": "dead"}


def an_alarm(name: str = "dead", **fields: Any) -> Json:
    """The document of an alarm of more than ten dead letters, but for what is given."""
    conditions = {"field": "count.dead", "op": ">", "value": 10}
    known: Json = {"schedule": {"every_seconds": 60}, "counts": {"dead": DEAD}, "conditions": conditions}
    return {"name": name, **known, "actions": [{"action_type": "notify", "channel": "log", "template": "!"}], **fields}

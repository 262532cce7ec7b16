"""Rule documents that use every field."""

from __future__ import annotations

import pytest

from core.errors import Invalid
from core.types import Json
from rules.document.schema import parse
from tests.rules.samples import RUN, a_leaf

VERBATIM: Json = {
    "name": "consolidate_on_session_end",
    "event_type": "session.ended",
    "conditions": {"all": [{"field": "payload.message_count", "op": ">=", "value": 3}]},
    "action_mode": "auto",
    "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
    "risk_level": "low",
}


EVERYTHING: Json = {
    "name": "every.field_of-a.rule",
    "description": "All at once",
    "tags": ["a"],
    "event_type": ["memory.*", "session.ended"],
    "conditions": {
        "all": [a_leaf("==", "a"), a_leaf("<", {"field": "payload.y"}), a_leaf("means", "moving", threshold=0.6)],
        "any": [a_leaf("any_of", {"none": [a_leaf("matches", "^a", field="item.b")]}), a_leaf("missing")],
        "none": [a_leaf("older_than", "7d", field="payload.at"), a_leaf("between", [1, 2])],
    },
    "flow": {
        "debounce": {"seconds": 30, "max_wait_seconds": 120, "max_events": 10, "flush_on": ["session.ended"]},
        "count": {"threshold": 50, "within_seconds": 3600, "key": ["payload.user_id"]},
        "cooldown": {"seconds": 0.5},
        "throttle": {"limit": 5, "per_seconds": 60},
        "sample": {"ratio": 0.1, "key": ["payload.user_id", "source"]},
        "concurrency": {"limit": 1, "on_conflict": "latest"},
    },
    "actions": [
        {"action_type": "run_agent", "target": "memory_extractor", "params": {"deep": ["{{payload.user_id}}"]}},
        {"action_type": "emit", "event_type": "policy.matched", "payload": {"who": "{{payload.user_id}}"}},
        {"action_type": "notify", "channel": "ops", "template": "{{payload.user_id}} said it"},
        {"action_type": "webhook", "url": "https://example.org/hook", "headers": {"x-user": "{{payload.user_id}}"}},
        {"action_type": "celery", "task": "billing.recount", "queue": "billing", "kwargs": {"n": 1}},
    ],
    "action_mode": "approve",
    "risk_level": "high",
    "priority": -5,
    "stop": True,
    "group": "g",
    "enabled": False,
    "starts_at": "2026-11-21T10:00:00Z",
    "ends_at": "2026-12-21T10:00:00+01:00",
}


SCHEDULED: Json = {
    "name": "nightly",
    "schedule": {"cron": "0 3 * * mon-fri", "timezone": "Europe/Lisbon", "for_each": "user"},
    "actions": [RUN],
}


def problems_of(given: object, agents: list[str] | None = None) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        parse(given, agents)
    return {problem.pointer: problem.detail for problem in caught.value.problems}


def nested(depth: int) -> Json:
    node: Json = a_leaf("exists")
    for _ in range(depth - 1):
        node = {"all": [node]}
    return node

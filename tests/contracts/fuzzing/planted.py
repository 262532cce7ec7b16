"""Tenants with something of every kind, so that requests with their ids reach the code behind the look-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from core.types import Json

SESSION, USER, GROUP, RULE = "s1", "ada", "crew", "watch_orders"

SAID = (
    ("user", "I moved to Lisbon in May."),
    ("assistant", "Good to know. Shall I look for a flat?"),
    ("user", "Yes. I am allergic to peanuts, and my cat is called Tom."),
    ("user", "We decided to book the flight on Friday."),
    ("user", "Please always answer in short sentences."),
    ("user", "I like green tea."),
)

STATEMENTS = (
    "Ada lives in Lisbon.",
    "Ada is allergic to peanuts.",
    "Ada plays the cello.",
    "Ada works at the harbour.",
    "Ada has two sisters.",
    "Ada collects old maps.",
    "Ada runs on Sundays.",
    "Ada speaks Portuguese.",
)

HELD: Json = {
    "name": RULE,
    "event_type": "order.placed",
    "action_mode": "approve",
    "actions": [{"action_type": "notify", "channel": "log", "template": "An order"}],
}
FAILING: Json = {
    "name": "summarise_nothing",
    "event_type": "order.lost",
    "actions": [{"action_type": "run_agent", "target": "session_summarizer"}],
}
SCHEDULED: Json = {
    "name": "nightly",
    "schedule": {"cron": "0 3 * * *"},
    "actions": [{"action_type": "notify", "channel": "log", "template": "It is night"}],
}

Ids = dict[str, list[str]]
"""Ids of what a tenant has, by the name of the parameter that takes one."""


def event(kind: str, **payload: Any) -> Json:
    return {"event_type": kind, "source": "fuzz", "payload": payload}


def plant(client: httpx.Client, settle: Callable[[], object]) -> Ids:
    """Give a tenant something of every kind, and return the ids."""
    where = {"session_id": SESSION, "user_id": USER}
    _post(client, "/v1/rules", HELD)
    _post(client, "/v1/rules", FAILING)
    _post(client, "/v1/rules", SCHEDULED)
    talk = [event("session.started", **where)]
    talk += [
        event("message.added", **where, role=role, content=words, message_id=f"m{n}")
        for n, (role, words) in enumerate(SAID)
    ]
    talk += [event("message.added", session_id="g1", user_id=USER, group_id=GROUP, role="user", content="Hello all.")]
    steps = [{"id": "1", "title": "Pack", "status": "done"}, {"id": "2", "title": "Drive"}]
    talk += [event("plan.updated", **where, plan={"goal": "Move", "steps": steps})]
    talk += [event("session.ended", **where, message_count=len(SAID))]
    talk += [event("order.placed", user_id=USER, total=n) for n in range(4)]
    talk += [event("order.lost", user_id=USER, total=n) for n in range(4)]
    accepted = _post(client, "/v1/events", talk)
    settle()
    stated = _post(
        client, "/v1/memories/batch", {"memories": [{"user_id": USER, "content": words} for words in STATEMENTS]}
    )
    kept = [one["memory"]["id"] for one in stated["items"] if one["memory"]]
    erased = client.delete(f"/v1/memories/{kept.pop()}").raise_for_status().json()["receipt"]["id"]
    client.put(f"/v1/memories/{kept[0]}/relations", json={"relation": "about", "to": kept[1]}).raise_for_status()
    documents = [
        _post(client, "/v1/documents", {"content": f"# Rules {n}\n\nA dinner may cost {n} euros.", "uri": f"u{n}"})[
            "id"
        ]
        for n in range(4)
    ]
    client.put("/v1/sessions/g1/working/step", json={"value": {"n": 1}}).raise_for_status()
    client.put("/v1/tenant/secrets/token", json={"value": "Bearer x"}).raise_for_status()
    client.put("/v1/tenant/prompts/judge", json={"text": "{{packaged}}"}).raise_for_status()
    rebuilds = [_post(client, "/v1/rebuilds", {"user_id": USER})["id"] for _ in range(2)]
    settle()
    return {
        "user_id": [USER],
        "group_id": [GROUP],
        "session_id": [SESSION, "g1"],
        "message_id": [f"m{n}" for n in range(len(SAID))],
        "memory_id": [*kept, *_ids(client, "/v1/memories", "id")],
        "change_id": _ids(client, "/v1/memories/decisions", "change_id"),
        "document_id": documents,
        "event_id": [one["id"] for one in accepted["events"]],
        "dispatch_id": _ids(client, "/v1/dispatches", "id"),
        "unit_id": _ids(client, f"/v1/sessions/{SESSION}/units", "id"),
        "rebuild_id": rebuilds,
        "receipt_id": [erased],
        "token": [accepted["settle_token"]],
        "key": ["step"],
        "rule": [RULE, "summarise_nothing", "nightly", "consolidate_on_session_end"],
        "prompt": ["judge", "summary"],
        "secret": ["token"],
    }


def _post(client: httpx.Client, path: str, body: object) -> Any:
    answer = client.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def _ids(client: httpx.Client, path: str, name: str) -> list[str]:
    items: Sequence[Mapping[str, Any]] = client.get(path, params={"limit": 50}).raise_for_status().json()["items"]
    return [str(one[name]) for one in items]

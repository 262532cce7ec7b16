"""A conversation of which every message is extracted once, and what the public door says of it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from bench.stand import Stand
from tests.faults.model import Model

MESSAGES = 12
FIRST, SECOND = list(range(1, 11)), [11, 12]
"""The positions of the messages that are new in each window of such a conversation."""


def conversation(session: str) -> list[dict[str, Any]]:
    """Twelve messages, each with an umbrella of its own, two of them in a group, and the end of the session."""
    said = [
        event(
            session,
            number,
            "message.added",
            role="user",
            content=f"Remember that my umbrella {session[2:]}x{number} stays.",
            **({"group_id": f"group-of-{session}"} if number + 1 in SECOND else {}),
        )
        for number in range(MESSAGES)
    ]
    return [*said, event(session, MESSAGES, "session.ended", message_count=MESSAGES)]


def event(session: str, number: int, event_type: str, **payload: Any) -> dict[str, Any]:
    payload |= {"session_id": session, "user_id": f"user-of-{session}"}
    if event_type == "message.added":
        payload["message_id"] = f"m{number}"
    return {"id": f"{session}-{number}", "event_type": event_type, "source": "faults", "payload": payload}


def publish(stand: Stand, batch: list[dict[str, Any]]) -> str:
    token: str = stand.call("POST", "/v1/events", batch)["settle_token"]
    return token


def assert_extracted_once(stand: Stand, session: str) -> None:
    """Every message is in the transcript once, extracted once, and cited by exactly one memory."""
    path = f"/v1/sessions/{session}"
    transcript = stand.call("GET", f"{path}/messages?limit=500")["items"]
    assert [m["position"] for m in transcript] == list(range(1, MESSAGES + 1))
    assert stand.call("GET", path)["extracted_to"] == MESSAGES
    assert cited(stand, session) == Counter({f"m{number}": 1 for number in range(MESSAGES)})
    memories = kept(stand, session)
    assert all(memory["version"] == 1 for memory in memories), "nothing was confirmed by being read twice"
    created = stand.call("GET", f"/v1/events?type=memory.created&user_id=user-of-{session}&limit=500")["items"]
    assert len(created) == len(memories) == MESSAGES


def kept(stand: Stand, session: str) -> list[dict[str, Any]]:
    """What is remembered of the session's user."""
    memories: list[dict[str, Any]] = stand.call("GET", f"/v1/memories?user_id=user-of-{session}&limit=500")["items"]
    return memories


def cited(stand: Stand, session: str) -> Counter[str]:
    """How many memories rest on each message."""
    return Counter(source["message_id"] for memory in kept(stand, session) for source in memory["sources"])


def windows(model: Model) -> list[list[int]]:
    """The positions of the new messages in each window that was put to the model."""
    position = re.compile(r"x(\d+) stays")
    return [[int(position.findall(one["text"])[0]) + 1 for one in window] for window in model.windows]


def dispatches(stand: Stand, session: str) -> list[dict[str, Any]]:
    """What the rules made of the session's events."""
    events = stand.call("GET", f"/v1/events?session_id={session}&limit=500")["items"]
    traces = [stand.call("GET", f"/v1/events/{e['id']}/trace") for e in events if e["source"] == "faults"]
    return [dispatch for trace in traces for dispatch in trace["dispatches"] if dispatch["rule"]]

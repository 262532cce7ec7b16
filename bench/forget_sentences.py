"""Everyday sentences, and requests to forget, played through the pipeline of production: `bench.forget --sentences`.

Each line of the file is a case: `memories` that a user told before, a `message`, its `label` (`request` or `harmless`),
and `targets`, the indices of the memories that it means. Each memory is a message of the user; what is stored of it is
what the default rules extract, in their words. The messages are accepted, routed by the default rules and carried out
by the ledger, in this process, on a PostgreSQL of its own, with the default embedding model. A memory is touched if its
message or what rests on that alone lost anything, without anybody's approval; it is gone if nothing of it is left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from bench import pipeline
from bench.pipeline import TENANT, Pipeline

Json = dict[str, Any]

RULES: Final = frozenset(
    {"find_forget_requests", "forget_on_request", "forget_much_on_approval", "consolidate_on_session_end"}
)
ERASED: Final = "[erased]"
BEGAN: Final = datetime(2026, 11, 2, 9, tzinfo=UTC)


@dataclass(slots=True)
class SentenceScore:
    """Counts over cases, and a line for each that is not exactly right."""

    harmless: int = 0
    harmless_acted: int = 0
    harmless_held: int = 0
    requests: int = 0
    acted: int = 0
    exact: int = 0
    held: int = 0
    wrong: int = 0
    absent: int = 0
    absent_untouched: int = 0
    lines: list[str] = field(default_factory=list)


def run(path: Path) -> SentenceScore:
    """Play the cases of a file, one JSON object a line."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    score = SentenceScore()
    with pipeline.started(RULES) as running:
        for case in cases:
            stored = tell(running, case)
            state = ask(running, case)
            count(case, touched(running, case, stored), state, score)
    return score


def tell(running: Pipeline, case: Json) -> dict[UUID, int]:
    """Publish the memories of a case as messages of a session; return what is stored by the message it rests on."""
    running.publish([message(case, position, content) for position, content in enumerate(case["memories"])])
    running.publish([event(case, "session.ended", {"message_count": len(case["memories"])})])
    query = text("""
        SELECT memory_id, min(message_id) AS message_id FROM evidence WHERE session_id = :s
        GROUP BY memory_id HAVING count(DISTINCT message_id) = 1
    """)
    with running.app.tenant(TENANT) as tx:
        return {row.memory_id: int(row.message_id[1:]) for row in tx.execute(query, {"s": session_of(case)})}


def ask(running: Pipeline, case: Json) -> str | None:
    """Publish the message of a case, have the forgetter do its work, and return what became of it."""
    running.publish([message(case, len(case["memories"]), case["message"])])
    query = text("SELECT event_type FROM events WHERE session_id = :s AND event_type LIKE 'memory.forg%'")
    with running.app.tenant(TENANT) as tx:
        kinds = set(tx.execute(query, {"s": session_of(case)}).scalars())
    if "memory.forgotten" in kinds:
        return "acted"
    return "held" if "memory.forget_requested" in kinds else None


def message(case: Json, position: int, content: str) -> Json:
    payload = {"user_id": user_of(case), "role": "user", "content": content, "message_id": f"m{position}"}
    return event(case, "message.added", payload)


def event(case: Json, event_type: str, payload: Json) -> Json:
    time = BEGAN.isoformat()
    payload = {"session_id": session_of(case), **payload}
    return {"event_type": event_type, "source": "bench", "time": time, "payload": payload}


def session_of(case: Json) -> str:
    return f"session-{case['id']}"


def user_of(case: Json) -> str:
    return f"user-{case['id']}"


def touched(running: Pipeline, case: Json, stored: Mapping[UUID, int]) -> tuple[set[int], set[int]]:
    """Return the indices of the memories that lost anything, and of those of which nothing is left."""
    query = text("SELECT id, content FROM messages WHERE session_id = :s")
    with running.app.tenant(TENANT) as tx:
        texts = {row.id: row.content for row in tx.execute(query, {"s": session_of(case)})}
        left = set(tx.execute(text("SELECT id FROM memories WHERE id = ANY(:ids)"), {"ids": list(stored)}).scalars())
    blanked = {at for at in range(len(case["memories"])) if ERASED in texts[f"m{at}"]}
    lost = {at for memory_id, at in stored.items() if memory_id not in left}
    return blanked | lost, blanked - {at for memory_id, at in stored.items() if memory_id in left}


def count(case: Json, lost: tuple[set[int], set[int]], state: str | None, score: SentenceScore) -> None:
    """Add what became of a case; `lost` as `touched` returns it."""
    (gone, whole), targets = lost, set(case["targets"])
    if case["label"] == "harmless":
        score.harmless += 1
        score.harmless_acted += bool(gone) or state == "acted"
        score.harmless_held += state == "held"
    elif targets:
        score.requests += 1
        score.acted += state == "acted"
        score.exact += gone == whole == targets
        score.held += state == "held"
    else:
        score.absent += 1
        score.absent_untouched += not gone
    score.wrong += bool(gone - targets)
    if not gone == whole == targets or (state and case["label"] == "harmless"):
        named = [case["memories"][at] for at in sorted(gone)]
        score.lines.append(f"{case['id']} ({state or 'nothing'}): {case['message']} – gone: {named}")


def show(score: SentenceScore, *, failures: bool) -> None:
    print(f"harmless: {score.harmless_acted} of {score.harmless} acted on, {score.harmless_held} held")
    print(
        f"requests: {score.acted} of {score.requests} acted on, {score.exact} on exactly the right memories, "
        f"{score.held} held"
    )
    print(f"requests without a target: {score.absent_untouched} of {score.absent} touched nothing")
    print(f"cases with a wrong memory touched: {score.wrong}")
    for line in score.lines if failures else ():
        print(f"  {line}")

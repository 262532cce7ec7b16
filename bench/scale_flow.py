"""What a message costs on its way through a whole stack, in processor milliseconds and bytes, for `bench.scale`.

Messages of conversations are published while routers and workers stand still, then routed, then worked off, without a
language model. Each number of messages has a stack of its own, which has worked before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import psycopg

from bench import processes
from bench.accept import paused
from bench.peers_talks import talks
from bench.stand import Stand, stack
from bench.vectors import events_of
from core.types import Json

BATCH: Final = 200
ASKED_ABOUT: Final = 5
"""Questions whose answers are weighed."""

WORKERS: Final = ("worker-io", "worker-cpu")
GIVE_UP_SECONDS: Final = 600

PATIENT: Final = {"lease_seconds": "600", "task_seconds": "600", "agent_seconds": '{"cpu": 600, "io": 600}'}
"""On a busy machine no attempt is given up and made again: that would cost twice."""

Figures = dict[str, Any]


def measure(locomo: Path, count: int, warm: int) -> Figures:
    """Return the costs of so many messages, by stage and process, and what they have left in the database.

    `warm`: messages of others, worked off before.
    """
    published, before_it = _events(locomo, count), _events(locomo, warm, "warm")
    with stack(**PATIENT) as stand, psycopg.connect(stand.admin_url, autocommit=True) as admin:
        for batch in _batches(before_it):
            stand.settle(stand.call("POST", "/v1/events", batch)["settle_token"], flush=True)
        before = contents(admin)
        stages, sent = _stages(stand, admin, published)
        after = contents(admin)
        return {
            "messages": count,
            "events published": len(published),
            "request bytes": sent,
            "response bytes of a search": _answer_bytes(stand, published),
            "wall seconds of working off": stages.pop("wall seconds"),
            "stages": stages,
            "MB": processes.member_memory(stand.home, stand.pid),
            **{what: grown(before[what], after[what]) for what in ("rows", "bytes")},
        }


def _events(locomo: Path, count: int, prefix: str = "user") -> list[Json]:
    """Messages of one user for each conversation, and the ends of their sessions."""
    events: list[Json] = []
    for talk in talks(locomo, 0, 1):
        turns = talk.turns[:count]
        events += events_of(f"{prefix}-{talk.name}", turns) if turns else []
        count -= len(turns)
    assert count == 0, f"{locomo} has {count} messages too few"
    return events


def _stages(stand: Stand, admin: psycopg.Connection, events: Sequence[Json]) -> tuple[Figures, int]:
    """Processor seconds of each member and bytes of the write-ahead log of each stage; bytes that were sent."""
    stages, bodies = Figures(), [json.dumps(batch).encode() for batch in _batches(events)]
    tokens: list[str] = []

    def accept() -> None:
        tokens.extend(stand.raw("POST", "/v1/events", body)["settle_token"] for body in bodies)

    with ExitStack() as workers:
        workers.enter_context(paused(stand, WORKERS))
        with paused(stand, ("router",)):
            stages["accept"] = spent(stand, admin, accept)
            resumed = read(stand, admin)
        _await(lambda: _number(admin, _UNROUTED) == 0)
        stages["route"] = difference(resumed, read(stand, admin))
        resumed, began = read(stand, admin), time.perf_counter()
    for token in tokens:
        stand.settle(token, flush=True)
    stages["work"] = difference(resumed, read(stand, admin))
    stages["wall seconds"] = time.perf_counter() - began
    return stages, sum(map(len, bodies))


def spent(stand: Stand, admin: psycopg.Connection, work: Callable[[], object]) -> dict[str, float]:
    """Return what the members have used for a piece of work, and how much write-ahead log it made."""
    before = read(stand, admin)
    work()
    return difference(before, read(stand, admin))


def read(stand: Stand, admin: psycopg.Connection) -> dict[str, float]:
    """Return the processor seconds of each member so far, and the bytes of the write-ahead log."""
    return {**processes.member_cpu_seconds(stand.home, stand.pid), "wal bytes": float(_number(admin, _WAL))}


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value - before.get(name, 0.0), 3) for name, value in after.items()}


def contents(admin: psycopg.Connection) -> dict[str, dict[str, int]]:
    """Return the rows of each table, and the bytes of each table (with what it keeps aside) and index."""
    admin.execute("VACUUM ANALYZE")
    return {"rows": dict(admin.execute(_ROWS).fetchall()), "bytes": dict(admin.execute(_BYTES).fetchall())}


def grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return what has become more."""
    more = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: value for name, value in more.items() if value > 0}


def _answer_bytes(stand: Stand, events: Sequence[Json]) -> float:
    """Return the mean length of an answer with ten results."""
    messages = [event["payload"] for event in events if "content" in event["payload"]][:ASKED_ABOUT]
    bodies = [{"user_id": message["user_id"], "query": message["content"], "limit": 10} for message in messages]
    return fmean(len(stand.http.post("/v1/search", json=body).content) for body in bodies)


def _batches(events: Sequence[Json]) -> list[Sequence[Json]]:
    return [events[start : start + BATCH] for start in range(0, len(events), BATCH)]


def _number(admin: psycopg.Connection, query: str) -> int:
    row = admin.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _await(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    while not reached():
        if time.monotonic() > end:
            raise SystemExit(f"not reached within {GIVE_UP_SECONDS} s")
        time.sleep(0.2)


_UNROUTED: Final = "SELECT count(*) FROM events WHERE routed_at IS NULL"
_WAL: Final = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
_ROWS: Final = """
    SELECT relname, n_live_tup FROM pg_stat_user_tables WHERE n_live_tup > 0 ORDER BY n_live_tup DESC
"""
_BYTES: Final = """
    SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END AS size
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') AND pg_relation_size(oid) > 0
    ORDER BY size DESC
"""

"""A bulk job changes each memory once, whatever is killed while it runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from bench.stand import Stand, stack
from core.types import Json
from tests.faults.stand import FAULT, IMPATIENT, eventually, kill_group, pid

pytestmark = FAULT

MEMORIES = 150
JOBS = "/v1/memories/bulk/jobs"


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(**IMPATIENT) as running:
        yield running


def found(rows: Engine, query: str, **values: Any) -> list[Any]:
    with rows.connect() as tx:
        return list(tx.execute(text(query), values))


def ended(stand: Stand, job: Json) -> Json | None:
    standing: Json = stand.call("GET", f"{JOBS}/{job['id']}")
    return standing if standing["status"] == "done" else None


def reached(stand: Stand, job: Json) -> int:
    standing = stand.call("GET", f"{JOBS}/{job['id']}")
    return int(standing["done"] + standing["unchanged"] + standing["refused"])


def test_each_row_is_changed_once_while_workers_and_the_database_are_killed(stand: Stand, rows: Engine) -> None:
    for first in range(0, MEMORIES, 75):
        statements = [
            {"user_id": f"u{n % 7}", "content": f"Order number {n} was paid."} for n in range(first, first + 75)
        ]
        stand.call("POST", "/v1/memories/batch", {"memories": statements})
    stored = found(rows, "SELECT count(*) AS n FROM memories")[0].n
    preview = stand.call("POST", JOBS, {"action": "pin", "filter": {}})
    assert preview["rows"] == stored
    eventually(lambda: reached(stand, preview))
    kill_group(stand, "worker-cpu")
    standing = eventually(lambda: ended(stand, preview))
    assert (standing["done"], standing["refused"]) == (stored, 0)
    assert found(rows, "SELECT count(*) AS n FROM memories WHERE pinned")[0].n == 0
    assert found(rows, "SELECT count(*) AS n FROM memory_versions WHERE change = 'pin'")[0].n == 0

    run = stand.call("POST", f"{JOBS}/{preview['id']}/run", {})
    for victim in ("worker-cpu", "router"):
        before = eventually(lambda: reached(stand, run))
        eventually(lambda before=before: reached(stand, run) > before or ended(stand, run))
        kill_group(stand, victim)
    old = pid(stand, "postgres")
    os.kill(old, signal.SIGKILL)
    eventually(lambda: pid(stand, "postgres") != old)
    standing = eventually(lambda: ended(stand, run))
    assert (standing["done"], standing["unchanged"], standing["refused"]) == (stored, 0, 0)
    [pins] = found(
        rows,
        "SELECT count(*) AS versions, count(DISTINCT memory_id) AS memories FROM memory_versions WHERE change = 'pin'",
    )
    assert (pins.versions, pins.memories) == (stored, stored)
    changes = found(rows, "SELECT count(DISTINCT change_id) AS n FROM bulk_rows WHERE job_id = :id", id=run["id"])
    assert changes[0].n == stored
    assert found(rows, "SELECT count(*) AS n FROM events WHERE event_type = 'memory.bulk_completed'")[0].n == 1

"""A worker is killed in the middle of a restore: the end is that of one nobody disturbed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import httpx
import pytest

from bench.stand import Stand, stack
from core.types import Json
from tests.core.transfer.rich import a_past, lines, made
from tests.faults.stand import FAULT, IMPATIENT, eventually, kill_group

pytestmark = FAULT

MESSAGES, MEMORIES = 2_000, 400


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    """A stack that notices within two seconds that a worker has died."""
    with stack(
        **IMPATIENT,
        drop_archived_days="10000",
        session_idle_seconds="1000000000",
    ) as running:
        yield running


def test_a_worker_killed_in_the_middle_of_a_restore_costs_nothing_and_doubles_nothing(stand: Stand) -> None:
    past = a_past("s1", MESSAGES, MEMORIES)
    headers = {"authorization": f"Bearer {stand.key}"}
    with httpx.Client(base_url=stand.url, headers=headers, timeout=60) as client:
        params: dict[str, str | bool] = {"user_id": "ada", "dry_run": False}
        answer = client.post("/v1/import", params=params, content=made(past)).raise_for_status().json()
        path, seen = f"/v1/imports/{answer['id']}", list[int]()
        for least in (500, MESSAGES + 100):  # Once among the messages, once among the memories.
            eventually(partial(_done, client, path, least, seen))
            kill_group(stand, "worker-cpu")
        job = eventually(lambda: _ended(client, path))
        assert job["status"] == "done", job
        assert job["report"]["restored"] == _counts(past)
        stand.settle(answer["settle_token"])
        assert seen == sorted(seen), "the cursor never moved back"
        found = lines(client.get("/v1/users/ada/export", timeout=60).content)
        assert {name: list(found[name]) for name in past} == {name: list(ones) for name, ones in past.items()}
        told = client.get("/v1/events", params={"type": "import.completed"}).json()["items"]
        assert len(told) == 1
        dead = client.get("/v1/dispatches", params={"status": "dead"}).json()["items"]
        assert dead == []


def _counts(past: Mapping[str, Sequence[Json]]) -> dict[str, int]:
    return {name: len(ones) for name, ones in past.items()}


def _done(client: httpx.Client, path: str, least: int, seen: list[int]) -> bool:
    job = client.get(path).json()
    done = job["progress"]["done"] if job["progress"] else 0
    seen.append(done)
    assert job["status"] in {"pending", "running"}, "it ended before anything was killed"
    return done >= least


def _ended(client: httpx.Client, path: str) -> dict[str, object] | None:
    job: dict[str, object] = client.get(path).json()
    return job if job["ended_at"] else None

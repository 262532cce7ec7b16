"""Two tenants with different models: one changes while it is asked and while the worker that does it is killed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from api.ingress.dependencies import KEY_SECONDS
from bench.stand import Stand, stack
from core.config import Settings
from tests.doors import key_of
from tests.faults.stand import eventually, kill_group
from tests.samples import said

PATH = "/v1/tenant/embedding"
MESSAGES = 300
NEAR = 10
LISBON = "她住在里斯本。"
ASKED = {"user_id": "ada", "query": "Where does she live?", "method": "vector", "include": ["messages"], "limit": 100}

Cosines = dict[str, float]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A client with the tenant's key."""

    http: httpx.Client

    def call(self, method: str, path: str, body: object = None) -> Any:
        answer = self.http.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json()

    def publish(self, user: str, *contents: str) -> None:
        events = [said(content, session=user, user=user) for content in contents]
        self.call("POST", "/v1/events", events)

    def cosines(self) -> Cosines:
        """Return the similarity of the question to each message that has a vector, best first."""
        found = self.call("POST", "/v1/search", ASKED)["results"]
        return {one["content"]: one["scores"]["vector"] for one in found if one["scores"].get("vector") is not None}


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(embedding="english", lease_seconds="3", tenant_limits='{"requests": 1000000}') as running:
        yield running


@contextmanager
def tenant(stand: Stand, name: str) -> Iterator[Tenant]:
    headers = {"Authorization": f"Bearer {key_of(Settings(home=stand.home), name)}"}
    with httpx.Client(base_url=stand.url, headers=headers, timeout=60) as client:
        yield Tenant(client)


def test_a_tenant_changes_its_model_under_questions_and_a_kill(stand: Stand) -> None:
    with tenant(stand, "acme") as acme, tenant(stand, "globex") as globex:
        change(stand, acme, globex)


def change(stand: Stand, acme: Tenant, globex: Tenant) -> None:
    words = [f"Number {n}: the committee met about street lights, parking and item {n * 7}." for n in range(MESSAGES)]
    acme.publish("bob", *words)
    acme.publish("ada", *words[:NEAR], LISBON)
    globex.publish("ada", "I live in Porto.", LISBON)
    eventually(lambda: len(acme.cosines()) == NEAR + 1 and len(globex.cosines()) == 2)
    eventually(lambda: _vectors(acme) > MESSAGES + NEAR)
    before, untouched = acme.cosines(), globex.cosines()
    assert before[LISBON] < 0.2, "the English model cannot read it"
    answers: list[Cosines] = []
    over = threading.Event()

    def ask_on() -> None:
        while not over.wait(0.05):  # Asking takes no processor from the worker.
            answers.append(acme.cosines())
        answers.append(acme.cosines())  # The one before may have begun before the switch.

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask_on)
        try:
            assert acme.call("PUT", PATH, {"model": "multilingual"})["state"] == "clearing"
            eventually(lambda: acme.call("GET", PATH)["state"] == "filling")
            kill_group(stand, "worker-cpu")
            assert acme.call("GET", PATH)["model"] == "english", "killed before the switch"
            eventually(lambda: acme.call("GET", PATH)["model"] == "multilingual")
            time.sleep(KEY_SECONDS + 1)  # Until each of the processes has looked up the tenant's model again.
            eventually(lambda: acme.cosines().get(LISBON, 0) > 0.3)
        finally:
            over.set()
        asking.result()
    after = acme.cosines()
    # What was written meanwhile by a process that still had the other model gets its vector a little later.
    eventually(lambda: _vectors(acme) >= _vectors(acme, "other") > MESSAGES + NEAR)
    assert len(answers) > 20
    mixed = [
        f"{len(one)} cosines, off by {_apart(one, before)} and {_apart(one, after)}: {one}"
        for one in answers
        if not (_agree(one, before) or _agree(one, after))
    ]
    assert mixed == [], "each answer is of one model alone"
    assert _agree(answers[0], before)
    assert _agree(answers[-1], after)
    assert _agree(globex.cosines(), untouched), "what another tenant is answered has not changed"
    assert globex.call("GET", PATH)["model"] == "english"


def _agree(one: Cosines, other: Cosines) -> bool:
    return len(one) > 0 and _apart(one, other) <= 1e-3


def _apart(one: Cosines, other: Cosines) -> float:
    """Return the largest difference of the cosines that both have."""
    return max((abs(one[content] - other[content]) for content in one.keys() & other.keys()), default=0.0)


def _vectors(one: Tenant, which: str = "model") -> int:
    return int(one.call("GET", PATH)["vectors"][which])

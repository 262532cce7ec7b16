"""Fairness: from event to memory for a quiet tenant, alone and while another floods the same installation.

    python -m bench.fairness

To reach: p95 under the flood < 2 × p95 alone. The quiet tenant publishes one message at a time and waits until its
memory is found. The other posts a hundred messages for each of them, and plans of 52,000 headings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Final

import httpx

from bench import arguments
from bench.stand import Stand, percentiles, show, stack

ROUNDS: Final = 30
PAUSE_SECONDS: Final = 0.5
TIMES: Final = 100
PLANS: Final = 4
PLAN: Final = "# a\n" * 52_000
GIVE_UP_SECONDS: Final = 120
LOOK_SECONDS: Final = 0.02
CITIES: Final = ("Lisbon", "Oslo", "Prague", "Vienna", "Turin", "Porto", "Ghent", "Malmo", "Graz", "Basel")


@dataclass
class Flood:
    """Another tenant that publishes as fast as `TIMES` the quiet one, until it is stopped."""

    http: httpx.Client
    stopped: threading.Event
    accepted: int = 0
    refused: int = 0

    def run(self) -> None:
        number = 0
        while not self.stopped.is_set():
            number += 1
            batch = [message(f"flood-{number}-{n}", "mallory", n) for n in range(TIMES)]
            if number % 5 == 1:
                batch += [_plan(f"plan-{number}-{n}") for n in range(PLANS)]
            answer = self.http.post("/v1/events", json=batch)
            self.accepted += len(batch) if answer.is_success else 0
            self.refused += 0 if answer.is_success else 1
            self.stopped.wait(PAUSE_SECONDS)


def message(session: str, user: str, number: int) -> dict[str, object]:
    """A message that a memory follows from at once."""
    content = f"I moved to {CITIES[number % len(CITIES)]} in May, and my locker has the number {number}."
    payload = {"session_id": session, "user_id": user, "role": "user", "content": content, "importance": 0.8}
    return {"event_type": "message.added", "source": "bench", "payload": payload}


def run(rounds: int = ROUNDS) -> dict[str, float]:
    """Lags in milliseconds, and their ratio."""
    with stack() as stand, client_of(stand, "quiet") as quiet, client_of(stand, "noisy") as noisy:
        for _ in range(3):
            lag(quiet)
        alone = percentiles([_paced(quiet) for _ in range(rounds)])
        flood = Flood(noisy, threading.Event())
        thread = threading.Thread(target=flood.run)
        thread.start()
        try:
            time.sleep(5)
            beside = percentiles([_paced(quiet) for _ in range(rounds)])
        finally:
            flood.stopped.set()
            thread.join()
    figures = {f"alone, event to memory, ms, {name}": value for name, value in alone.items()}
    figures |= {f"beside a flood, event to memory, ms, {name}": value for name, value in beside.items()}
    return figures | {
        "events of the flood": flood.accepted,
        "batches of the flood that were refused": flood.refused,
        "ratio of p50": beside["p50"] / alone["p50"],
        "ratio of p95 (to reach: below 2)": beside["p95"] / alone["p95"],
    }


def _paced(client: httpx.Client) -> float:
    took = lag(client)
    time.sleep(PAUSE_SECONDS)
    return took


def lag(client: httpx.Client) -> float:
    """Milliseconds from before the publish until the user has a memory."""
    user, session = uuid.uuid4().hex, uuid.uuid4().hex
    began = time.perf_counter()
    client.post("/v1/events", json=message(session, user, 1)).raise_for_status()
    while time.perf_counter() - began < GIVE_UP_SECONDS:
        if client.get("/v1/memories", params={"user_id": user, "limit": 1}).raise_for_status().json()["items"]:
            return (time.perf_counter() - began) * 1000
        time.sleep(LOOK_SECONDS)
    raise SystemExit(f"no memory within {GIVE_UP_SECONDS} s")


def _plan(session: str) -> dict[str, object]:
    payload = {"session_id": session, "user_id": "mallory", "plan": PLAN}
    return {"event_type": "plan.updated", "source": "bench", "payload": payload}


def client_of(stand: Stand, tenant: str) -> httpx.Client:
    """Return a client with an admin key of a tenant, which is created."""
    command = [
        sys.executable,
        "-m",
        "api.cli.main",
        "keys",
        "create",
        "--tenant",
        tenant,
        "--scopes",
        "admin",
        "--json",
    ]
    environment = {**os.environ, "IMPRINT_HOME": str(stand.home)}
    made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    headers = {"authorization": f"Bearer {json.loads(made.stdout)['key']}"}
    return httpx.Client(base_url=stand.url, headers=headers, timeout=90)


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()

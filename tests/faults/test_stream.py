"""A follower of the log is sent each event once while the API is killed and stopped under it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import httpx

from bench.stand import Stand, stack
from tests.faults.stand import FAULT, eventually, pid
from tests.patience import PATIENCE_SECONDS

pytestmark = FAULT

EVENTS = 30
LONGEST_STOP_SECONDS = 15.0


def follow(stand: Stand, seen: list[str]) -> None:
    """Follow as an EventSource does: reconnect with the last id."""
    last = "0"
    while len(seen) < EVENTS:
        headers = {"Authorization": f"Bearer {stand.key}", "Last-Event-ID": last}
        url = f"{stand.url}/v1/stream?types=stream.*"
        try:
            with httpx.stream("GET", url, headers=headers, timeout=30) as answer:
                for line in answer.iter_lines():
                    name, _, value = line.partition(": ")
                    last = value if name == "id" else last
                    seen += [value["id"] for value in [json.loads(value)] if "id" in value] if name == "data" else []
                    if len(seen) >= EVENTS:
                        return
        except httpx.HTTPError:
            time.sleep(0.1)


def publish(stand: Stand, number: int) -> None:
    event = {"event_type": "stream.told", "source": "test", "id": f"e{number}"}
    headers = {"Authorization": f"Bearer {stand.key}"}
    eventually(lambda: httpx.post(f"{stand.url}/v1/events", json=event, headers=headers).is_success)


def test_an_api_that_is_killed_and_one_that_stops_lose_and_repeat_nothing() -> None:
    with stack(embedding="hash") as stand:
        seen: list[str] = []
        follower = threading.Thread(target=follow, args=(stand, seen))
        follower.start()
        for number in range(EVENTS):
            publish(stand, number)
            if number == EVENTS // 3:
                os.kill(pid(stand, "api"), signal.SIGKILL)
            if number == 2 * EVENTS // 3:
                stopped, began = pid(stand, "api"), time.monotonic()
                os.kill(stopped, signal.SIGTERM)
                eventually(lambda gone=stopped: not os.path.exists(f"/proc/{gone}"))  # noqa: PTH110 - of the system
                assert time.monotonic() - began < LONGEST_STOP_SECONDS, "an open stream must not keep it"
        follower.join(PATIENCE_SECONDS)
    assert seen == [f"e{number}" for number in range(EVENTS)]

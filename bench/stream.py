"""Following: 50 clients of `GET /v1/stream` while events are published, on the same two cores.

    python -m bench.stream

The floor is one client that reads a finished log of the same events (`follow=false`). A publisher sends batches of 200
as fast as they are accepted; router and workers are paused, so that nothing but the stream answers.
"""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Iterator

import httpx

from bench import arguments
from bench.accept import only_api
from bench.stand import Stand, show, stack

FOLLOWERS = 50
EVENTS = 4_000
BATCH = 200


def run() -> dict[str, float]:
    """Events a second that all followers together and each of them receive, and the delay from commit to receipt."""
    with stack() as stand, only_api(stand):
        counts = [0] * FOLLOWERS
        delays: list[float] = []
        ready = threading.Barrier(FOLLOWERS + 1)
        threads = [
            threading.Thread(target=_follow, args=(stand, counts, number, delays, ready)) for number in range(FOLLOWERS)
        ]
        for thread in threads:
            thread.start()
        ready.wait()
        began = time.monotonic()
        for first in range(0, EVENTS, BATCH):
            _publish(stand, first)
        for thread in threads:
            thread.join(300)
        seconds = time.monotonic() - began
        floor = _read_stored(stand)
    if counts != [EVENTS] * FOLLOWERS:
        raise AssertionError(f"Followers received {sorted(set(counts))} of {EVENTS} events.")
    return {
        "floor: one client reads the stored log, events/s": floor,
        "events/s published and followed by each of 50": EVENTS / seconds,
        "events/s delivered to all": EVENTS * FOLLOWERS / seconds,
        "delay p50, ms": statistics.median(delays) * 1000,
        "delay p95, ms": statistics.quantiles(delays, n=20)[-1] * 1000,
    }


def _publish(stand: Stand, first: int) -> None:
    now = time.time()
    batch = [
        {"event_type": "bench.ticked", "source": "bench", "id": f"e{n}", "payload": {"n": n, "sent": now}}
        for n in range(first, first + BATCH)
    ]
    httpx.post(f"{stand.url}/v1/events", json=batch, headers=_headers(stand), timeout=60).raise_for_status()


def _headers(stand: Stand) -> dict[str, str]:
    return {"Authorization": f"Bearer {stand.key}"}


def _follow(stand: Stand, counts: list[int], number: int, delays: list[float], ready: threading.Barrier) -> None:
    url = f"{stand.url}/v1/stream?types=bench.*"
    with httpx.stream("GET", url, headers=_headers(stand), timeout=120) as answer:
        lines = answer.iter_lines()
        next(lines)
        ready.wait()
        for count, event in enumerate(_events(lines), start=1):
            if number == 0:
                delays.append(time.time() - event["payload"]["sent"])
            counts[number] = count
            if count == EVENTS:
                return


def _events(lines: Iterator[str]) -> Iterator[dict[str, dict[str, float]]]:
    for line in lines:
        if line.startswith("data: ") and "event_type" in (event := json.loads(line[6:])):
            yield event


def _read_stored(stand: Stand) -> float:
    began = time.monotonic()
    url = f"{stand.url}/v1/stream?types=bench.*&after=0&follow=false"
    with httpx.stream("GET", url, headers=_headers(stand), timeout=120) as answer:
        number = sum(1 for _ in _events(answer.iter_lines()))
    return number / (time.monotonic() - began)


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()

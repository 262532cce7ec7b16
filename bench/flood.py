"""A steady stream of events, published beside what is measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bench.stand import Stand

TYPE: Final = "flood.came"

BATCH: Final = 100
"""Events of one request."""


@dataclass(slots=True)
class Poured:
    """How many events were accepted, and in how many seconds."""

    events: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return self.events / max(self.seconds, 1e-9)


def pour(stand: Stand, rate: int, poured: Poured, stop: threading.Event, most: int | None = None) -> None:
    """Publish at a steady rate, or as fast as the service accepts them, until told to stop or there are so many."""
    began = time.perf_counter()
    while not stop.is_set() and (most is None or poured.events < most):
        now = datetime.now(UTC).isoformat()
        stand.call("POST", "/v1/events", [_event(poured.events + number, now) for number in range(BATCH)])
        poured.events += BATCH
        poured.seconds = time.perf_counter() - began
        time.sleep(max(0.0, poured.events / rate - poured.seconds))
    poured.seconds = time.perf_counter() - began


@contextmanager
def flooded(stand: Stand, rate: int) -> Iterator[Poured]:
    """Events come at a rate for as long as the block lasts."""
    poured, stop = Poured(), threading.Event()
    flood = threading.Thread(target=pour, args=(stand, rate, poured, stop))
    flood.start()
    try:
        yield poured
    finally:
        stop.set()
        flood.join()


def _event(number: int, now: str) -> dict[str, object]:
    payload = {"n": number, "content": f"number {number}"}
    return {"event_type": TYPE, "source": "bench", "time": now, "payload": payload}

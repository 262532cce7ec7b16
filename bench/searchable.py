"""From publish to found: one `message.added` over HTTP until `POST /v1/search` cites it, on an idle stack.

    python -m bench.searchable

To reach: p50 < 300 ms, p95 < 1 s. Each round publishes one message with a word of its own and asks for that word until
it is found; the time runs from before the publish to after the answer that cites it.
"""

from __future__ import annotations

import time
import uuid

from bench.stand import Stand, percentiles, show, stack

ROUNDS = 60
GIVE_UP_SECONDS = 10


def run() -> dict[str, float]:
    """Milliseconds, for searches by words and vectors together, after a warm-up that loads the model."""
    with stack() as stand:
        _round(stand)
        took = [_round(stand) for _ in range(ROUNDS)]
    found = percentiles(took)
    return {f"publish to found, ms, {name}": value for name, value in found.items()}


def _round(stand: Stand) -> float:
    word, session = uuid.uuid4().hex, uuid.uuid4().hex
    payload = {
        "session_id": session,
        "user_id": "bench",
        "role": "user",
        "content": f"The code of the locker is {word}.",
    }
    began = time.perf_counter()
    stand.call("POST", "/v1/events", {"event_type": "message.added", "source": "bench", "payload": payload})
    while time.perf_counter() - began < GIVE_UP_SECONDS:
        answer = stand.call("POST", "/v1/search", {"user_id": "bench", "query": f"locker code {word}", "limit": 3})
        if any(s["session_id"] == session for r in answer["results"] for s in r["sources"]):
            return (time.perf_counter() - began) * 1000
    raise SystemExit(f"{word} was not found within {GIVE_UP_SECONDS} s")


if __name__ == "__main__":
    show(__doc__, run())

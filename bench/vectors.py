"""Messages that become findable with their vectors while the default rules extract: rate, and texts embedded for each.

    python -m bench.vectors [--models multilingual english] [--messages 400] [--locomo ../shared/data/locomo_dev.json]

Messages of conversations and the ends of their sessions are published at once to a stack of its own. `vector-complete`:
until each message has its vector; `settled`: until everything that follows has ended, too. `made`: texts that the model
embedded, for each message; `repeats`: share of the wanted vectors that were there already.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import psycopg
from prometheus_client.parser import text_string_to_metric_families

from bench import arguments
from bench.peers_talks import talks
from bench.stand import Stand, free_port, show, stack
from core.types import Json

BATCH = 200
POLL_SECONDS = 0.05
GIVE_UP_SECONDS = 900
USER = "bench"
WITH_VECTOR = "SELECT count(*) FROM search_index WHERE type = 'message' AND user_id = %s AND embedding IS NOT NULL"


def run(model: str, turns: Sequence[Json]) -> dict[str, float]:
    """Figures of one model. A message of another user, which is not counted, loads it first."""
    port = free_port()
    with stack(embedding=model, metrics_port=str(port)) as stand:
        _publish(stand, events_of("warm", turns[:8]))
        before = _vectors(port)
        began = time.perf_counter()
        token = _publish(stand, events_of(USER, turns), settle=False)
        _await_vectors(stand, len(turns))
        complete = time.perf_counter() - began
        stand.settle(token, flush=True)
        settled = time.perf_counter() - began
        counts = {origin: count - before[origin] for origin, count in _vectors(port).items()}
    return {
        "messages/s, vector-complete": len(turns) / complete,
        "messages/s, settled": len(turns) / settled,
        "texts made, for each message": counts["made"] / len(turns),
        "share of repeats": 1 - counts["made"] / sum(counts.values()),
    }


def events_of(user: str, turns: Sequence[Json]) -> list[Json]:
    """Each turn as `message.added`, and the end of each session."""
    events: list[Json] = []
    for session, group in itertools.groupby(turns, key=lambda turn: turn["session"]):
        about, messages = {"session_id": f"{user}/{session}", "user_id": user}, list(group)
        for turn in messages:
            named = {"message_id": turn["id"], **{name: turn[name] for name in ("speaker", "role", "content")}}
            events.append({"event_type": "message.added", "time": turn["time"], "payload": {**about, **named}})
        events.append({"event_type": "session.ended", "time": messages[-1]["time"], "payload": about})
    return [{**event, "source": "bench"} for event in events]


def _publish(stand: Stand, events: Sequence[Json], *, settle: bool = True) -> str:
    token = ""
    for start in range(0, len(events), BATCH):
        token = str(stand.call("POST", "/v1/events", events[start : start + BATCH])["settle_token"])
    if settle:
        stand.settle(token, flush=True)
    return token


def _await_vectors(stand: Stand, count: int) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    with psycopg.connect(stand.admin_url, autocommit=True) as database:
        while (row := database.execute(WITH_VECTOR, (USER,)).fetchone()) is None or row[0] < count:
            if time.monotonic() > end:
                raise SystemExit(f"{row} of {count} vectors after {GIVE_UP_SECONDS} s")
            time.sleep(POLL_SECONDS)


def _vectors(port: int) -> dict[str, float]:
    """Vectors by origin, of all processes."""
    page = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=20).text
    families = [family for family in text_string_to_metric_families(page) if family.name == "imprint_vectors"]
    return {
        origin: sum(s.value for family in families for s in family.samples if s.labels.get("origin") == origin)
        for origin in ("made", "cached", "stored")
    }


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--models", nargs="+", default=["multilingual", "english"])
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    options = parser.parse_args()
    turns = [turn for talk in talks(options.locomo, 1, 1) for turn in talk.turns][: options.messages]
    for model in options.models:
        show(f"{__doc__.splitlines()[0] if __doc__ else ''} {model}", run(model, turns))


if __name__ == "__main__":
    main()

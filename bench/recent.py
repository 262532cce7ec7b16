"""The newest 100 messages of a session: from Redis with PostgreSQL's word for it, against PostgreSQL alone.

    python -m bench.recent [--messages 100] [--characters 300 1500] [--turns 300]

A cache is worth its place where the ratio is above 1. Two figures a size: `still`, where nothing was added since the
last time, and `turn`, where two messages were, as between two contexts of a conversation.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import SecretStr

from api.stack.broker import Broker
from bench.stand import database
from core.config import Settings
from core.events import parsing
from core.sessions import ingest, recent_messages
from core.sessions.recent_messages import EMPTY
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants

TENANT: Final = "bench"
CHARACTERS: Final = (300, 1500)


class Figure(NamedTuple):
    """Milliseconds at the median, with and without the cache."""

    characters: int
    kind: str
    cached_ms: float
    plain_ms: float


def run(messages: int = 100, characters: Sequence[int] = CHARACTERS, turns: int = 300) -> list[Figure]:
    """A figure for each size, printed as they come."""
    figures = []
    print(f"{'characters':>10} {'kind':>6} {'cached ms':>10} {'plain ms':>9} {'ratio':>6}")
    with database() as (settings, _), tempfile.TemporaryDirectory(prefix="imprint-bench-") as home:
        broker = Broker(Path(home), durable=False)
        own = settings.model_copy(update={"broker_url": SecretStr(broker.start()), "recent_messages": messages})
        app = db.connect(db.app_url(own), 2)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        for size in characters:
            for kind, added in (("still", 0), ("turn", 2)):
                shown = measure(app, own, kind, size, added, turns)
                figures.append(shown)
                ratio = shown.plain_ms / shown.cached_ms
                print(f"{size:>10} {kind:>6} {shown.cached_ms:>10.2f} {shown.plain_ms:>9.2f} {ratio:>6.2f}")
        app.close()
        broker.stop()
    return figures


def measure(app: Database, settings: Settings, kind: str, size: int, added: int, turns: int) -> Figure:
    """Both ways in turn, so that whatever else the machine does falls on both."""
    kept, session = recent_messages.on_broker(settings), f"{kind}-{size}"
    say(app, session, size, settings.recent_messages)
    kept.window(app, TENANT, session)
    cached, plain = [], []
    for _ in range(turns):
        say(app, session, size, added)
        cached.append(timed(lambda: kept.window(app, TENANT, session)))
        plain.append(timed(lambda: alone(app, session, settings.recent_messages)))
    kept.close()
    return Figure(size, kind, statistics.median(cached), statistics.median(plain))


def alone(app: Database, session: str, limit: int) -> None:
    with app.tenant(TENANT) as tx:
        recent_messages.read(tx, session, EMPTY, limit)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def say(app: Database, session: str, size: int, count: int) -> None:
    """Add messages of so many characters."""
    payload = {"session_id": session, "user_id": "ada", "role": "user", "content": "moved to Lisbon " * (size // 16)}
    spoken = [{"event_type": "message.added", "source": "bench", "payload": payload} for _ in range(count)]
    ingest.accept(app, TENANT, parsing.check(spoken))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--characters", type=int, nargs="+", default=list(CHARACTERS))
    parser.add_argument("--turns", type=int, default=300)
    given = parser.parse_args()
    run(given.messages, given.characters, given.turns)

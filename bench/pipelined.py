"""Several statements in one round trip: with the values written into them, and in psycopg's pipeline mode.

    python -m bench.pipelined [--known 2000] [--messages 300] [--questions 200] [--delay-ms 0.5]

Both ways answer the same questions in turn, each as often first: the statements that open a search, a whole search and
a whole context, in one process without HTTP; the vectors are known before. To replace the first way, the second must
take no more than 1.1 times as long. `--delay-ms` repeats the search through a relay that adds so much to each way of
the connection, as a database on another machine does.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, Final
from unittest import mock

import numpy as np
import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import URL

from bench.context import LIMIT, SESSION, question, talk
from bench.stand import database, show
from bench.write import TENANT, Bench, Prepared, fill, statement
from core.consolidation import pipeline
from core.context.builder import ContextDeps, ContextQuery, build
from core.index.resident import cache
from core.search import query
from core.search.query import Question
from core.storage import db, multiquery

DIMENSION: Final = 384
WARM: Final = 20
"""Questions before the clock runs."""

Statements = Sequence[tuple[TextClause, Mapping[str, object]]]
Work = Callable[[int], object]
WRITTEN: Final = multiquery.run_statements


def pipelined(
    driver: psycopg.Connection[Any], asked: Statements, meanwhile: Callable[[], object] | None = None
) -> list[list[Any]]:
    """`multiquery.answers` in pipeline mode; the driver sends BEGIN itself, ahead of the first statement."""
    with driver.pipeline():
        cursors = []
        for one, values in asked:
            sql = _sql(one)
            cursor = driver.cursor(row_factory=namedtuple_row)
            if sql not in {"BEGIN", "COMMIT"}:
                cursor.execute(sql, values)
            cursors.append((sql, cursor))
        if meanwhile is not None:
            meanwhile()  # All is sent: `execute` flushes, and the server works before the synchronisation at the end.
    return [
        [] if sql in {"BEGIN", "COMMIT"} or cursor.description is None else cursor.fetchall() for sql, cursor in cursors
    ]


@lru_cache(maxsize=256)
def _sql(one: TextClause) -> str:
    return str(one.compile(dialect=PGDialect_psycopg()))  # type: ignore[no-untyped-call]


def run(known: int, messages: int, questions: int, delay_s: float) -> dict[str, float]:
    texts = [statement(n) for n in range(known)] + [question(n) for n in range(questions + WARM)]
    vectors = np.random.default_rng(5).normal(size=(len(texts), DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    prepared = Prepared("random", DIMENSION, dict(zip(texts, vectors, strict=True)))
    figures = {"memories": float(known), "messages of the session": float(messages)}
    with database() as (settings, postgres), closing(db.connect(db.app_url(settings), 2)) as app:
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            fill(Bench(app, pipeline.from_settings(app, prepared, settings), admin), known)
            talk(app, messages)
            admin.execute("VACUUM ANALYZE")

        def asking(n: int) -> Question:
            return Question(question(n), "ada", limit=30)

        def opening(n: int) -> None:
            first = query._opening_queries(cache.of(app.engine), TENANT, asking(n), prepared)  # noqa: SLF001
            with app.asking(TENANT, *first.statements):
                pass

        reads = ContextDeps(app, prepared, settings)
        works: dict[str, Work] = {
            "statements that open a search": opening,
            "search": lambda n: query.search(app, TENANT, asking(n), prepared),
            "context": lambda n: build(reads, TENANT, ContextQuery("ada", None, SESSION, question(n), LIMIT)),
        }
        for name, work in works.items():
            figures |= in_turn(name, work, questions)
        with relayed(db.app_url(settings), delay_s) as url, closing(db.connect(url, 2)) as far:
            name = f"search, {delay_s * 1000:g} ms each way"
            figures |= in_turn(name, lambda n: query.search(far, TENANT, asking(n), prepared), questions)
    return figures


def in_turn(name: str, work: Work, questions: int) -> dict[str, float]:
    """Milliseconds of both ways for the same questions."""
    ways: dict[str, Any] = {"written": WRITTEN, "pipelined": pipelined}
    took: dict[str, list[float]] = {way: [] for way in ways}
    with mock.patch.object(multiquery, "run_statements", WRITTEN):
        work(0)  # Fills the cache by a stream of chunks, after which the driver cannot begin a pipeline.
    for n in range(questions + WARM):
        for way in ways if n % 2 else reversed(ways):
            with mock.patch.object(multiquery, "run_statements", ways[way]):
                began = time.perf_counter()
                work(n)
                took[way].append(1000 * (time.perf_counter() - began))
    medians = {way: statistics.median(times[WARM:]) for way, times in took.items()}
    tenths = {way: statistics.quantiles(times[WARM:], n=10)[0] for way, times in took.items()}
    shown = {f"{name}: {way}, p50, ms": ms for way, ms in medians.items()}
    shown |= {f"{name}: {way}, p10, ms": ms for way, ms in tenths.items()}
    shown[f"{name}: pipelined to written, p50 (1.1)"] = medians["pipelined"] / medians["written"]
    shown[f"{name}: pipelined to written, p10 (1.1)"] = tenths["pipelined"] / tenths["written"]
    return shown


@contextmanager
def relayed(url: URL, delay_s: float) -> Iterator[URL]:
    """The URL of a relay to the same database that holds back everything for so long in each direction."""
    address = (url.host or "127.0.0.1", url.port or 5432)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                far = socket.create_connection(address)
                for one in (client, far):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for source, sink in ((client, far), (far, client)):
                    threading.Thread(target=_carry, args=(source, sink, delay_s), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield url.set(host="127.0.0.1", port=server.getsockname()[1])


def _carry(source: socket.socket, sink: socket.socket, delay_s: float) -> None:
    """Pass everything on after the delay; what arrives meanwhile does not wait for it."""
    passing: SimpleQueue[tuple[float, bytes]] = SimpleQueue()

    def pass_on() -> None:
        while True:
            due, data = passing.get()
            time.sleep(max(0.0, due - time.perf_counter()))
            if not data:
                return sink.close()
            sink.sendall(data)

    threading.Thread(target=pass_on, daemon=True).start()
    while data := source.recv(1 << 20):
        passing.put((time.perf_counter() + delay_s, data))
    passing.put((time.perf_counter() + delay_s, b""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=2_000)
    parser.add_argument("--messages", type=int, default=300)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--delay-ms", type=float, default=0.5)
    asked = parser.parse_args()
    show(__doc__, run(asked.known, asked.messages, asked.questions, asked.delay_ms / 1000))


if __name__ == "__main__":
    main()

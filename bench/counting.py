"""What counting costs: transactions, searches and batches of statements with metrics and without, in turns.

    python -m bench.counting [--memories 1000] [--rounds 40]

To reach: at most 1.02 times the processor's time without. Metrics are kept in files, as where processes share a
listener; without, none of them runs, the older ones included. The processor's time is that of this process, without the
server's, in the quickest round. Searches and statements are those of a user with so many memories; vectors are
made in no time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

import psycopg
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy import text

from bench import arguments
from bench.stand import database, show
from bench.write import BATCH, TENANT, Bench, candidate, fill, judge_all, statement
from core.consolidation import pipeline
from core.inference.embedders import HashEmbedder
from core.memory.changes import Owner
from core.metrics import SHARED_FOLDER
from core.search.query import search
from core.search.question import Question
from core.storage import db

REPETITIONS: Final = {"transaction": 100, "search": 10, "batch of statements": 1}
"""How often each kind of work runs in a round."""

COUNTED: Final = ((Counter, "inc"), (Gauge, "set"), (Gauge, "inc"), (Gauge, "dec"), (Histogram, "observe"))


def run(memories: int, rounds: int) -> dict[str, float]:
    """Return for each kind of work the milliseconds of CPU time with and without counting, and their ratio."""
    with database() as (settings, postgres), psycopg.connect(postgres.admin_url, autocommit=True) as admin:
        app, embedder = db.connect(db.app_url(settings), 2), HashEmbedder()
        bench = Bench(app, pipeline.from_settings(app, embedder, settings), admin)
        fill(bench, memories)
        numbers = iter(range(memories, 100_000))

        def transaction() -> None:
            with app.tenant(TENANT) as tx:
                tx.execute(text("SELECT 1"))

        def one_search() -> None:
            search(app, TENANT, Question(statement(next(numbers) % memories), user_id="ada"), embedder)

        def batch() -> None:
            judge_all(bench.consolidation, Owner("ada"), [candidate(next(numbers)) for _ in range(BATCH)], BATCH)

        workloads = {"transaction": transaction, "search": one_search, "batch of statements": batch}
        figures: dict[str, float] = {}
        for kind, work in workloads.items():
            figures |= compared(kind, work, rounds)
        app.close()
    return figures


def compared(kind: str, work: Callable[[], None], rounds: int) -> Mapping[str, float]:
    """Return the CPU time of one repetition with counting and without, in milliseconds; each round in another order."""
    timings: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(REPETITIONS[kind]):
        work()
    for number in range(rounds):
        for is_counting in (number % 2 == 0, number % 2 == 1):
            with counting(on=is_counting):
                began = time.process_time()
                for _ in range(REPETITIONS[kind]):
                    work()
                timings[is_counting].append(1000 * (time.process_time() - began) / REPETITIONS[kind])
    counted, plain = min(timings[True]), min(timings[False])
    return {f"{kind}, ms": counted, f"{kind}, ms without": plain, f"{kind} (to reach: 1.02)": counted / plain}


@contextmanager
def counting(*, on: bool) -> Iterator[None]:
    """Let metrics count, or not."""
    with ExitStack() as stack:
        if not on:
            for kind, method in COUNTED:
                stack.enter_context(mock.patch.object(kind, method, _nothing))
            stack.enter_context(mock.patch.object(Counter, "labels", _itself))
            stack.enter_context(mock.patch.object(Histogram, "labels", _itself))
        yield


def _nothing(*_: Any, **__: Any) -> None:
    """Count nothing."""


def _itself(metric: Any, *_: Any, **__: Any) -> Any:
    return metric


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    if SHARED_FOLDER in os.environ:
        show("counting", run(options.memories, options.rounds))
        return
    with tempfile.TemporaryDirectory(prefix="imprint-metrics-") as folder:
        command = [sys.executable, "-m", "bench.counting", *sys.argv[1:]]
        subprocess.run(command, env={**os.environ, SHARED_FOLDER: folder}, check=True)


if __name__ == "__main__":
    main()

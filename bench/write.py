"""The write path: statements judged and committed a second by one worker, for a user who has 10,000 memories.

    python -m bench.write [--others 1000000] [--known 10000] [--candidates 1200] [--hashed] [--workers 2]

To reach: 800 a second in batches as the consolidator makes them, in 5 times the time of the floor, and beside 1,000,000
memories of others 0.7 of that.
Without a model for language; vectors are those of the local model, made before the clock runs and shown apart, or with
`--hashed` those of the tests' embedder, which are made in no time. The processor's time is that of the worker, without
the server's: it depends less than a rate on what else runs. Every tenth statement was said before. The floor is a bare
INSERT of as many rows with the same texts and vectors into a plain table, committed in the same batches. The others'
memories are copies of the user's, row by row for one after another, each with its row of the search index, without
history and evidence; there the user measured is one of them, so that their rows lie scattered over the whole table.
With `--workers 2`, two processes work at once for two users with as many memories, against one of them alone; to reach:
1.7 times as many statements a second. Each process is a new one, which has met none of the memories.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from typing import Final

import numpy as np
import psycopg
from numpy.typing import NDArray
from sqlalchemy import make_url

from bench import arguments
from bench.stand import database, show
from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.events.publishing import Author
from core.index.vector_notation import vector_literal
from core.inference.embedders import Embedder, HashEmbedder, Symmetric
from core.inference.local_embedder import LocalEmbedder
from core.memory import writer
from core.memory.changes import Add, Owner
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Candidate, Category, Evidence, Topic

BATCH: Final = 15
"""Statements of one extraction."""

SINGLE: Final = 8
"""For so many statements that come in batches, one comes alone."""

FILLED: Final = 500
TENANT: Final = "bench"
AUTHOR: Final = Author("memory_consolidator")
MORNING: Final = datetime(2026, 1, 1, 8, tzinfo=UTC)

DID: Final = (
    "bought a used bicycle from;had dinner with;planned a trip to the coast with;repaired an old radio with;"
    "lost a game of chess to;painted the kitchen with;borrowed a book about birds from;went hiking with;"
    "argued about politics with;cooked lasagne for;wrote a long letter to;sold the piano to;is learning Greek with;"
    "shares an office with;started a podcast with;adopted two cats together with;prefers to travel with;"
    "owes some money to;rehearses on Thursdays with;moved the wardrobe with;grows tomatoes with;met the mayor through;"
    "missed the last train because of;celebrated the new year with;is worried about;"
    "collects stamps like;translated a poem for;ran ten kilometres with;baked a walnut cake for;quit smoking thanks to"
).split(";")
WHO: Final = (
    "Bob;Carla;her sister;Dr. Chen;Marek;the neighbours;Ines;a colleague from Porto;Tom;her grandmother;Yusuf;"
    "the landlord;Professor Lindqvist;Kenji;an old school friend;Olga;the twins;her dentist;Nadia;Father Brown"
).split(";")
WHERE: Final = (
    "in Lisbon;near the old mill;at the harbour;in the garden;at the station;on the roof;in a small café;at work;"
    "in the mountains;by the river;at the library;in Sintra;at a wedding;in the hospital;on the night train"
).split(";")
WHEN: Final = (
    "in May;on a rainy Sunday;last autumn;before the concert;during the holidays;after the storm;in 2019;"
    "two weeks ago;on her birthday;every other Friday;at six in the morning;in the spring of 2024"
).split(";")


@dataclass(frozen=True, slots=True)
class Prepared(Symmetric):
    """Vectors that were made before."""

    name: str
    dimension: int
    vectors: dict[str, NDArray[np.float32]]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Bench:
    """Resources that the measurements share."""

    app: Database
    consolidation: Consolidation
    admin: psycopg.Connection


def statement(n: int) -> str:
    """The nth of 108,000 statements, neighbours unlike each other."""
    n = n * 7_919 % (len(DID) * len(WHO) * len(WHERE) * len(WHEN))
    n, did = divmod(n, len(DID))
    n, who = divmod(n, len(WHO))
    when, where = divmod(n, len(WHERE))
    return f"Ada {DID[did]} {WHO[who]} {WHERE[where]} {WHEN[when]}."


def candidate(n: int) -> Candidate:
    text = statement(n)
    at = MORNING + timedelta(minutes=n)
    return Candidate(
        text, Category.FACT, Topic.PERSONAL, "Ada", (Evidence(f"s{n // BATCH}", f"m{n}", f"e{n}", text),), at
    )


def run(memories: int, candidates: int, others: int, model: Embedder) -> dict[str, float]:
    """Rates a second, alone in the table and, if `others`, among so many memories of others."""
    rounds = 2 if others else 1
    texts = [statement(n) for n in range(memories + rounds * candidates)]
    began = time.perf_counter()
    vectors = model.embed(texts)
    embedded = len(texts) / (time.perf_counter() - began)
    prepared = Prepared(model.name, model.dimension, dict(zip(texts, vectors, strict=True)))
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            bench = Bench(app, pipeline.from_settings(app, prepared, settings), admin)
            fill(bench, memories)
            figures = {"memories of the user": float(memories), "embedding alone, texts/s": embedded}
            alone = measure(bench, Owner("ada"), memories, candidates)
            figures |= {f"alone in the table: {name}": value for name, value in alone.items()}
            if others:
                crowd(bench, memories, others)
                among = measure(bench, Owner("u7"), memories + candidates, candidates)
                figures |= {f"among {others:,} of others: {name}": value for name, value in among.items()}
                shares = {name: among[name] / alone[name] for name in among if "/s" in name and "floor" not in name}
                figures |= {f"of that alone (to reach: 0.7): {name}": share for name, share in shares.items()}
        both = 1 / (1 / alone["in batches, memories/s (to reach: 800)"] + 1 / embedded)
        app.close()
        return figures | {"alone in the table, embedding included, memories/s": both}


def run_workers(memories: int, candidates: int, workers: int, model: Embedder) -> dict[str, float]:
    """Statements a second of one process, and of several at once, each for a user of its own."""
    texts = [statement(n) for n in range(memories + 2 * candidates)]
    prepared = Prepared(model.name, model.dimension, dict(zip(texts, model.embed(texts), strict=True)))
    with database() as (settings, postgres):
        app, url = db.connect(db.app_url(settings), 2), db.app_url(settings).render_as_string(hide_password=False)
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            bench = Bench(app, pipeline.from_settings(app, prepared, settings), admin)
            for number in range(workers):
                fill(bench, memories, f"user{number}")
        app.close()
        single = at_once(url, prepared, memories, candidates, ["user0"])
        several = at_once(url, prepared, memories + candidates, candidates, [f"user{n}" for n in range(workers)])
    name = f"{workers} workers"
    return {
        "one worker, memories/s": single,
        f"{name}, memories/s": several,
        f"{name} (to reach: 1.7 of 2)": several / single,
    }


def at_once(url: str, prepared: Prepared, first: int, count: int, users: Sequence[str]) -> float:
    """Statements a second of processes that start together, until the last one has ended."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(len(users) + 1)
    processes = [context.Process(target=work, args=(url, prepared, first, count, user, ready)) for user in users]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("A worker has failed.")
    return len(users) * count / (time.perf_counter() - began)


def work(url: str, prepared: Prepared, first: int, count: int, user: str, ready: Barrier) -> None:
    """Judge and write the statements of one user in a process of its own."""
    app = db.connect(make_url(url), 2)
    consolidation = Consolidation(app, prepared)
    candidates = [candidate(n) if n % 10 else again(n - first) for n in range(first, first + count)]
    judge_all(consolidation, Owner(user), candidates[:BATCH], BATCH)
    ready.wait()
    judge_all(consolidation, Owner(user), candidates[BATCH:], BATCH)


def fill(bench: Bench, memories: int, user: str = "ada") -> None:
    """Give the user memories through the door, unjudged."""
    with bench.app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
    for start in range(0, memories, FILLED):
        mine = [candidate(n) for n in range(start, min(start + FILLED, memories))]
        vectors = bench.consolidation.embedder.embed([memory.content for memory in mine])
        adds = [Add(memory, "Filled in.", vector) for memory, vector in zip(mine, vectors, strict=True)]
        with bench.app.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, Owner(user), adds, AUTHOR)
    bench.admin.execute("VACUUM ANALYZE")


def crowd(bench: Bench, memories: int, others: int) -> None:
    """Give the memories to as many others as it takes; rows of one user lie far from each other."""
    for statement in (_COPIES, _MEMORIES, _INDEX):
        bench.admin.execute(statement, {"users": max(8, round(others / memories))})
    bench.admin.execute("VACUUM ANALYZE")
    bench.admin.execute("CHECKPOINT")


def measure(bench: Bench, owner: Owner, first: int, count: int) -> dict[str, float]:
    """Rates over statements that nobody has said yet, but every tenth."""
    candidates = [candidate(n) if n % 10 else again(n - first) for n in range(first, first + count)]
    # As in a chat, what comes alone is the latest; of a late message more would have to be asked.
    alone, batched = candidates[-(count // SINGLE) :], candidates[: -(count // SINGLE)]
    judge_all(
        bench.consolidation, owner, batched[:BATCH], BATCH
    )  # Connections and caches are those of a process at work.
    batched = batched[BATCH:]
    # As a worker's process does once it has imported what it needs: the collector looks at nothing older.
    gc.collect()
    gc.freeze()
    floor = rate(batched, lambda: insert_all(bench, batched, BATCH))
    busy = time.process_time()
    many = rate(batched, lambda: judge_all(bench.consolidation, owner, batched, BATCH))
    busy = time.process_time() - busy
    floor_one = rate(alone, lambda: insert_all(bench, alone, 1))
    single = rate(alone, lambda: judge_all(bench.consolidation, owner, alone, 1))
    return {
        "floor: bare INSERT in batches, rows/s": floor,
        "in batches, memories/s (to reach: 800)": many,
        "times the floor's time, in batches": floor / many,
        "processor, ms a statement": 1000 * busy / len(batched),
        "floor: bare INSERT one by one, rows/s": floor_one,
        "one at a time, memories/s": single,
    }


def again(n: int) -> Candidate:
    """Known statement, said in another session."""
    memory = candidate(n)
    return replace(memory, evidence=tuple(replace(evidence, session_id="again") for evidence in memory.evidence))


def judge_all(
    consolidation: Consolidation, owner: Owner, candidates: Sequence[Candidate], size: int, tenant: str = TENANT
) -> None:
    """Judge and write statements in batches of so many."""
    for start in range(0, len(candidates), size):
        decisions = pipeline.consolidate(consolidation, tenant, owner, candidates[start : start + size])
        with consolidation.db.tenant(tenant) as tx:
            writer.apply(tx, tenant, owner, decisions, AUTHOR)


def insert_all(bench: Bench, candidates: Sequence[Candidate], size: int) -> None:
    bench.admin.execute(_PLAIN)
    vectors = bench.consolidation.embedder.embed([candidate.content for candidate in candidates])
    rows = [
        (candidate.content, candidate.occurred_at, vector_literal(v))
        for candidate, v in zip(candidates, vectors, strict=True)
    ]
    for start in range(0, len(rows), size):
        with bench.admin.transaction(), bench.admin.cursor() as cursor:
            cursor.executemany(_INSERT, rows[start : start + size])


def rate(candidates: Sequence[Candidate], work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return len(candidates) / (time.perf_counter() - began)


_PLAIN = """
    DROP TABLE IF EXISTS plain;
    CREATE TABLE plain (id uuid PRIMARY KEY DEFAULT uuidv7(), content text, at timestamptz, embedding halfvec)
"""
_INSERT = "INSERT INTO plain (content, at, embedding) VALUES (%s, %s, %s::halfvec)"
_COPIES = """
    CREATE UNLOGGED TABLE copies AS
    SELECT uuidv7() AS id, m.id AS source, 'u' || n AS user_id
    FROM (SELECT id FROM memories ORDER BY id) AS m CROSS JOIN generate_series(1, %(users)s) AS n
"""
_MEMORIES = """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at, fade_half_life, fade_at)
    SELECT tenant_id, c.id, c.user_id, subject, kind, category, topic, content, statement_key, trust, status,
           occurred_at, fade_half_life, fade_at
    FROM copies c JOIN memories m ON m.id = c.source ORDER BY c.id
"""
_INDEX = """
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, occurred_at, terms, own_terms, embedding)
    SELECT tenant_id, type, session_id, c.id::text, c.user_id, occurred_at, terms, own_terms, embedding
    FROM copies c JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = c.source::text
    ORDER BY c.id
"""


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--known", type=int, default=10_000, help="memories of the user")
    parser.add_argument("--candidates", type=int, default=1_200, help="statements judged in each measurement")
    parser.add_argument("--others", type=int, default=1_000_000, help="memories of others; 0: none")
    parser.add_argument("--hashed", action="store_true", help="vectors of the tests' embedder")
    parser.add_argument("--workers", type=int, default=1, help="processes at once, each for a user of its own")
    options = parser.parse_args()
    model = HashEmbedder() if options.hashed else LocalEmbedder()
    if options.workers > 1:
        show(__doc__, run_workers(options.known, options.candidates, options.workers, model))
        return
    show(__doc__, run(options.known, options.candidates, options.others, model))


if __name__ == "__main__":
    main()

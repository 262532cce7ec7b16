"""A PostgreSQL full of memories to search: many users whose rows lie mingled, as they come when many live at once.

All goes in by COPY, without events and history, which no search reads.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
import psycopg

from api.stack.postgres import Postgres
from bench.search_said import Floats, Said, ids, nth_memory, sparse, vectors
from core.config import Settings
from core.index.answer_cues import count_stated_terms, tells_time
from core.index.bm25 import document_weights
from core.index.search_index import DOCUMENTS
from core.inference.local_models.catalog import MODELS
from core.memory import decay, identity
from core.memory.decay import Facts
from core.storage import db, schema
from core.tenancy import tenants

TENANT: Final = "default"
"""Of the key that a stack makes for itself."""

CITED: Final = 20
"""Memories for each message."""

SESSION: Final = 25
"""Messages of a session."""

CHUNK: Final = 20_000
"""Memories put in by one transaction."""

APART: Final = timedelta(seconds=5)
"""From one memory to the next, whosesoever it is."""

Rows = dict[str, list[tuple[object, ...]]]
"""By table."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Users who come at the same time, with how many memories each."""

    name: str
    users: Mapping[str, int]

    @property
    def memories(self) -> int:
        return sum(self.users.values())


@dataclass(frozen=True, slots=True)
class Filled:
    """A database that carries what `load` puts in. `sentences`: the vectors of what memories are made of."""

    settings: Settings
    postgres: Postgres
    admin: psycopg.Connection
    sentences: Floats


class Asked(NamedTuple):
    """A question about a user, with its vector, and that as SQL takes it."""

    user: str
    text: str
    vector: Floats
    literal: str


@contextmanager
def filled(home: Path, sentences: Floats) -> Iterator[Filled]:
    """The PostgreSQL of this folder, with all tables in it; what was loaded once is there again."""
    home.mkdir(parents=True, exist_ok=True)
    postgres = Postgres(home.absolute())
    postgres.start()
    try:
        settings = Settings(home=home, database_url=postgres.url)
        schema.upgrade(settings, (MODELS["local"].name, MODELS["local"].dimension))
        app = db.connect(db.app_url(settings), 1)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        app.close()
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            admin.execute(_LOADS)
            yield Filled(settings, postgres, admin, sentences)
    finally:
        postgres.stop(60)


def load(there: Filled, crowd: Crowd) -> None:
    """Put in what of a crowd is not there yet."""
    began = time.perf_counter()
    values = {"crowd": crowd.name, "lasts": APART * crowd.memories}
    there.admin.execute(_BEGIN, values)
    start, since = there.admin.execute(_STANDS, values).fetchone() or (0, None)
    if start == crowd.memories:
        return
    coming = _coming(crowd)
    for first in range(start, crowd.memories, CHUNK):
        with there.admin.transaction():
            there.admin.execute(_UNNOTED)
            _put(there, crowd, first, coming[first : first + CHUNK], since)
    for vacuum in ("VACUUM ANALYZE", "CHECKPOINT"):
        there.admin.execute(vacuum)
    print(f"{crowd.name}: {crowd.memories:,} memories in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def _coming(crowd: Crowd) -> list[tuple[str, int]]:
    """Order of the memories: the user of each, and which of theirs it is."""
    names = list(crowd.users)
    order = np.repeat(np.arange(len(names)), list(crowd.users.values()))
    np.random.default_rng([*crowd.name.encode()]).shuffle(order)
    counts = [itertools.count() for _ in names]
    return [(names[user], next(counts[user])) for user in order.tolist()]


def _put(there: Filled, crowd: Crowd, first: int, coming: Sequence[tuple[str, int]], since: datetime) -> None:
    chance = np.random.default_rng([*crowd.name.encode(), first])
    statements = [nth_memory(user, n) for user, n in coming]
    rows: Rows = {table: [] for table in COLUMNS}
    for at, (who, statement, vector) in enumerate(
        zip(coming, statements, vectors(there.sentences, statements, chance), strict=True)
    ):
        when, memory_id = since + APART * (first + at), _uuid7(since + APART * (first + at), chance)
        if who[1] % CITED == 0:
            _message(rows, who, crowd.users[who[0]], when, first + at, vector)
        _memory(rows, who, memory_id, when, statement, vector)
    for table, columns in COLUMNS.items():
        _copy(there.admin, table, columns, rows[table])
    whole = [user for user, n in coming if n + 1 == crowd.users[user]]
    for statement_ in (_COUNTS, _SESSIONS):
        there.admin.execute(statement_, {"tenant": TENANT, "users": whole})
    there.admin.execute(_LOADED, {"crowd": crowd.name, "loaded": first + len(coming)})


def _uuid7(when: datetime, chance: np.random.Generator) -> UUID:
    milliseconds = int(when.timestamp() * 1000)
    return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | int(chance.integers(1 << 62)))


def _memory(rows: Rows, who: tuple[str, int], memory_id: UUID, when: datetime, statement: Said, vector: bytes) -> None:
    user, n = who
    session, message = _place(n // CITED, user)
    key, fades = identity.statement_key("Ada", statement.content), CURVE.fade_at(when, decay.UNDER)
    kinds, stands, curve = (
        ("semantic", "fact", "personal"),
        ("confirmed", "active"),
        (CURVE.height, CURVE.half_life_days),
    )
    rows["memories"].append(
        (TENANT, memory_id, user, session, "Ada", *kinds, statement.content, key, *stands, *[when] * 3, *curve, fades)
    )
    rows["evidence"].append((TENANT, memory_id, session, message, f"{user}-{message}", statement.content, when))
    words = sparse(document_weights(statement.words)), ids(statement.words)
    rows["search_index"].append((TENANT, "memory", "", str(memory_id), 0, user, when, 0, False, *words, vector))


def _message(rows: Rows, who: tuple[str, int], of: int, when: datetime, seq: int, vector: bytes) -> None:
    user, n = who
    number, statement = n // CITED, nth_memory(user, n)
    session, message = _place(number, user)
    first = number // SESSION * SESSION
    last = min(first + SESSION - 1, (of - 1) // CITED)
    near, further = (
        [nth_memory(user, at * CITED).words for at in (number - reach, number + reach) if first <= at <= last]
        for reach in (1, 2)
    )
    position = number - first + 1
    rows["messages"].append(
        (TENANT, session, position, message, seq, f"{user}-{message}", user, "user", statement.content, when)
    )
    words = sparse(document_weights(statement.words, near, further)), ids(statement.words)
    says = count_stated_terms(statement.content), tells_time(statement.content)
    rows["search_index"].append((TENANT, "message", session, message, position, user, when, *says, *words, vector))


def _place(number: int, user: str) -> tuple[str, str]:
    """Session and id of a user's message."""
    return f"{user}-s{number // SESSION}", f"m{number}"


def _copy(
    admin: psycopg.Connection, table: str, columns: Mapping[str, str], rows: Sequence[tuple[object, ...]]
) -> None:
    with (
        admin.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as sink,
    ):
        sink.set_types(list(columns.values()))
        for row in rows:
            sink.write_row(row)


CURVE: Final = decay.FORMULAS["fading"](Facts(0.5, "fact"))

COLUMNS: Final = {
    table: dict(column.split() for column in columns.split(","))
    for table, columns in {
        "messages": """
            tenant_id text, session_id text, position int4, id text, event_seq int8, event_id text, user_id text,
            role text, content text, occurred_at timestamptz""",
        "memories": """
            tenant_id text, id uuid, user_id text, session_id text, subject text, kind text, category text, topic text,
            content text, statement_key text, trust text, status text, occurred_at timestamptz,
            recorded_at timestamptz, updated_at timestamptz, fade_height float8, fade_half_life float8,
            fade_at timestamptz""",
        "evidence": """
            tenant_id text, memory_id uuid, session_id text, message_id text, event_id text, quote text,
            at timestamptz""",
        "search_index": """
            tenant_id text, type text, session_id text, ref text, position int4, user_id text, occurred_at timestamptz,
            told int2, timed bool, terms bytea, own_terms int4[], embedding bytea""",
    }.items()
}
"""Types are those that a row's values are sent as: vectors go as the bytes that the server takes for them."""

_UNNOTED = "SET LOCAL session_replication_role = replica"
"""No trigger notes what changes: nothing of it is at hand anywhere yet."""

_LOADS = "CREATE TABLE IF NOT EXISTS bench_loads (crowd text PRIMARY KEY, loaded int, since timestamptz)"
_BEGIN = "INSERT INTO bench_loads VALUES (%(crowd)s, 0, now() - %(lasts)s) ON CONFLICT DO NOTHING"
_STANDS = "SELECT loaded, since FROM bench_loads WHERE crowd = %(crowd)s"
_LOADED = "UPDATE bench_loads SET loaded = %(loaded)s WHERE crowd = %(crowd)s"
_COUNTS = f"""
    INSERT INTO term_counts (tenant_id, owner, term, documents)
    SELECT tenant_id, 'user:' || user_id, term, count(*)
    FROM search_index CROSS JOIN LATERAL unnest(own_terms || {DOCUMENTS}) AS term
    WHERE tenant_id = %(tenant)s AND user_id = ANY(%(users)s) AND type = 'message'
    GROUP BY 1, 2, 3
"""
_SESSIONS = """
    INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, ended_at, message_count, extracted_to,
                          indexed_to)
    SELECT tenant_id, session_id, user_id, min(occurred_at), max(occurred_at), max(occurred_at), count(*), count(*),
           count(*)
    FROM search_index WHERE tenant_id = %(tenant)s AND user_id = ANY(%(users)s) AND type = 'message' GROUP BY 1, 2, 3
"""
"""Ended, so that no one has to be told that they are."""

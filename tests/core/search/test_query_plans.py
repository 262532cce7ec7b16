"""What searches ask of PostgreSQL when there are many users: by which plan, and with how many rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock
from uuid import UUID, uuid5

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from sqlalchemy import create_engine, text

from core.config import Settings
from core.index.bm25 import document_weights
from core.index.resident import filling
from core.index.search_index import sparse_literal
from core.index.vector_notation import vector_literal
from core.inference.embedders import Symmetric
from core.language.terms import term_id
from core.memory import nearest_vectors
from core.memory.as_of import Moment
from core.search import opening, query, uncached
from core.storage import db, kept_plans, schema
from core.storage.db import Database
from core.storage.kept_plans import Batch, KeptPlans
from core.tenancy import tenants
from tests.databases import analyzed, beside
from tests.questions import question as a_question
from tests.samples import TENANT

"""A database of 22,000 memories is made first, on whatever cores are left."""

DIMENSION = 16
NAMES = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LARGE = {f"large{n}": 500 for n in range(40)}
SMALL = {f"small{n}": 40 for n in range(20)}

TIMES = 20

UNTIL_PLANS_ARE_KEPT = 9
"""Searches in which a statement runs once as it is, is prepared, planned five times for its values, then for any."""

OWN = {
    "search_index": r"\b(user_id|group_id|ref) = ",
    "memories": r"\b(user_id|group_id|id) = ",
    "memory_versions": r"\bmemory_id = ",
    "evidence": r"\b(memory_id|message_id) = ",
}
"""The tables that are big, and what of an index leads to one owner's rows: the tenant alone would be everyone's."""

FEW = 40
"""Memories of each user that speak of tea; of some users they are all."""


@dataclass(frozen=True, slots=True)
class Pointing(Symmetric):
    """An embedder that answers one vector to everything."""

    vector: NDArray[np.float32]
    name: str = "pointing"
    dimension: int = DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.vector for _ in texts])


@dataclass(frozen=True, slots=True)
class Crowd:
    """The database, and what stands in it: each user's memories by id, with their vectors, those of tea first."""

    settings: Settings
    vectors: dict[str, dict[str, NDArray[np.float32]]]
    embedder: Pointing

    def nearest(self, user: str) -> set[str]:
        """By brute force."""
        mine = self.vectors[user]
        return set(sorted(mine, key=lambda ref: -float(mine[ref] @ self.embedder.vector))[:FEW])

    def of_tea(self, user: str) -> set[str]:
        return set(list(self.vectors[user])[:FEW])


@pytest.fixture(scope="module")
def crowd(upgraded: Settings) -> Iterator[Crowd]:
    """40 users of 500 memories and 20 of 40, whose rows lie mingled, in a database of their own."""
    chance = np.random.default_rng(6)
    coming = [user for user, count in {**LARGE, **SMALL}.items() for _ in range(count)]
    chance.shuffle(coming)
    vectors = unit(chance.standard_normal((len(coming), DIMENSION)))
    of: dict[str, dict[str, NDArray[np.float32]]] = {}
    rows = []
    for user, vector in zip(coming, vectors, strict=True):
        mine = of.setdefault(user, {})
        ref = str(uuid5(NAMES, f"{user} {len(mine)}"))
        words = "tea" if len(mine) < FEW else "bread"
        mine[ref] = vector
        rows.append({"ref": ref, "user": user, "words": f"{words}, {ref * 3}", "vector": vector_literal(vector)})
    with beside(upgraded) as own:
        schema.upgrade(own, ("hash", DIMENSION))
        fill(own, rows)
        yield Crowd(own, of, Pointing(unit(chance.standard_normal((1, DIMENSION)))[0]))


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    halves = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
    return np.asarray(halves, dtype=np.float32)


def fill(settings: Settings, rows: Sequence[dict[str, str]]) -> None:
    values = {"tenant": TENANT, "rows": json.dumps(rows), "at": NOON}
    for word in ("tea", "bread"):
        values |= {word: sparse_literal(document_weights([word])), f"{word}_id": term_id(word)}
    with closing(db.connect(db.app_url(settings), 1)) as app:
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
            tx.execute(text(MEMORIES), values)
        # A trigger of evidence joins memories: by the plan for an empty table it compares each with each, for minutes.
        analyzed(settings, "memories")
        with app.tenant(TENANT) as tx:
            for statement in (VERSIONS, EVIDENCE, INDEX):
                tx.execute(text(statement), values)
    owner = create_engine(db.owner_url(settings), isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        connection.execute(text("VACUUM ANALYZE"))
    owner.dispose()


Sent = list[tuple[str, Any]]


@contextmanager
def connected(settings: Settings, sent: Sent, **connecting: Any) -> Iterator[Database]:
    """One connection, which notes what is sent over it."""

    class Noting(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **how: Any) -> Any:
            sent.append((str(query), params))
            return super().execute(query, params, **how)

        def stream(self, query: Any, params: Any = None, **how: Any) -> Any:
            sent.append((str(query), params))
            return super().stream(query, params, **how)

    def noting(plans: KeptPlans, *asked: Any) -> Batch:
        batch = written(plans, *asked)
        sent.extend((sql.decode(), None) for sql in batch.sql)
        return batch

    written = KeptPlans.write
    connecting = {"prepare_threshold": None, "cursor_factory": Noting, **connecting}
    database = Database(create_engine(db.app_url(settings), pool_size=1, max_overflow=0, connect_args=connecting))
    with mock.patch.object(KeptPlans, "write", noting), mock.patch.object(kept_plans, "KEPT_SECONDS", 300):
        yield database
    database.close()


def found(database: Database, crowd: Crowd, user: str | None, **asked: Any) -> set[str]:
    fields = {"limit": FEW, "include": frozenset({"memories"}), **asked}
    answer = query.search(database, TENANT, a_question("tea", user, **fields), crowd.embedder)
    refs = [one.ranked.hit.key for one in answer.results]
    assert len(refs) == len(set(refs))
    return set(refs)


EVERYTHING = frozenset({"memories", "messages", "documents"})
ASKED: dict[str, dict[str, Any]] = {
    "hybrid": {"include": EVERYTHING},
    "keyword": {"method": "keyword"},
    "vector": {"method": "vector"},
    "of a session": {"session_id": "s1", "include": EVERYTHING},
    "of a time": {"since": NOON, "until": NOON, "kinds": ["semantic"]},
    "as of a time": {"moment": Moment(as_of=NOON), "include": EVERYTHING},
    "as known at a time": {"moment": Moment(known_at=NOON + timedelta(days=36_500)), "include": EVERYTHING},
    "of a group": {"group_id": "a group", "include": EVERYTHING},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED.keys())
def test_no_statement_of_a_search_walks_through_what_belongs_to_others(crowd: Crowd, asked: dict[str, Any]) -> None:
    sent: Sent = []
    with connected(crowd.settings, sent) as database:
        for user in ("large7", "large7", "small3"):  # Nothing cached, cached, and of another size.
            found(database, crowd, user, **asked)
        touch(crowd, next(iter(crowd.vectors["large7"])))
        for _ in range(UNTIL_PLANS_ARE_KEPT):
            found(database, crowd, "large7", **asked)
        with database.tenant(TENANT) as tx:
            scans = [scan for statement, values in [*sent] for scan in scanned(tx, statement, values)]
    assert {scan["Relation Name"] for scan in scans} >= {"search_index", "memories"}
    assert [scan for scan in scans if not bounded(scan)] == []


@pytest.mark.parametrize("most", [0, 5_000], ids=["the best of many", "all that pass"])
@pytest.mark.parametrize("asked", [*ASKED.values(), {"min_similarity": 0.1}], ids=[*ASKED.keys(), "as similar"])
def test_no_statement_of_an_answer_from_the_database_does_either(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], most: int
) -> None:
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(uncached, "READ_ALL", most)
    sent: Sent = []
    with connected(crowd.settings, sent) as database:
        for user in ("large7", "small3"):
            found(database, crowd, user, **asked)
            filling.FILLER.stop()
        with database.tenant(TENANT) as tx:
            scans = [scan for statement, values in [*sent] for scan in scanned(tx, statement, values)]
    assert {scan["Relation Name"] for scan in scans} >= {"search_index", "memories"}
    assert [(s["Relation Name"], s.get("Index Cond"), s.get("Filter")) for s in scans if not bounded(s)] == []


def touch(crowd: Crowd, memory_id: str) -> None:
    """Change a memory, so that what is at hand of its user is out of date."""
    with closing(db.connect(db.app_url(crowd.settings), 1)) as app, app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET importance = 1 - importance WHERE id = :id"), {"id": memory_id})


def scanned(tx: db.Tx, statement: str, values: Any) -> list[dict[str, Any]]:
    """What the plan of a statement reads of the tables that are big."""
    if not statement.startswith("EXECUTE") and not any(table in statement for table in OWN):
        return []
    driver = tx.connection.driver_connection
    assert driver is not None
    (plan,) = driver.execute(f"EXPLAIN (FORMAT JSON) {statement}", values).fetchall()[0]
    return [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") in OWN]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def bounded(scan: dict[str, Any]) -> bool:
    """Whether it reads by an index, and no more of it than belongs to someone."""
    condition = scan.get("Index Cond") or scan.get("Recheck Cond") or ""
    return re.search(OWN[scan["Relation Name"]], condition) is not None


@pytest.mark.parametrize(
    "connecting",
    [{}, {"prepare_threshold": 5}, {"prepare_threshold": 0, "options": "-c plan_cache_mode=force_generic_plan"}],
    ids=["as the service connects", "prepared after five times", "by plans that know no values"],
)
def test_all_of_the_right_rows_come_back_also_after_twenty_times(crowd: Crowd, connecting: dict[str, Any]) -> None:
    before = rows_walked_through(crowd)
    with connected(crowd.settings, [], **connecting) as database:
        for time in range(TIMES):
            for user in ("large7", f"large{time}", f"small{time}"):  # At hand from the last time, and read anew.
                assert found(database, crowd, user, method="vector") == crowd.nearest(user)
                assert found(database, crowd, user) == crowd.of_tea(user)
                with database.tenant(TENANT) as tx:
                    (near,) = nearest_vectors.nearest(tx, user, crowd.embedder.embed(["tea"]), 5)
                assert len(near) == len({str(one) for one, _ in near} & crowd.nearest(user)) == 5
        with database.tenant(TENANT) as tx:
            assert tx.execute(text("SELECT max(generic_plans) FROM pg_prepared_statements")).scalar_one()
            tx.execute(text("SELECT pg_stat_force_next_flush()"))
    assert rows_walked_through(crowd) == before


def rows_walked_through(crowd: Crowd) -> dict[str, int]:
    """How many rows of the big tables were read without an index, ever."""
    with closing(db.connect(db.app_url(crowd.settings), 1)) as app, app.queue() as tx:
        read = tx.execute(text("SELECT relname, seq_tup_read FROM pg_stat_user_tables")).all()
    return {row.relname: row.seq_tup_read for row in read if row.relname in OWN}


ROWS = 'json_to_recordset(cast(:rows AS json)) AS r (ref text, "user" text, words text, vector text)'

MEMORIES = f"""
    INSERT INTO memories (tenant_id, id, user_id, session_id, subject, kind, category, topic, content, statement_key,
                          trust, status, occurred_at)
    SELECT :tenant, ref::uuid, "user", 's1', 'Ada', 'semantic', 'fact', 'personal', words, ref, 'confirmed', 'active',
           :at
    FROM {ROWS}
"""
VERSIONS = """
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, snapshot)
    SELECT tenant_id, id, 1, 'add', 'It was said.', to_jsonb(m) FROM memories m
"""
EVIDENCE = """
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT tenant_id, id, user_id, 'm1', 'e1', content FROM memories
"""
INDEX = f"""
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, occurred_at, terms, own_terms, embedding)
    SELECT :tenant, 'memory', '', ref, "user", :at,
           cast(CASE left(words, 3) WHEN 'tea' THEN :tea ELSE :bread END AS sparsevec),
           ARRAY[CASE left(words, 3) WHEN 'tea' THEN :tea_id ELSE :bread_id END], vector::halfvec
    FROM {ROWS}
"""

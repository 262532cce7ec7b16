"""What searches, writes and upkeep cost in a store of many memories, in processor milliseconds and bytes, for
`bench.scale`.

Memories come by COPY, as `bench.search` fills its database. Users of `EACH` memories are measured while the number of
users grows, and users of other sizes beside them.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from api.stack import pg_program
from api.stack.postgres import DATABASE
from bench import processes, profile
from bench.accept import only_api
from bench.scale_flow import contents, difference
from bench.search import Bench, standing
from bench.search_clients import Client, served
from bench.search_data import TENANT, Asked, Crowd, Filled, load
from bench.search_said import SENTENCES, Floats
from bench.stand import Stand
from bench.write import AUTHOR, BATCH, Prepared, candidate, judge_all
from core.consolidation.pipeline import Consolidation
from core.inference.local_embedder import LocalEmbedder
from core.maintenance import sweeps
from core.memory.changes import Owner
from core.storage import db
from core.storage.db import Database

EACH: Final = 1_000
"""Memories of a user, while the number of users grows."""

PEOPLE: Final = {100: 20, 1_000: 10, 10_000: 2}
"""Users of each size who are asked about; of greater sizes there is one."""

COLD, WARM = 20, 120
"""First questions, and further ones, of one measurement; at the most."""

BATCHES: Final = 5
"""Batches of statements written for a user; a first one more, in which the process meets the memories."""

DUE: Final = 1_000
"""Memories that the sweep archives, at the most."""

SHARE_DEAD: Final = 10
"""One memory in so many is written anew before a vacuum."""

DUMPED: Final = 30_000
"""A store of more memories is not dumped: a dump of a million takes six minutes of a processor."""

QUIET_SECONDS: Final = 0.5
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """A filled database with its users, and the model that makes vectors."""

    there: Filled
    crowd: Crowd
    model: LocalEmbedder

    @property
    def server_seconds(self) -> float:
        """Processor seconds of PostgreSQL so far."""
        assert self.there.postgres.pid is not None
        return processes.tree_cpu_seconds(self.there.postgres.pid)


def by_total(
    home: Path, model: LocalEmbedder, sentences: Floats, totals: Sequence[int], done: Collection[int] = ()
) -> Iterator[Figures]:
    """Measure users of `EACH` memories each time that the store has grown to so many in all, but for those `done`."""
    users = dict[str, int]()
    if not totals:
        return
    with standing(home / "totals", Crowd("none", {}), sentences) as there:
        for total in totals:
            new = {f"u{number}": EACH for number in range(len(users), total // EACH)}
            users |= new
            load(there, Crowd(f"to{total}", new))
            if total in done:
                continue
            store = Store(there, Crowd("all", users), model)
            bytes_ = _most_of(contents(there.admin)["bytes"])
            spread = list(users)[:: max(1, len(users) // COLD)][:COLD]
            yield (
                {"total": total, "owner": EACH, "bytes": bytes_, "search": searched(store, spread)}
                | {"write": written(store, f"u{len(users) // 2}"), "upkeep": kept(store)}
            )


def _most_of(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the tables and indexes that are more than a thousandth of the whole; of the many others the sum."""
    whole = sum(sizes.values())
    large = {name: size for name, size in sizes.items() if 1000 * size > whole}
    return large | {"others": whole - sum(large.values())}


def by_owner(home: Path, model: LocalEmbedder, sentences: Floats, sizes: Sequence[int]) -> Iterator[Figures]:
    """Measure users of each size, who share one store."""
    if not sizes:
        return
    groups = {size: [f"s{size}-{number}" for number in range(PEOPLE.get(size, 1))] for size in sizes}
    crowd = Crowd("owners", {user: size for size, users in groups.items() for user in users})
    with standing(home / "owners", crowd, sentences) as there:
        store = Store(there, crowd, model)
        for size, users in groups.items():
            searching = searched(store, users)
            yield {"total": crowd.memories, "owner": size, "search": searching, "write": written(store, users[0])}


def searched(store: Store, users: Sequence[str]) -> Figures:
    """Return processor milliseconds of a search over HTTP: the first about each user, and further ones.

    About nobody: a question whose vector has to be made, and again, when it is known.
    """
    questions = Bench(store.there, store.crowd, store.model, 1).questions_about(users, WARM // len(users) + 1)
    first, rest = [some[0] for some in questions], [question for some in questions for question in some[1:]]
    with served(store.there, 1) as stand, only_api(stand), closing(Client(stand)) as client:
        meter = _Meter(store, stand)
        vector, repeated = (meter.of([*first, *rest], lambda question: client.embed(question.text)) for _ in range(2))
        held = processes.member_memory(stand.home, stand.pid)["api"]
        cold = meter.of(first, client.find)
        grown = processes.member_memory(stand.home, stand.pid)["api"] - held
        rows = sum(store.crowd.users[user] for user in users)
        warm = meter.of(rest, client.find)
    return {
        "about nobody": vector,
        "about nobody, again": repeated,
        "first": cold,
        "next": warm,
        "MB by first questions": grown,
        "memories of the users": rows,
    }


@dataclass(frozen=True, slots=True)
class _Meter:
    """Reads the processor's time of a stack on a store."""

    store: Store
    stand: Stand

    def of(self, questions: Sequence[Asked], work: Callable[[Asked], object]) -> Figures:
        """Return the milliseconds of each question, by process, also of what goes on after the answer."""
        before = self._read()
        for question in questions:
            work(question)
        while self._busy():
            continue
        after = difference(before, self._read())
        return {name: 1000 * after[name] / len(questions) for name in ("api", "postgres")} | {"number": len(questions)}

    def _read(self) -> dict[str, float]:
        members = processes.member_cpu_seconds(self.stand.home, self.stand.pid)
        return {"api": members["api"], "postgres": self.store.server_seconds}

    def _busy(self) -> bool:
        before = self._read()
        time.sleep(QUIET_SECONDS)
        return sum(difference(before, self._read()).values()) > QUIET_SECONDS / 10


def written(store: Store, user: str) -> Figures:
    """Return what judging and writing a statement costs this process and the server, in batches, with its vector."""
    now, count = datetime.now(UTC), BATCH * (BATCHES + 2)
    statements = [replace(candidate(SENTENCES + n), occurred_at=now) for n in range(count)]
    began = time.process_time()
    vectors = store.model.embed([statement.content for statement in statements])
    embedding = time.process_time() - began
    prepared = {statement.content: vector for statement, vector in zip(statements, vectors, strict=True)}
    batches = [statements[start : start + BATCH] for start in range(0, count, BATCH)]
    with closing(_app(store)) as app:
        work = Consolidation(app, Prepared(store.model.name, store.model.dimension, prepared))
        met = _spent(store, lambda: judge_all(work, Owner(user), batches[0], BATCH, TENANT), BATCH)
        several = [statement for batch in batches[1:-1] for statement in batch]
        rest = _spent(store, lambda: judge_all(work, Owner(user), several, BATCH, TENANT), len(several))
        trips = _round_trips(lambda: judge_all(work, Owner(user), batches[-1], BATCH, TENANT))
    return {"first batch": met, "next": rest, "embedding": 1000 * embedding / count, "round trips": trips / BATCH}


def _round_trips(work: Callable[[], object]) -> int:
    recorder = profile.Recorder(open=[("write", profile.PYTHON)])
    token = profile.NOW.set(recorder)
    try:
        with profile.instrumented():
            work()
    finally:
        profile.NOW.reset(token)
    return sum(recorder.trips.values())


def _spent(store: Store, work: Callable[[], object], number: int) -> Figures:
    """Return milliseconds of this process and of the server, and bytes of the log, for each of so many."""
    before, log = (time.process_time(), store.server_seconds), _wal(store)
    work()
    own, server = time.process_time() - before[0], store.server_seconds - before[1]
    wal = _wal(store) - log
    return {"client": 1000 * own / number, "postgres": 1000 * server / number, "wal bytes": wal / number}


def kept(store: Store) -> Figures:
    """Return processor milliseconds of upkeep: a sweep with nothing due, one with `DUE`, a vacuum, and a dump."""
    admin = store.there.admin
    due = min(DUE, store.crowd.memories // 20)
    with closing(_app(store)) as app:
        idle = _spent(store, lambda: _sweep(app), 1)
        admin.execute(_MAKE_DUE, {"tenant": TENANT, "due": due})
        busy = _spent(store, lambda: _sweep(app), due)
    admin.execute(_TOUCH, {"tenant": TENANT, "share": SHARE_DEAD})
    vacuum = _spent(store, lambda: admin.execute("VACUUM ANALYZE memories"), 1)
    dump = _dumped(store) if store.crowd.memories <= DUMPED else {}
    return {"sweep, nothing due": idle, "sweep, each due": busy, "vacuum of memories": vacuum, **dump}


def _dumped(store: Store) -> Figures:
    """Write a dump as `imprint backup` does; return processor milliseconds by process, and its bytes."""
    postgres = store.there.postgres
    with tempfile.TemporaryDirectory(dir=store.there.settings.home) as folder:
        target, before = Path(folder) / "dump", (_children_seconds(), store.server_seconds)
        pg_program.run(postgres, "pg_dump", "--format=custom", f"--file={target}", DATABASE)
        client, server = _children_seconds() - before[0], store.server_seconds - before[1]
        return {"dump": {"client": 1000 * client, "postgres": 1000 * server, "bytes": target.stat().st_size}}


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sweep(app: Database) -> None:
    archived = sweeps.PAGE
    while archived == sweeps.PAGE:
        with app.tenant(TENANT) as tx:
            archived = sweeps.archive_faded(tx, TENANT, AUTHOR, sweeps.PAGE)


def _wal(store: Store) -> int:
    row = store.there.admin.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


def _app(store: Store) -> Database:
    return db.connect(db.app_url(store.there.settings), 2)


_MAKE_DUE: Final = """
    UPDATE memories SET fade_at = now() - interval '1 hour' WHERE (tenant_id, id) IN (
        SELECT tenant_id, id FROM memories WHERE tenant_id = %(tenant)s AND status = 'active'
        ORDER BY hashtext(id::text) LIMIT %(due)s)
"""
_TOUCH: Final = """
    UPDATE memories SET fade_at = fade_at + interval '1 s'
    WHERE tenant_id = %(tenant)s AND status = 'active' AND hashtext(id::text) %% %(share)s = 0
"""

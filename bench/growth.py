"""Growth: accept, route, dispatch, trace and lists on an empty log, then beside many events and finished dispatches.

    python -m bench.growth                                    # a million of each, and a snapshot held for a minute
    python -m bench.growth --rows 10000000 --snapshot 600     # as the targets have it; takes half an hour
    python -m bench.growth --rows 0 --snapshot 0 --behind 300000   # a snapshot, and what 10 minutes at 500/s leave

With `--behind`, statements over 5,000 rows take events and dispatches through each of their states while the snapshot
is held; of each 5,000, three dispatches go the way of the service, and raise the bounds less often than it does.

To reach: 1.3 times the time on an empty log; and, while a REPEATABLE READ snapshot is held open, 2 times the time of a
dispatch without it. A dispatch is one turn with an agent that does nothing: claim, end, offer of the next one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import psycopg
from sqlalchemy import text

from api.http.log import trace
from bench import accept, arguments, route
from bench.pipeline import run_one
from bench.stand import database, timed
from core import logs
from core.config import Settings
from core.dispatches import queries as dispatch_queries
from core.dispatches.queries import DispatchFilter
from core.events import log, parsing
from core.inference.embedders import HashEmbedder
from core.sessions import ingest
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from rules.engine.similarity import Meanings
from workers import wiring
from workers.dispatch import fair_share, insertion
from workers.dispatch.model import Ledger, NewDispatch, Outcome
from workers.routing import router as routing
from workers.routing.router import Router

TENANT = route.TENANT
OTHER = "other"
AGENT = "memory_consolidator"
CHUNK = 250_000
ROUNDS = 15
STEP = 5_000
"""Dispatches that one statement takes from state to state."""

BURST = 20
"""Dispatches inserted at once and then run."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything in this process."""

    admin: psycopg.Connection
    app: Database
    router: Router
    ledger: Ledger


def run(rows: int, snapshot: float, rate: float, behind: int) -> None:
    with _bench() as here:
        empty = _measure(here)
        if rows:
            took = timed(lambda: _load(here.admin, rows))
            print(f"{rows:,} events and finished dispatches loaded in {took:.0f} s")
            _show("milliseconds", empty, _measure(here), "empty", f"{rows:,}")
        if snapshot:
            plain = _dispatch_for(here, snapshot, rate)
            with _snapshot(here):
                held = _dispatch_for(here, snapshot, rate)
            _show("dispatch, milliseconds", _ends(plain), _ends(held), "no snapshot", f"held {snapshot:.0f} s")
            print(f"  dispatches/s: {len(plain) / snapshot:.0f} without, {len(held) / snapshot:.0f} with the snapshot")
            print(f"  {here.admin.execute(_DEAD).fetchall()}")
        if behind:
            plain = _burst(here) + _burst(here) + _burst(here)
            with _snapshot(here):
                print(f"\n{behind:,} dispatches ended in {timed(lambda: _end(here, behind)):.0f} s")
                held = _burst(here) + _burst(here) + _burst(here)
            _show("dispatch, milliseconds", _ends(plain), _ends(held), "no snapshot", f"{behind:,}")


@contextmanager
def _snapshot(here: Bench) -> Iterator[None]:
    """Hold a snapshot open."""
    with psycopg.connect(here.admin.info.dsn, password=here.admin.info.password) as other:
        other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        other.execute("SELECT count(*) FROM tenants")
        yield


def _end(here: Bench, number: int) -> None:
    """Take so many events and dispatches through each of their states."""
    raising = replace(here.ledger.policy.shares, raises=1)
    for start in range(0, number, STEP):
        since = here.admin.execute("SELECT uuidv7(interval '-1 s')").fetchone()
        assert since is not None
        values = {"tenant": TENANT, "target": AGENT, "rows": STEP, "start": start, "since": since[0]}
        for statement in _STATES:
            here.admin.execute(statement, values)
        for _ in range(3):
            with here.router.db.queue() as tx:
                owed = fair_share.offer(tx, raising, insertion.insert_rows(tx, _new(tx, 1)))
            for dispatch in owed:
                run_one(here.ledger, TENANT, dispatch.id)
    here.admin.execute("ANALYZE events, dispatches")


@contextmanager
def _bench() -> Iterator[Bench]:
    with database(rules_poll_seconds=3600) as (settings, postgres):
        route._rules(settings)  # noqa: SLF001 - the same rules
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            _add_other(settings)
            app, router = db.connect(db.app_url(settings), 2), wiring.router(settings)
            work = replace(_ledger(settings), agents={AGENT: lambda _job: Outcome()})
            try:
                yield Bench(admin, app, router, work)
            finally:
                for pool in (app, router.db, work.db):
                    pool.close()


def _add_other(settings: Settings) -> None:
    """Add the tenant whose messages are accepted, and which has no rules."""
    application = db.connect(db.app_url(settings), 1)
    with application.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    application.close()


def _ledger(settings: Settings) -> Ledger:
    return wiring.ledger(settings, HashEmbedder())


def _measure(here: Bench) -> dict[str, float]:
    """Median milliseconds of each operation."""
    here.admin.execute("VACUUM ANALYZE events, dispatches, decisions")
    last = _routed_event(here)
    with here.app.tenant(TENANT) as tx:
        named = log.at(tx, last).id
    kinds: Mapping[str, Callable[[], float]] = {
        "accept 200 messages": lambda: _accept(here),
        "route 500 events": lambda: _route(here),
        "trace of an event": lambda: _trace(here, named),
        "events, newest 50": lambda: _list(here, log.find),
        "events of a user": lambda: _list(here, lambda tx: log.find(tx, user_id="u")),
        "dispatches, newest 50": lambda: _list(here, lambda tx: dispatch_queries.find(tx, DispatchFilter())),
    }
    medians = {name: statistics.median([work() for _ in range(ROUNDS)][2:]) for name, work in kinds.items()}
    return medians | {"dispatch": statistics.median(_burst(here) + _burst(here) + _burst(here))}


def _routed_event(here: Bench) -> int:
    """Route one batch, and return the position of an event that has dispatches."""
    _route(here)
    row = here.admin.execute("SELECT max(event_seq) FROM dispatches").fetchone()
    assert row is not None
    return int(row[0])


def _accept(here: Bench) -> float:
    batch = parsing.check(accept._batch())  # noqa: SLF001 - the same events

    def take() -> None:
        ingest.accept(here.app, OTHER, batch)

    took = 1000 * timed(take)
    here.admin.execute("UPDATE events SET routed_at = now() WHERE tenant_id = 'other' AND routed_at IS NULL")
    return took


def _route(here: Bench) -> float:
    with psycopg.connect(here.admin.info.dsn, password=here.admin.info.password) as connection:
        route._fill(connection)  # noqa: SLF001
    took = 1000 * timed(lambda: routing.route(here.router))
    here.admin.execute(_FINISH)
    return took


def _list(here: Bench, read: Callable[[db.Tx], object]) -> float:
    with here.app.tenant(TENANT) as tx:
        return 1000 * timed(lambda: read(tx))


def _trace(here: Bench, name: str) -> float:
    return 1000 * timed(lambda: trace.of(here.app, TENANT, name, Meanings(HashEmbedder())))


def _burst(here: Bench) -> list[float]:
    """Insert some dispatches and run them; return the milliseconds of each."""
    with here.router.db.queue() as tx:
        waiting = [dispatch.id for dispatch in insertion.insert(tx, _new(tx, BURST), here.ledger.policy.resend)]
    took = []
    while waiting:
        began = time.perf_counter()
        waiting += [dispatch.id for dispatch in run_one(here.ledger, TENANT, waiting.pop(0))]
        took.append(1000 * (time.perf_counter() - began))
    return took


def _new(tx: db.Tx, number: int) -> list[NewDispatch]:
    """Return dispatches on the last event."""
    row = tx.execute(_LAST, {"tenant": TENANT}).one()
    return [
        NewDispatch(
            tenant_id=TENANT,
            action_type="run_agent",
            target=AGENT,
            queue="cpu",
            params={},
            event_seq=row.seq,
            root_seq=row.seq,
            correlation_id="",
            hop=0,
            rule="rule_0",
        )
        for _ in range(number)
    ]


def _dispatch_for(here: Bench, seconds: float, rate: float) -> list[float]:
    """Run dispatches for so long, at most `rate` a second; return the milliseconds of each."""
    began, took = time.monotonic(), list[float]()
    while (now := time.monotonic()) < began + seconds:
        time.sleep(max(0.0, began + len(took) / rate - now))
        took += _burst(here)
    return took


def _ends(took: Sequence[float]) -> dict[str, float]:
    """Return medians of the first and the last tenth, and the p95 of the last."""
    tenth = max(20, len(took) // 10)
    last = took[-tenth:]
    p95 = statistics.quantiles(last, n=20)[-1]
    return {"first tenth, p50": statistics.median(took[:tenth]), "last, p50": statistics.median(last), "last, p95": p95}


def _load(admin: psycopg.Connection, rows: int) -> None:
    """Add routed events and finished dispatches, one of each for the other."""
    for start in range(0, rows, CHUNK):
        values = {"tenant": TENANT, "target": AGENT, "start": start, "end": min(rows, start + CHUNK)}
        admin.execute(_EVENTS, values)
        admin.execute(_DISPATCHES, values)


def _show(unit: str, before: Mapping[str, float], after: Mapping[str, float], first: str, second: str) -> None:
    print(f"\n{unit:28}{first:>14}{second:>14}{'ratio':>8}")
    for name, ms in before.items():
        print(f"  {name:26}{ms:14.2f}{after[name]:14.2f}{after[name] / ms:8.2f}")


_EVENTS = """
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, session_id, user_id,
                        correlation_id, routed_at)
    SELECT %(tenant)s, 'loaded-' || n, 'bench', 'order.placed', now() - n * interval '1 ms',
           jsonb_build_object('number', 99, 'user_id', 'u' || n %% 1000, 'text', repeat('x', 200)),
           's' || n / 20, 'u' || n %% 1000, 'loaded-' || n, now()
    FROM generate_series(%(start)s::bigint, %(end)s::bigint - 1) AS n
"""

_DISPATCHES = """
    INSERT INTO dispatches (tenant_id, event_seq, root_seq, rule, rule_version, action_type, target, queue, status,
                            attempt, created_at, started_at, ended_at, turn, result)
    SELECT %(tenant)s, seq, seq, 'rule_0', 1, 'run_agent', %(target)s, 'cpu', 'done', 1,
           now(), now(), now(), 'sent', '{}'
    FROM events WHERE tenant_id = %(tenant)s AND source = 'bench' AND id LIKE 'loaded-%%'
    ORDER BY seq DESC LIMIT %(end)s::bigint - %(start)s::bigint
"""

_STATES = (
    """
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, correlation_id)
    SELECT %(tenant)s, 'passed-' || n, 'bench', 'order.placed', now(), '{}', 'c'
    FROM generate_series(%(start)s + 1, %(start)s + %(rows)s) AS n
    """,
    """
    UPDATE events SET routed_at = now()
    WHERE tenant_id = %(tenant)s AND routed_at IS NULL AND seq > (SELECT max(seq) - %(rows)s FROM events)
    """,
    """
    INSERT INTO dispatches (tenant_id, event_seq, root_seq, rule, rule_version, action_type, target, queue, status,
                            turn)
    SELECT %(tenant)s, 1, 1, 'rule_0', 1, 'run_agent', %(target)s, 'cpu', 'pending', 'ready'
    FROM generate_series(1, %(rows)s)
    """,
    """
    UPDATE dispatches SET turn = 'sent', wake_at = clock_timestamp() + interval '10 s'
    WHERE id >= %(since)s AND status = 'pending' AND turn = 'ready'
    """,
    """
    UPDATE dispatches SET status = 'running', attempt = 1, lease = gen_random_uuid(), started_at = clock_timestamp(),
                          wake_at = clock_timestamp() + interval '30 s'
    WHERE id >= %(since)s AND status = 'pending' AND turn = 'sent'
    """,
    """
    UPDATE dispatches SET status = 'done', ended_at = clock_timestamp(), wake_at = NULL, lease = NULL, result = '{}'
    WHERE id >= %(since)s AND status = 'running'
    """,
)
"""The life of events and dispatches."""

_FINISH = """
    UPDATE dispatches SET status = 'done', ended_at = now(), wake_at = NULL
    WHERE status IN ('pending', 'running', 'retrying')
"""

_LAST = text("SELECT max(seq) AS seq FROM events WHERE tenant_id = :tenant")

_DEAD = "SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relname IN ('dispatches', 'events')"


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="events, and as many finished dispatches")
    parser.add_argument("--snapshot", type=float, default=60, help="seconds for which a snapshot is held; 0: none")
    parser.add_argument("--behind", type=int, default=0, help="dispatches that end while a snapshot is held; 0: none")
    parser.add_argument("--rate", type=float, default=500, help="most dispatches a second meanwhile")
    given = parser.parse_args()
    logs.configure("warning", "text", "bench")
    run(given.rows, given.snapshot, given.rate, given.behind)


if __name__ == "__main__":
    main()

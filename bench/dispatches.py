"""Dispatches from end to end: an event is routed, sent, claimed, run by an agent that does nothing, and done.

    python -m bench.dispatches
    python -m bench.dispatches --events 2000 --processes 4

To reach: 0.6 of the floor's rate. The floor is Celery alone: as many tasks that do nothing, sent in batches through the
same broker to the same processes of the same worker. Imprint's time runs from the first routed event, all being in the
log, until the last dispatch is done in the database.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import time
import uuid
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery

from api.stack.broker import Broker
from bench import arguments
from bench.stand import database, show, timed
from core import logs
from core.config import Settings
from core.storage import db
from core.tenancy import tenants
from rules.registry import store
from workers import app as celery_app
from workers import task, wiring
from workers.agents import table
from workers.dispatch import relay
from workers.dispatch.model import Job, Ledger, Outcome
from workers.routing.router import Turns

TENANT = "bench"
AGENT = "memory_consolidator"
NOTHING = "bench.nothing"
ROUNDS = 3
GIVE_UP_SECONDS = 120

RULE = {
    "name": "act",
    "event_type": "order.placed",
    "conditions": {"all": [{"field": "payload.number", "op": ">=", "value": 0}]},
    "actions": [{"action_type": "run_agent", "target": AGENT}],
}


def run(events: int = 1_000, processes: int = 2) -> dict[str, float]:
    """Rates a second, floor and Imprint in turns, and their ratio; the best round of each."""
    with database(rules_poll_seconds=3600, log_level="warning") as (settings, postgres), ExitStack() as last:
        broker = Broker(Path(settings.home), durable=False)
        broker.start()
        last.callback(broker.stop)
        _prepare(settings)
        queue = table.queues(settings)[AGENT]
        ended = multiprocessing.get_context("fork").Value("i", 0)
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(settings, broker.url, queue, processes, ended)
        )
        worker.start()
        last.callback(worker.join, 20)
        last.callback(worker.terminate)
        celery = celery_app.create(settings, broker.url)
        admin = last.enter_context(psycopg.connect(postgres.admin_url, autocommit=True))
        router = wiring.router(settings)
        last.callback(router.db.close)
        turns = Turns(router, partial(relay.send, celery), settings.poll_seconds)
        floor, service = [], []
        for _ in range(ROUNDS + 1):  # The first starts processes and connections.
            floor.append(events / timed(lambda: _floor(celery, queue, ended, events)))
            _fill(admin, events)
            service.append(events / timed(lambda: _service(turns, admin)))
    return {
        "floor: Celery tasks that do nothing, /s": max(floor[1:]),
        "dispatches, /s": max(service[1:]),
        "ratio (to reach 0.6)": max(service[1:]) / max(floor[1:]),
    }


def _prepare(settings: Settings) -> None:
    application = db.connect(db.app_url(settings), 1)
    with application.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        store.save(tx, TENANT, RULE, author="bench")
    application.close()


def _work(settings: Settings, broker_url: str, queue: str, processes: int, ended: Any) -> None:
    """Run a worker whose agent does nothing; everything else is as in production."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    wired = wiring.ledger

    def idle_ledger(*given: Any) -> Ledger:
        return replace(wired(*given), agents={AGENT: _nothing})

    wiring.ledger = idle_ledger  # type: ignore[assignment]
    celery = task.with_task(celery_app.create(settings, broker_url), settings)

    @celery.task(name=NOTHING, shared=False)  # type: ignore[untyped-decorator]
    def nothing() -> None:
        with ended.get_lock():
            ended.value += 1

    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=error"]
    celery.worker_main(["worker", "--pool=prefork", f"--queues={queue}", f"--concurrency={processes}", *quiet])


def _nothing(_job: Job) -> Outcome:
    return Outcome()


def _floor(celery: Celery, queue: str, ended: Any, count: int) -> None:
    expected, end = ended.value + count, time.monotonic() + GIVE_UP_SECONDS
    with celery.producer_pool.acquire(block=True) as producer:
        for _ in range(count):
            celery.send_task(NOTHING, queue=queue, producer=producer, retry=False)
    while ended.value < expected:
        _require_time(end)
        time.sleep(0.005)


def _service(turns: Turns, admin: psycopg.Connection) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    turns.expect()
    while turns.take() == 0.0:  # A real router asks again twice a second, and this one has heard of all there is.
        pass
    while admin.execute(_OPEN).fetchone() != (False,):
        _require_time(end)
        time.sleep(0.01)


def _require_time(end: float) -> None:
    if time.monotonic() > end:
        raise SystemExit(f"not done within {GIVE_UP_SECONDS} s")


def _fill(admin: psycopg.Connection, count: int) -> None:
    names = "tenant_id, id, source, event_type, time, payload, user_id, correlation_id"
    with admin.cursor() as cursor, cursor.copy(f"COPY events ({names}) FROM STDIN") as sink:
        for number in range(count):
            name, payload = uuid.uuid4().hex, json.dumps({"number": number, "user_id": "u"})
            sink.write_row((TENANT, name, "bench", "order.placed", "2026-11-21T10:00:00Z", payload, "u", name))


_OPEN = """
    SELECT EXISTS (SELECT FROM events WHERE routed_at IS NULL)
        OR EXISTS (SELECT FROM dispatches WHERE status IN ('pending', 'running', 'retrying'))
"""


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    logs.configure("warning", "text", "bench")
    show(__doc__, run(given.events, given.processes))


if __name__ == "__main__":
    main()

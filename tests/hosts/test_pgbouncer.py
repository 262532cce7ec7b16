"""PgBouncer in transaction mode: one server connection for the transactions of two tenants, of which many fail."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from psycopg import errors
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.cli.commands.host.checks.installation import STATEMENT_SECONDS, Installation
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from core.config import Settings
from core.storage import db
from core.storage.db import Database, Tx
from core.tenancy import tenants
from tests.hosts import bouncer
from tests.patience import wait_until
from tests.production import COMMANDS, wired
from tests.samples import TENANT, accept, said

pytestmark = [
    pytest.mark.skipif(bouncer.PROGRAM is None, reason="needs PgBouncer (`make hosts` installs it)"),
    pytest.mark.timeout(900),
]

OTHER = "globex"
CLIENTS = 8
"""Half of them for each tenant, each with one connection to the pooler."""

ROWS = text("SELECT tenant_id, count(*) AS rows FROM messages GROUP BY 1")
BOUND = text("""
    SELECT current_setting('imprint.tenant', true) AS tenant, current_setting('imprint.reader', true) AS reader
""")

BARE = """
    SELECT coalesce(current_setting('imprint.tenant', true), ''), coalesce(current_setting('imprint.reader', true), ''),
           current_setting('search_path'), current_setting('statement_timeout'),
           (SELECT count(*) FROM messages), (SELECT count(*) FROM pg_prepared_statements)
"""
"""What a transaction without a tenant finds: settings of others, their rows, their statements."""

NOTHING = ("", "", '"$user", public', "0", 0, 0)


@pytest.fixture
def through(settings: Settings) -> Iterator[Settings]:
    """Settings on a pooler with one connection to the server."""
    with bouncer.pooled(settings, 1) as own:
        with closing(db.connect(db.app_url(own), 1)) as app:
            for tenant in (TENANT, OTHER):
                with app.tenant(tenant) as tx:
                    tenants.ensure(tx, tenant)
                accept(app, said("first"), tenant=tenant)
        yield own


class _AbandonedError(Exception):
    """Ends a transaction before it is committed."""


@contextlib.contextmanager
def _cancelled(tx: Tx) -> Iterator[None]:
    timer = threading.Timer(0.02, db.driver_of(tx).cancel)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@dataclass
class Client:
    """A client of one tenant with its own connection. `done`: how often it did what; `said`: messages written."""

    settings: Settings
    tenant: str
    number: int
    done: Counter[str] = field(default_factory=Counter)
    said: int = 0

    def run(self, transactions: int) -> None:
        draw = Random(self.number)
        kinds: dict[Callable[[Database], None], int] = {
            self.read: 30, self.write: 15, self.ask: 15, self.stream: 10, self.fail: 10, self.abandon: 5,
            self.as_reader: 5, self.time_out: 3, self.cancel: 3, self.vanish: 2, self.look: 2,
        }  # fmt: skip
        with closing(db.connect(db.app_url(self.settings), 1)) as app:
            for act in draw.choices(list(kinds), list(kinds.values()), k=transactions):
                act(app)
                self.done[act.__name__] += 1

    def read(self, app: Database) -> None:
        with app.asking(self.tenant, (BOUND, {}), (ROWS, {})) as (tx, (bound, rows)):
            assert (bound[0].tenant, bound[0].reader) == (self.tenant, "*")
            assert [row.tenant_id for row in rows] == [self.tenant]
            assert [row.tenant_id for row in tx.execute(ROWS)] == [self.tenant]

    def write(self, app: Database) -> None:
        accept(app, said("text", id=f"c{self.number}-{self.said}", session=f"s{self.number}"), tenant=self.tenant)
        self.said += 1

    def ask(self, app: Database) -> None:
        (rows,) = app.ask(self.tenant, (ROWS, {}))
        assert [row.tenant_id for row in rows] == [self.tenant]

    def stream(self, app: Database) -> None:
        with app.tenant(self.tenant) as tx:
            rows = db.stream_rows(tx, "SELECT tenant_id FROM messages LIMIT %(limit)s", {"limit": 5}, 1)
            assert next(rows) == (self.tenant,)
            rows.close()

    def fail(self, app: Database) -> None:
        with pytest.raises(DBAPIError) as caught, app.asking(self.tenant, (text("SELECT 1 / :n"), {"n": 0})):
            pass
        assert isinstance(caught.value.orig, errors.DivisionByZero)

    def abandon(self, app: Database) -> None:
        with contextlib.suppress(_AbandonedError), app.tenant(self.tenant) as tx:
            self._update(tx)
            raise _AbandonedError

    def as_reader(self, app: Database) -> None:
        with app.as_reader({"secret"}).asking(self.tenant, (BOUND, {})) as (_, (bound,)):
            assert bound[0].reader == "secret"

    def time_out(self, app: Database) -> None:
        with pytest.raises(DBAPIError) as caught, replace(app, statement_seconds=0.02).tenant(self.tenant) as tx:
            tx.execute(text("SELECT pg_sleep(60)"))
        assert isinstance(caught.value.orig, errors.QueryCanceled)

    def cancel(self, app: Database) -> None:
        with pytest.raises(DBAPIError) as caught, app.tenant(self.tenant) as tx, _cancelled(tx):
            tx.execute(text("SELECT pg_sleep(60)"))
        assert isinstance(caught.value.orig, errors.QueryCanceled)

    def vanish(self, app: Database) -> None:
        with app.engine.connect() as tx:
            tx.exec_driver_sql("SELECT 1")  # The driver has begun a transaction.
            tx.exec_driver_sql(f"SELECT set_config('imprint.tenant', '{self.tenant}', true)")
            self._update(tx)
            db.driver_of(tx).pgconn.finish()
            tx.invalidate()

    def look(self, _: Database) -> None:
        """Look through the pooler as a client that has bound no tenant."""
        with closing(bouncer.raw(self.settings)) as connection:
            assert connection.execute(BARE).fetchone() == NOTHING

    def _update(self, tx: Tx) -> None:
        tx.execute(text("UPDATE messages SET content = 'never committed' WHERE tenant_id = :id"), {"id": self.tenant})


@pytest.mark.parametrize("transactions", [800, pytest.param(10_000, marks=pytest.mark.hosts)])
def test_no_setting_or_row_of_a_tenant_reaches_another_transaction(through: Settings, transactions: int) -> None:
    clients = [Client(through, (TENANT, OTHER)[number % 2], number) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        for running in [pool.submit(client.run, transactions // CLIENTS) for client in clients]:
            running.result()
    done = sum((client.done for client in clients), Counter[str]())
    assert done.total() == transactions
    assert min(done.values()) > 0
    assert len(done) == 11, "each kind of transaction has been run"
    with closing(db.connect(db.app_url(through), 1)) as app:
        for tenant in (TENANT, OTHER):
            written = 1 + sum(client.said for client in clients if client.tenant == tenant)
            (stored,), (wrong,) = app.ask(tenant, (ROWS, {}), (_UNCOMMITTED, {}))
            assert (stored.rows, wrong.rows) == (written, 0)


_UNCOMMITTED = text("SELECT count(*) AS rows FROM messages WHERE content = 'never committed'")


def test_a_setting_of_the_session_would_be_noticed(through: Settings) -> None:
    with closing(bouncer.raw(through)) as careless, closing(bouncer.raw(through)) as other:
        assert other.execute(BARE).fetchone() == NOTHING
        careless.execute("SELECT set_config('imprint.tenant', %s, false)", [TENANT])
        row: Any = other.execute(BARE).fetchone()
        assert (row[0], row[4]) == (TENANT, 1), "the other client sees the tenant's message"
        careless.execute("PREPARE kept AS SELECT 1")
        row = other.execute(BARE).fetchone()
        assert row[5] == 1


def test_a_statement_prepared_by_its_client_would_fail(through: Settings) -> None:
    """Why nothing is prepared behind a pooler: the name belongs to the server's process, which clients share."""
    with closing(bouncer.raw(through)) as careless, closing(bouncer.raw(through)) as other:
        careless.execute("PREPARE kept AS SELECT 1")
        with pytest.raises(errors.DuplicatePreparedStatement):
            other.execute("PREPARE kept AS SELECT 2")


def test_a_query_whose_client_has_gone_is_ended(through: Settings, app: Database) -> None:
    client = bouncer.raw(through)
    client.pgconn.send_query(b"SELECT pg_sleep(600)")
    wait_until(lambda: _sleeping(app) == 1)
    client.close()
    wait_until(lambda: _sleeping(app) == 0)


def test_doctor_reads_through_it(through: Settings) -> None:
    url, limit = db.app_url(through), text("SELECT current_setting('statement_timeout')")
    assert Installation(through).rows(limit, url)[0][0] == f"{STATEMENT_SECONDS}s"
    with pytest.raises(DBAPIError, match="read-only"):
        Installation(through).rows(text("DELETE FROM messages RETURNING id"), url)


@pytest.mark.hosts
def test_the_processes_work_through_it(tmp_path: Path) -> None:
    """One connection for each role: no process needs two at once to go on."""
    postgres, broker = Postgres(tmp_path, durable=False), Broker(tmp_path, durable=False)
    with contextlib.ExitStack() as last:
        last.callback(broker.stop)
        last.callback(postgres.stop)
        postgres.start()
        broker.start()
        production = wired(tmp_path, postgres.url, broker.url, "http://127.0.0.1:9/v1")
        production.environment["IMPRINT_EXTRACTOR"] = "offline"
        own = last.enter_context(bouncer.pooled(production.settings, 1))
        for name in ("database_app_url", "database_router_url"):
            production.environment[f"IMPRINT_{name.upper()}"] = getattr(own, name).get_secret_value()
        last.callback(production.stop)
        production.start(*COMMANDS)
        wait_until(production.ready, every=0.5)
        payload = {
            "session_id": "s1",
            "user_id": "ada",
            "role": "user",
            "speaker": "Ada",
            "content": "I live in Porto.",
        }
        ended = {"session_id": "s1", "user_id": "ada", "message_count": 1}
        events = [
            {"event_type": "message.added", "source": "test", "payload": payload},
            {"event_type": "session.ended", "source": "test", "payload": ended},
        ]
        production.settle(production.publish(*events))
        [memory] = production.api.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
        assert (memory["attribute"], memory["value"]) == ("home.city", "Porto")
        question = {"user_id": "ada", "query": "Where does Ada live?"}
        assert production.api.post("/v1/search", json=question).json()["results"]


def _sleeping(app: Database) -> int:
    ((row,),) = app.ask(TENANT, (_SLEEPING, {}))
    return int(row.number)


_SLEEPING = text("""
    SELECT count(*) AS number FROM pg_stat_activity
    WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'
""")

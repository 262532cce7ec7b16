"""Connections whose other end has gone without a word: each side notices, and lets go of what it holds."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from core.storage.db import Database
from core.tenancy import tenants
from tests.hosts import network
from tests.hosts.cluster import HostBroker, HostPostgres
from tests.hosts.network import Network
from tests.hosts.stream import figure
from tests.samples import TENANT
from workers import app as celery_app
from workers.dispatch import relay
from workers.dispatch.relay import DispatchRef

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(not network.POSSIBLE, reason="needs root, iproute2 and nftables (`make hosts` installs them)"),
    pytest.mark.timeout(600),
]

NOTICED_SECONDS = 60
"""Twice what the settings of the connections make it."""

UPDATE = text("UPDATE tenants SET allows_high_risk = false")


@dataclass(frozen=True, slots=True)
class Servers:
    network: Network
    settings: Settings


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with network.network("database", "broker", "here", "there") as hosts, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        postgres = HostPostgres(home / "database", hosts.addresses["database"])
        broker = HostBroker(home / "broker", hosts.addresses["broker"])
        try:
            for host, server in (("database", postgres), ("broker", broker)):
                server.home.mkdir()
                with hosts.inside(host):
                    server.start()
            settings = Settings(home=home, database_url=postgres.url, broker_url=broker.url, embedding="hash")
            with hosts.inside("here"):
                schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
                yield Servers(hosts, settings)
        finally:
            broker.stop()
            postgres.stop()


@pytest.fixture
def app(servers: Servers) -> Iterator[Database]:
    with closing(db.connect(db.app_url(servers.settings), 1)) as database:
        with database.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        yield database


def test_what_a_host_had_locked_is_free_soon_after_it_has_gone(servers: Servers, app: Database) -> None:
    locked, released = threading.Event(), threading.Event()

    def hold() -> None:
        with (
            servers.network.inside("there"),
            closing(db.connect(db.app_url(servers.settings), 1)) as far,
            contextlib.suppress(DBAPIError),
            far.tenant(TENANT) as tx,
        ):
            tx.execute(UPDATE)
            locked.set()
            released.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait()
    try:
        with servers.network.partitioned("there"):
            began = time.monotonic()
            with app.tenant(TENANT) as tx:
                tx.execute(text(f"SET LOCAL lock_timeout = '{NOTICED_SECONDS}s'"))
                tx.execute(UPDATE)
            figure("until what a vanished host had locked is free", time.monotonic() - began)
    finally:
        released.set()
        holder.join()


def test_whoever_waits_for_a_database_that_has_gone_learns_of_it(servers: Servers, app: Database) -> None:
    with servers.network.partitioned("database"):
        began = time.monotonic()
        with pytest.raises(DBAPIError):
            app.ask(TENANT, (text("SELECT 1"), {}))
        figure("until a query to a vanished database fails", time.monotonic() - began)
        assert time.monotonic() - began < NOTICED_SECONDS
    app.ask(TENANT, (text("SELECT 1"), {}))


def test_whoever_waits_for_an_answer_of_a_database_that_has_gone_learns_of_it(servers: Servers, app: Database) -> None:
    """Nothing is on its way to the server any more: only probes can notice."""
    failed: list[float] = []

    def wait() -> None:
        with servers.network.inside("here"), pytest.raises(DBAPIError), app.tenant(TENANT) as tx:
            tx.execute(text("SELECT pg_sleep(600)"))
        failed.append(time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(2)
    began = time.monotonic()
    with servers.network.partitioned("database"):
        waiting.join(NOTICED_SECONDS)
    assert failed
    figure("until whoever waits for an answer of a vanished database learns of it", failed[0] - began)


def test_a_broker_that_has_gone_does_not_hold_up_who_sends(servers: Servers) -> None:
    celery = celery_app.create(servers.settings, servers.settings.broker_url.get_secret_value())
    dispatch = DispatchRef(TENANT, "io", uuid4())
    assert relay.send(celery, [dispatch])
    with servers.network.partitioned("broker"):
        began = time.monotonic()
        assert not relay.send(celery, [dispatch])
        figure("until a send to a vanished broker is given up", time.monotonic() - began)
        assert time.monotonic() - began < NOTICED_SECONDS
    assert relay.send(celery, [dispatch])
    celery.close()

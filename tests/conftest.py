"""What all tests share: a real PostgreSQL, a real broker, and a clean database for each test that asks for one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from hypothesis import settings as properties
from sqlalchemy import create_engine, text

from api.stack.broker import Broker
from api.stack.postgres import Postgres
from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.tenancy import tenants
from rules.registry import store
from tests.doors import Doors, opened
from tests.samples import TENANT
from tests.works import Works, at_work


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the servers of this run of tests answer."""

    database_url: str
    broker_url: str


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """One PostgreSQL and one broker for the whole run."""
    home = tmp_path_factory.mktemp("servers")
    postgres, broker = Postgres(home, durable=False), Broker(home, durable=False)
    try:
        postgres.start()
        broker.start()
        yield Servers(postgres.url, broker.url)
    finally:
        broker.stop()
        postgres.stop()


@pytest.fixture(scope="session")
def upgraded(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings on those servers, with all tables there; vectors are hashed, so no model is loaded."""
    settings = Settings(
        home=tmp_path_factory.mktemp("home"),
        database_url=servers.database_url,
        broker_url=servers.broker_url,
        embedding="hash",
        lease_seconds=5,
        retry_base_seconds=0.1,
        metrics_port=0,
        webhook_private_networks=["127.0.0.0/8"],
    )
    schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
    return settings


@pytest.fixture
def settings(upgraded: Settings) -> Settings:
    """The settings, on a database with no rows but the tenant `acme` and its default rules."""
    owner = create_engine(db.owner_url(upgraded))
    names = ", ".join(["tenants", "heartbeats", "providers", *(table.name for table in TENANT_TABLES)])
    with owner.begin() as tx:
        tx.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
    owner.dispose()
    application = db.connect(db.app_url(upgraded), 1)
    with application.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        store.install_defaults(tx, TENANT)
    application.close()
    return upgraded


@pytest.fixture
def app(settings: Settings) -> Iterator[Database]:
    """The tenant-bound role."""
    database = db.connect(db.app_url(settings), 4)
    yield database
    database.close()


@pytest.fixture
def queue(settings: Settings) -> Iterator[Database]:
    """The router's role."""
    database = db.connect(db.router_url(settings), 4)
    yield database
    database.close()


@pytest.fixture
def works(settings: Settings) -> Iterator[Works]:
    """Router and workers, in this process."""
    with at_work(settings) as working:
        yield working


@pytest.fixture
def door(settings: Settings) -> Iterator[Doors]:
    """The HTTP door, in this process."""
    with opened(settings) as doors:
        yield doors


@pytest.fixture
def unique() -> str:
    """A word that occurs nowhere else."""
    return uuid.uuid4().hex


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return Path(__file__).parent.parent


os.environ.setdefault("OMP_NUM_THREADS", "1")
# Neither a busy machine nor the luck of the draw decides: no deadlines, and the same examples until a test changes.
# `pytest --hypothesis-profile=default` draws others each time.
properties.load_profile("ci")
# Tracebacks as they are: drawn with all local values, as structlog does by default, one takes seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(["event"]),
    ]
)

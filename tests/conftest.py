"""What all tests share: a real PostgreSQL, a real broker, and a clean database for each test that asks for one."""

from __future__ import annotations

import gc
import logging
import os
import signal
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import structlog
from hypothesis import settings as properties
from pydantic import SecretStr

from api.stack.broker import Broker
from api.stack.postgres import Postgres
from bench.standby import Standby, prompt
from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from core.storage.db import Database
from tests.doors import Doors, opened
from tests.initial import Initial
from tests.read_once import keep_what_is_read
from tests.shares import ByFile, late_files_behind_half
from tests.works import Works, at_work


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    late_files_behind_half(items)


def pytest_collection_finish() -> None:
    """What was imported lives as long as the process: the collector need not look at it again."""
    gc.freeze()
    gc.enable()


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the servers of this run of tests answer; `admin_url` is the superuser's."""

    database_url: str
    admin_url: str
    broker_url: str
    postgres: Postgres


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """One PostgreSQL and one broker for the whole run, or for each of several processes that run tests at once."""
    home = tmp_path_factory.mktemp("servers")
    postgres, broker = Postgres(home, durable=False), Broker(home, durable=False)
    try:
        postgres.start()
        _check_passwords_fast(postgres.admin_url)
        broker.start()
        yield Servers(postgres.url, postgres.admin_url, broker.url, postgres)
    finally:
        broker.stop()
        postgres.stop()


@pytest.fixture(scope="session")
def standby_server(servers: Servers, upgraded: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standby]:
    """A standby of that PostgreSQL, started for the first test that asks for it."""
    standby = Standby(tmp_path_factory.mktemp("standby"), servers.postgres)
    prompt(servers.admin_url)
    try:
        standby.start()
        yield standby
    finally:
        standby.stop()


@pytest.fixture
def standby(settings: Settings, standby_server: Standby) -> Standby:
    """The standby, which has replayed the state in which each test finds the database."""
    standby_server.catch_up()
    return standby_server


@pytest.fixture
def replicated(settings: Settings, standby: Standby) -> Settings:
    """The settings, with the standby as the replica for searches."""
    return settings.model_copy(update={"replica_url": SecretStr(standby.app_url(settings))})


@pytest.fixture
def copy(settings: Settings, standby: Standby) -> Iterator[Database]:
    """The tenant-bound role on the standby."""
    database = db.connect(db.driver_url(standby.app_url(settings)), 4)
    yield database
    database.close()


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


def _check_passwords_fast(admin_url: str) -> None:
    """Let passwords set from now on be hashed once, not 4096 times: each test connects several times."""
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET scram_iterations = 1")
        admin.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="session")
def initial(upgraded: Settings, servers: Servers) -> Iterator[Initial]:
    """The state in which each test finds the database."""
    state = Initial(upgraded, servers.admin_url)
    yield state
    state.close()


@pytest.fixture
def settings(upgraded: Settings, initial: Initial) -> Iterator[Settings]:
    """The settings, on a database with no rows but the tenant `acme` and its default rules."""
    initial.restore()
    yield upgraded
    assert initial.alone(), "The test left connections open, so what it started may write into the next one's database."


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


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Undo a test's logging configuration: a handler that outlives its test writes to a closed file in the next."""
    root = logging.getLogger()
    kept, handlers, level = structlog.get_config(), list(root.handlers), root.level
    yield
    structlog.configure(**kept)
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(autouse=True)
def environment_untouched() -> Iterator[None]:
    """Refuse a test, or what it ran in this process, that leaves the environment changed for those behind it."""
    before = _environment()
    yield
    assert _environment() == before


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@pytest.fixture
def unique() -> str:
    """A word that occurs nowhere else."""
    return uuid.uuid4().hex


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return Path(__file__).parent.parent


gc.disable()  # Until everything is imported: pytest_collection_finish.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A client of HTTP reads all certificates of the machine when it is made, for 20 ms. A worker of a parallel run and what
# it starts read one: they call this machine alone.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("SSL_CERT_FILE", str(Path(__file__).with_name("authority.pem")))
# A worker inherits the size that readline took for a terminal's in the process that started it.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
# A job in the background of a script inherits that Ctrl-C is ignored, and so would each process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Neither a busy machine nor the luck of the draw decides: no deadlines, and the same examples until a test changes.
# `pytest --hypothesis-profile=default` draws others each time, and twice as many: these prove the same in every run.
properties.register_profile("suite", properties.get_profile("ci"), max_examples=50)
properties.load_profile("suite")
keep_what_is_read()
# Tracebacks as they are: drawn with all local values, as structlog does by default, one takes seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(["event"]),
    ]
)

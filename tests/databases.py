"""Databases of a test's own, beside the one that all tests share; and what a database does to answer a statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from uuid import uuid4

from pydantic import SecretStr
from sqlalchemy import URL, NullPool, create_engine, text

from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from core.storage.db import Database, Tx
from core.tenancy import tenants
from core.types import Json
from tests.samples import TENANT


@contextmanager
def beside(settings: Settings) -> Iterator[Settings]:
    """Settings on an empty database of the same server; it is dropped afterwards."""
    url, name = db.owner_url(settings), f"t{uuid4().hex}"
    own = url.set(database=name).render_as_string(hide_password=False)
    _now(url, f"CREATE DATABASE {name}")
    try:
        yield settings.model_copy(update={"database_url": SecretStr(own)})
    finally:
        # Without FORCE, which fails where autovacuum is in it: so PostgreSQL ends that and waits for the others to go.
        _now(url, f"DROP DATABASE {name}")


@contextmanager
def copied(settings: Settings, source: Settings) -> Iterator[Settings]:
    """Settings on a copy of a database to which nobody is connected, as a backup would be restored."""
    url, name = db.owner_url(settings), f"t{uuid4().hex}"
    own = url.set(database=name).render_as_string(hide_password=False)
    _now(url, f"CREATE DATABASE {name} TEMPLATE {db.owner_url(source).database}")
    try:
        yield settings.model_copy(update={"database_url": SecretStr(own)})
    finally:
        _now(url, f"DROP DATABASE {name}")


@contextmanager
def filled(settings: Settings, fills: Iterable[str], values: Json) -> Iterator[tuple[Settings, Database]]:
    """Settings on such a database with all tables, and its application; the fills have run for the test's tenant."""
    with beside(settings) as own:
        schema.upgrade(own, (HashEmbedder().name, HashEmbedder().dimension))
        with closing(db.connect(db.app_url(own), 1)) as app:
            with app.tenant(TENANT) as tx:
                tenants.ensure(tx, TENANT)
                for fill in fills:
                    tx.execute(text(fill), {"tenant": TENANT, **values})
            yield own, app


def analyzed(settings: Settings, *tables: str) -> None:
    """Let the planner know what the tables hold, or all tables, as the server itself does after a minute.

    Until then it goes by what an earlier test held there, and by whether autovacuum came by meanwhile: a test that
    asks for a plan commits rows enough for a choice, and calls this.
    """
    _now(db.owner_url(settings), f"VACUUM ANALYZE {', '.join(tables)}")


def carried_out(tx: Tx, statement: str, values: Any = None) -> list[Json]:
    """The nodes of a statement's plan, as it was carried out."""
    (answer,) = tx.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"), values or {}).scalar_one()
    return nodes_of(answer["Plan"])


def nodes_of(plan: Json) -> list[Json]:
    """A node of a plan, and all that are under it."""
    return [plan, *(inner for part in plan.get("Plans", ()) for inner in nodes_of(part))]


def looked_at(nodes: list[Json], table: str) -> list[float]:
    """How many rows of a table each scan of it looked at, those included that it threw away."""
    scans = [node for node in nodes if node.get("Relation Name") == table]
    aside = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    return [scan["Actual Loops"] * sum(scan.get(name, 0) for name in ("Actual Rows", *aside)) for scan in scans]


def _now(url: URL, statement: str) -> None:
    """Carry out what no transaction may hold; the connection is gone even where it fails."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(statement))


def is_waited_for(app: Database) -> bool:
    """Whether a transaction waits for a lock that another one holds on an owner, a document's shelf or the like."""
    with app.tenant(TENANT) as tx:
        return bool(tx.execute(_WAITING).scalar_one())


_WAITING = text(
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory')"
)

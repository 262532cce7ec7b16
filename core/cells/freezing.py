"""Freezing a tenant: while it is moved, the service neither reads nor writes its rows.

A restrictive policy on every table hides them from both roles of the service, so no process needs to know. What a
worker had begun cannot be committed, as if the worker had died. Only a transaction that sets `imprint.moving` to the
tenant sees the rows. One tenant of a cell is frozen at a time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from psycopg import errors as driver_errors
from psycopg import sql
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from core.errors import Conflict
from core.storage.db import APP_ROLE, ROUTER_ROLE, Tx, driver_of
from core.storage.tables import TENANT_TABLES, tenants

POLICY: Final = "moving"

FACT: Final = "moving"
"""Row of `deployment` that says which tenant is frozen, and how far it is."""

BEYOND_DEADLOCK_MS: Final = 500
"""Longest wait for the locks of all tables, beyond deadlock_timeout: those who come meanwhile wait behind it.

Only after deadlock_timeout does PostgreSQL cancel an autovacuum that is in the way.
"""

LOCK_TRIES, PAUSE_SECONDS = 6, 5
"""Attempts at the locks, and the time between: a transaction that is open for long, such as a dump, must end first."""

_BUSY: Final = (driver_errors.QueryCanceled, driver_errors.LockNotAvailable, driver_errors.DeadlockDetected)

State = Literal["copying", "copied"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """The frozen tenant of a cell. `copied`: another cell has it. `seconds`: since it was frozen."""

    tenant_id: str
    state: State
    seconds: float = 0


def read(tx: Tx) -> Frozen | None:
    """Return which tenant of this cell is frozen; None: none is."""
    row = tx.execute(_READ, {"name": FACT}).one_or_none()
    return None if row is None else Frozen(row.tenant_id, row.state, row.seconds)


def freeze(owner: Engine, tenant_id: str) -> None:
    """Hide a tenant from the service, in one transaction. Conflict: another one is frozen, or tables stay locked."""
    with locked(owner) as tx:
        frozen = read(tx)
        if frozen is not None and frozen.tenant_id != tenant_id:
            raise Conflict(f"The tenant {frozen.tenant_id!r} is being moved. Finish that first.")
        if frozen is not None:
            return
        for table, column in _COLUMNS.items():
            _execute(tx, _CREATE, table=sql.Identifier(table), column=sql.Identifier(column), tenant=tenant_id)
        tx.execute(_NOTE, {"name": FACT, "tenant": tenant_id})


def thaw(tx: Tx) -> None:
    """Show the frozen tenant to the service again, in a transaction of `locked`."""
    for table in _COLUMNS:
        _execute(tx, _DROP, table=sql.Identifier(table))
    tx.execute(text("DELETE FROM deployment WHERE name = :name"), {"name": FACT})


def mark_copied(tx: Tx, tenant_id: str) -> None:
    """Note that another cell has the frozen tenant, as the owner. Conflict: it is not frozen."""
    if tx.execute(_COPIED, {"name": FACT, "tenant": tenant_id}).rowcount != 1:
        raise Conflict(f"The tenant {tenant_id!r} is not frozen any more, but the other cell has a copy of it.")


def look_into(tx: Tx, tenant_id: str) -> None:
    """Let a transaction of the frozen tenant see its rows."""
    tx.execute(text("SELECT set_config('imprint.moving', :tenant, true)"), {"tenant": tenant_id})


@contextlib.contextmanager
def locked(owner: Engine) -> Iterator[Tx]:
    """Open a transaction of the owner in which nobody else uses a table of tenants. Conflict: they are in use."""
    tables = ", ".join(_COLUMNS)
    with patiently(owner, f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE") as tx:
        yield tx


@contextlib.contextmanager
def patiently(owner: Engine, locking: str) -> Iterator[Tx]:
    """Open a transaction with a statement that waits for a lock, again where that takes too long. Conflict: always."""
    for tries_left in reversed(range(LOCK_TRIES)):
        with owner.connect() as tx:
            try:
                tx.execute(_WAIT, {"beyond": BEYOND_DEADLOCK_MS})
                tx.execute(text(locking))
            except OperationalError as error:
                if not isinstance(error.orig, _BUSY):
                    raise
                if not tries_left:
                    raise Conflict("A transaction has been open for long, such as a dump. Try again later.") from error
            else:
                tx.execute(text("SET LOCAL statement_timeout = 0"))
                yield tx
                tx.commit()
                return
        time.sleep(PAUSE_SECONDS)


def _execute(tx: Tx, statement: sql.SQL, **parts: sql.Composable | str) -> None:
    composed = {name: sql.Literal(part) if isinstance(part, str) else part for name, part in parts.items()}
    with contextlib.closing(driver_of(tx).cursor()) as cursor:
        cursor.execute(statement.format(**composed))


_COLUMNS: Final = {tenants.name: "id"} | {table.name: "tenant_id" for table in TENANT_TABLES}
"""The column of each table that names the tenant."""

_CREATE: Final = sql.SQL(
    f"CREATE POLICY {POLICY} ON {{table}} AS RESTRICTIVE TO {APP_ROLE}, {ROUTER_ROLE} "
    "USING ({column} <> {tenant} OR current_setting('imprint.moving', true) = {tenant})"
)

_DROP: Final = sql.SQL(f"DROP POLICY IF EXISTS {POLICY} ON {{table}}")

_WAIT: Final = text("""
    SELECT set_config('statement_timeout', (setting::int + :beyond)::text, true)
    FROM pg_settings WHERE name = 'deadlock_timeout'
""")

_NOTE: Final = text("""
    INSERT INTO deployment (name, value) VALUES (:name, jsonb_build_object(
        'tenant', cast(:tenant AS text), 'state', 'copying', 'since', extract(epoch FROM clock_timestamp())))
""")

_COPIED: Final = text("""
    UPDATE deployment SET value = jsonb_set(value::jsonb, '{state}', '"copied"')
    WHERE name = :name AND value::jsonb ->> 'tenant' = :tenant
""")

_READ: Final = text("""
    SELECT value::jsonb ->> 'tenant' AS tenant_id, value::jsonb ->> 'state' AS state,
           (extract(epoch FROM clock_timestamp()) - (value::jsonb ->> 'since')::numeric)::float8 AS seconds
    FROM deployment WHERE name = :name
""")

"""Moving a tenant to another cell: frozen, copied in one transaction, compared, and later deleted where it was.

    freeze (source, committed) → copy and compare (target, one transaction) → the door is switched → remove (source)

Between two commits a crash leaves the tenant frozen in the source, which `copy` recognizes when it is called again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

import psycopg
from sqlalchemy import Engine, Table, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from core.cells import freezing, positions, rows
from core.cells.freezing import Frozen
from core.errors import Conflict, NotFound
from core.storage import db, schema_version, vector_spaces
from core.storage.db import Database, Tx
from core.tenancy import tenants


@dataclass(frozen=True, slots=True)
class Cell:
    """The database of a cell, as its owner and as the application."""

    owner: Engine
    app: Database


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied: rows by table, and whether positions in the stream of events go on in the target."""

    rows: Mapping[str, int]
    keeps_positions: bool


@contextlib.contextmanager
def opened(owner: URL, app: URL) -> Iterator[Cell]:
    """Open a cell by the URLs of both roles."""
    cell = Cell(create_engine(owner, hide_parameters=True), db.connect(app, 1))
    try:
        yield cell
    finally:
        cell.app.close()
        cell.owner.dispose()


def copy(source: Cell, target: Cell, tenant_id: str, note: Callable[[str], None] = lambda _: None) -> Copied | None:
    """Copy a tenant; it stays frozen in the source. None: an earlier call had done so. `note`: is told each table.

    Raises:
        NotFound: the source does not have the tenant.
        Conflict: the cells differ in version or embedding model, the target has such a tenant, a rebuild is open,
            another tenant is being moved, it was copied elsewhere, or the copy differs. The tenant is as it was before.

    An error has a note if the tenant could not be served again and is still frozen.
    """
    with _alone(source):
        return _copy_or_find(source, target, tenant_id, note)


def cancel(source: Cell, target: Cell | None, tenant_id: str) -> None:
    """Let the source serve a tenant again whose copy did not come to its end. Conflict: the target has it.

    `target`: None if it is lost for good. Should it come back with the tenant, both would have it.
    """
    with _alone(source):
        _require_not_copied(source, tenant_id)
        if target is not None and _has(target, tenant_id):
            raise Conflict(f"The other cell has {tenant_id!r} already. Switch the door, then remove it here.")
        _require_frozen(source, tenant_id)
        _thaw(source)


def remove(source: Cell, tenant_id: str, longest_request_s: float = 0) -> int:
    """Delete a tenant that was copied; return the number of its rows.

    `longest_request_s`: so long the tenant stays frozen at least. A request that was admitted before would otherwise be
    accepted afterwards, and lost.

    Conflict: it was not copied, or is not frozen for so long.
    """
    with _alone(source):
        return _remove(source, tenant_id, longest_request_s)


@contextlib.contextmanager
def _alone(source: Cell) -> Iterator[None]:
    """Keep other moves away from the source. Conflict: one is running."""
    with source.owner.connect().execution_options(isolation_level="AUTOCOMMIT") as session:
        if not session.execute(_LOCK).scalar_one():
            raise Conflict("Another `imprint tenant copy` or `remove` is running in this cell. Wait for its end.")
        try:
            yield
        finally:
            # A session that was lost has lost its lock as well, and the first error is the one to be seen.
            with contextlib.suppress(SQLAlchemyError):
                session.execute(_UNLOCK)


def _copy_or_find(source: Cell, target: Cell, tenant_id: str, note: Callable[[str], None]) -> Copied | None:
    _require_alike(source, target)
    if _is_copied(source, target, tenant_id):
        _mark_copied(source, tenant_id)
        return None
    _require_not_copied(source, tenant_id)
    _require_movable(source, tenant_id)
    with source.owner.connect() as tx:
        newest = positions.newest_transaction(tx)
    keeps = positions.lead_transactions(target.owner, newest + positions.BATCH)
    freezing.freeze(source.owner, tenant_id)
    try:
        copied = _copy(source, target, tenant_id, note, keeps=keeps)
    except BaseException as error:
        _take_back(source, target, tenant_id, error)
        raise
    _mark_copied(source, tenant_id)
    return copied


def _take_back(source: Cell, target: Cell, tenant_id: str, error: BaseException) -> None:
    """Serve the tenant in the source again after an error, which gets a note if that cannot be."""
    try:
        # A commit whose answer was lost may have happened: then the tenant must not come alive here again.
        if not _has(target, tenant_id):
            _thaw(source)
            return
        reason = "the other cell has it"
    except (Conflict, SQLAlchemyError, psycopg.Error) as second:
        reason = str(second).partition("\n")[0]
    error.add_note(f"{tenant_id!r} is still frozen: {reason}. Run `imprint tenant copy` again, or with `--cancel`.")


def _thaw(source: Cell) -> None:
    with freezing.locked(source.owner) as tx:
        freezing.thaw(tx)


def _remove(source: Cell, tenant_id: str, longest_request_s: float) -> int:
    frozen = _require_frozen(source, tenant_id)
    if frozen.state != "copied":
        raise Conflict(f"The copy of {tenant_id!r} has not come to its end. Run `imprint tenant copy` again.")
    if (left := longest_request_s - frozen.seconds) > 0:
        raise Conflict(f"Requests from before the copy may still be running. Remove it in {ceil(left)} seconds.")
    with source.app.tenant(tenant_id) as tx:
        freezing.look_into(tx, tenant_id)
        count = rows.delete(tx, tenant_id)
    with freezing.locked(source.owner) as tx:
        freezing.thaw(tx)
        # The application may not delete a tenant, and the table's policies hold for its owner as well.
        tx.execute(text("ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY"))
        tx.execute(text("DELETE FROM tenants WHERE id = :tenant"), {"tenant": tenant_id})
        tx.execute(text("ALTER TABLE tenants FORCE ROW LEVEL SECURITY"))
    return count


def _copy(source: Cell, target: Cell, tenant_id: str, note: Callable[[str], None], *, keeps: bool) -> Copied:
    with source.owner.connect() as tx:
        highest, newest = positions.highest_seq(tx), positions.newest_transaction(tx)
    positions.lead_seqs(target.owner, highest)
    keeps = keeps and positions.lead_transactions(target.owner, newest)
    with source.app.snapshot(tenant_id, 0) as reading, target.app.tenant(tenant_id) as writing:
        freezing.look_into(reading, tenant_id)
        for tx in (reading, writing):
            rows.fix_formats(tx)
        counts = {
            table.name: _copy_table(reading, writing, table, tenant_id, note, keeps=keeps) for table in rows.COPIED
        }
        writing.execute(_HAND_OUT_AGAIN, {"tenant": tenant_id})
    return Copied(counts, keeps)


def _copy_table(
    reading: Tx, writing: Tx, table: Table, tenant_id: str, note: Callable[[str], None], *, keeps: bool
) -> int:
    """Copy a table and compare both sides; return the number of rows. Conflict: they differ."""
    note(table.name)
    read_as = {} if keeps else rows.AT_THE_BEGINNING.get(table.name, {})
    rows.copy(reading, writing, table, tenant_id, read_as)
    was, has = (rows.digest(tx, table, tenant_id, read_as) for tx in (reading, writing))
    if was != has:
        raise Conflict(f"The copy of {table.name} differs: {has.rows} rows of {was.rows}. Nothing was moved.")
    return was.rows


def _require_alike(source: Cell, target: Cell) -> None:
    versions, models = list[object](), list[object]()
    for cell in (source, target):
        with cell.owner.connect() as tx:
            current, newest = schema_version.version(tx)
            versions += [current, newest]
            models.append(vector_spaces.models_by_place(tx))
    if len(set(map(str, versions))) > 1:
        raise Conflict(
            f"The cells are at migrations {versions[0]} and {versions[2]}: run `imprint db upgrade` in both."
        )
    if models[0] != models[1]:
        raise Conflict("The cells have different embedding models. Change one first: `imprint memory reembed`.")


def _require_movable(source: Cell, tenant_id: str) -> None:
    if tenant_id == tenants.DEFAULT:
        raise Conflict(f"{tenant_id!r} is the operator's own tenant in each cell.")
    with source.app.tenant(tenant_id) as tx:
        freezing.look_into(tx, tenant_id)
        if not tenants.is_here(tx, tenant_id):
            raise NotFound(f"There is no tenant {tenant_id!r} in this cell.")
        if tx.execute(_REBUILDS).scalar_one():
            raise Conflict("A rebuild is open: `imprint memory rebuild --apply` or `--drop` it first.")


def _require_not_copied(source: Cell, tenant_id: str) -> None:
    frozen = _frozen(source, tenant_id)
    if frozen is not None and frozen.state == "copied":
        raise Conflict(
            f"Another cell has {tenant_id!r} already. Switch the door, and remove it here; it can be copied back then."
        )


def _frozen(source: Cell, tenant_id: str) -> Frozen | None:
    """Return how far the move of a tenant is; None: it is not frozen."""
    with source.owner.connect() as tx:
        frozen = freezing.read(tx)
    return None if frozen is None or frozen.tenant_id != tenant_id else frozen


def _require_frozen(source: Cell, tenant_id: str) -> Frozen:
    frozen = _frozen(source, tenant_id)
    if frozen is None:
        raise NotFound(f"The tenant {tenant_id!r} is not being moved from this cell.")
    return frozen


def _is_copied(source: Cell, target: Cell, tenant_id: str) -> bool:
    """Return whether the target has the tenant as a copy of the frozen one. Conflict: it has another of that name."""
    if not _has(target, tenant_id):
        return False
    if _frozen(source, tenant_id) is None or _salt(source, tenant_id) != _salt(target, tenant_id):
        raise Conflict(f"The other cell has a tenant {tenant_id!r} already.")
    return True


def _mark_copied(source: Cell, tenant_id: str) -> None:
    with source.owner.begin() as tx:
        freezing.mark_copied(tx, tenant_id)


def _has(cell: Cell, tenant_id: str) -> bool:
    with cell.app.tenant(tenant_id) as tx:
        return tenants.is_here(tx, tenant_id)


def _salt(cell: Cell, tenant_id: str) -> str | None:
    """Return what no two tenants have in common."""
    with cell.app.tenant(tenant_id) as tx:
        freezing.look_into(tx, tenant_id)
        return tx.execute(_SALT, {"tenant": tenant_id}).scalar()


_LOCK: Final = text("SELECT pg_try_advisory_lock(hashtextextended('moving of a tenant', 0))")
_UNLOCK: Final = text("SELECT pg_advisory_unlock(hashtextextended('moving of a tenant', 0))")

_SALT: Final = text("SELECT salt FROM tenants WHERE id = :tenant")

_REBUILDS: Final = text("SELECT EXISTS (SELECT FROM rebuilds WHERE status IN ('running', 'ready'))")

_HAND_OUT_AGAIN: Final = text("""
    UPDATE dispatches SET
        status = 'pending', turn = 'ready', wake_at = NULL, lease = NULL, deadline_at = NULL, started_at = NULL,
        attempt = attempt - CASE WHEN status = 'running' THEN 1 ELSE 0 END
    WHERE tenant_id = :tenant AND (status = 'running' OR (status = 'pending' AND turn = 'sent'))
""")
"""What the workers and the broker of the source had in their hands. An attempt that was cut off does not count."""

"""Rows of one tenant: streamed from one database to another table by table, and compared."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from psycopg import Cursor, sql
from sqlalchemy import Table, text

from core.storage.db import Tx, driver_of, translate_errors
from core.storage.tables import TENANT_TABLES, mirrors, rules, search_changes, tenants, turn_bounds

MADE_ANEW: Final[Collection[Table]] = frozenset({search_changes, turn_bounds, mirrors})
"""Tables that are not copied: notes for caches, which triggers write; where the queues begin, which is found again; and
what stands in the files of a mirror, which the target writes to a folder of its own."""

COPIED: Final = (tenants, *(table for table in TENANT_TABLES if table not in MADE_ANEW))
"""Tables that are copied, in this order."""

_OWN_NUMBERS: Final = {rules.c.revision}
"""Columns whose values the target gives: by a new revision its routers notice the rules."""

AT_THE_BEGINNING: Final[Mapping[str, Mapping[str, str]]] = {
    "events": {"written_in": "0::bigint"},
    "expiries": {"written_in": "CASE WHEN written_in IS NOT NULL THEN 0::bigint END"},
}
"""SQL of columns that are read differently where positions in the feed cannot stay."""

_FORMATS: Final = text("""
    SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true),
           set_config('IntervalStyle', 'postgres', true), set_config('extra_float_digits', '1', true),
           set_config('bytea_output', 'hex', true)
""")

_STAGE: Final = sql.Identifier("moved_rows")


class Digest(NamedTuple):
    """Number of a tenant's rows in a table, and the sum of their hashes: equal whatever the order of the rows."""

    rows: int
    hashes: int


def fix_formats(tx: Tx) -> None:
    """Let a transaction write values as text in one form, whatever the server's settings."""
    tx.execute(_FORMATS)


def copy(source: Tx, target: Tx, table: Table, tenant_id: str, read_as: Mapping[str, str]) -> None:
    """Copy the rows of a tenant; `read_as`: SQL in place of a column, by name.

    They pass through a temporary table, because PostgreSQL refuses COPY into a table with row-level security.
    """
    parts = {
        "stage": _STAGE,
        "table": sql.Identifier(table.name),
        "names": sql.SQL(", ").join(map(sql.Identifier, _columns(table))),
    }
    with translate_errors(target), contextlib.closing(driver_of(target).cursor()) as into:
        into.execute(_CREATE.format(**parts))
        _stream(source, _read(table, tenant_id, read_as), into, _WRITE.format(**parts))
        into.execute(_INSERT.format(**parts))
        into.execute(_DROP.format(**parts))


def _stream(source: Tx, reads: sql.Composed, into: Cursor[Any], writes: sql.Composed) -> None:
    with (
        translate_errors(source),
        contextlib.closing(driver_of(source).cursor()) as out,
        out.copy(reads) as reading,
        into.copy(writes) as writing,
    ):
        for block in reading:
            writing.write(block)


def digest(tx: Tx, table: Table, tenant_id: str, read_as: Mapping[str, str]) -> Digest:
    """Return the digest of a tenant's rows, read as `copy` reads them."""
    row = sql.SQL("ROW({})").format(_values(table, read_as))
    statement = _DIGEST.format(row=row, table=sql.Identifier(table.name), tenant=_is_tenants(table, tenant_id))
    with translate_errors(tx), contextlib.closing(driver_of(tx).cursor()) as cursor:
        count, hashes = cursor.execute(statement).fetchone() or (0, 0)
    return Digest(int(count), int(hashes))


def delete(tx: Tx, tenant_id: str) -> int:
    """Delete all rows of a tenant but its own row in `tenants`; return how many there were."""
    return sum(tx.execute(table.delete().where(table.c.tenant_id == tenant_id)).rowcount for table in TENANT_TABLES)


def _read(table: Table, tenant_id: str, read_as: Mapping[str, str]) -> sql.Composed:
    return _READ.format(
        values=_values(table, read_as), table=sql.Identifier(table.name), tenant=_is_tenants(table, tenant_id)
    )


def _is_tenants(table: Table, tenant_id: str) -> sql.Composed:
    column = "id" if table is tenants else "tenant_id"
    return sql.SQL("{} = {}").format(sql.Identifier(column), sql.Literal(tenant_id))


def _columns(table: Table) -> list[str]:
    return [column.name for column in table.c if column.computed is None and column not in _OWN_NUMBERS]


def _values(table: Table, read_as: Mapping[str, str]) -> sql.Composed:
    read = [sql.SQL(read_as[name]) if name in read_as else sql.Identifier(name) for name in _columns(table)]
    return sql.SQL(", ").join(read)


_READ: Final = sql.SQL("COPY (SELECT {values} FROM {table} WHERE {tenant}) TO STDOUT")
_CREATE: Final = sql.SQL("CREATE TEMPORARY TABLE {stage} ON COMMIT DROP AS SELECT {names} FROM {table} WITH NO DATA")
_WRITE: Final = sql.SQL("COPY {stage} ({names}) FROM STDIN")
_INSERT: Final = sql.SQL("INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {stage}")
_DROP: Final = sql.SQL("DROP TABLE {stage}")
_DIGEST: Final = sql.SQL(
    "SELECT count(*), coalesce(sum(hashtextextended({row}::text, 0)::numeric), 0) FROM {table} WHERE {tenant}"
)

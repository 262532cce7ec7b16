from __future__ import annotations

from typing import Any

from sqlalchemy import Column, DefaultClause

from core.cells import rows
from core.storage.tables import TENANT_TABLES, tenants

NUMBERED = {
    ("events", "seq"): "stays: `positions.lead_seqs`",
    ("events", "written_in"): "stays: `positions.lead_transactions`, else `rows.AT_THE_BEGINNING`",
    ("rules", "revision"): "given by the target",
}
"""Columns whose values are counted by a database, not by a tenant, and what a move does about it."""


def test_each_table_of_tenants_is_copied_or_made_anew() -> None:
    assert {*rows.COPIED, *rows.MADE_ANEW} == {tenants, *TENANT_TABLES}


def test_what_a_database_counts_is_known() -> None:
    counted = {
        (table.name, column.name)
        for table in rows.COPIED
        for column in table.c
        if column.identity or any(name in default_of(column) for name in ("nextval", "xact_id"))
    }
    assert counted == NUMBERED.keys()


def default_of(column: Column[Any]) -> str:
    default = column.server_default
    return str(default.arg) if isinstance(default, DefaultClause) else ""

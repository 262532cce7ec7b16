"""The oldest schema that can be migrated. A new database is never at this revision: it is created at the newest one."""

from __future__ import annotations

revision = "0037"
down_revision = None


def upgrade() -> None:
    raise RuntimeError("A new database is created by core.storage.schema.upgrade, not by Alembic.")

"""Memories know when they were said last: of two statements of one thing the one said later holds."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"

BACKFILLED = ("memories", "evidence", "messages")
"""Tables whose rows of all tenants the backfill has to see; while it runs, the owner is not bound by their policies."""


def upgrade() -> None:
    for table in BACKFILLED:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    # The backfill changes nothing that a search shows, so it is not announced to those who keep rows in memory.
    op.execute("ALTER TABLE memories DISABLE TRIGGER USER")
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    op.execute("ALTER TABLE memories ENABLE TRIGGER USER")
    for table in BACKFILLED:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")

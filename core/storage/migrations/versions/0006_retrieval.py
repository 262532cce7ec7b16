"""Retrieval: what has changed in the index, so that a process that keeps rows at hand reads only those anew."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


BACKFILLED = ("search_index", "messages")
"""Tables whose rows of all tenants the backfill has to see; while it runs, the owner is not bound by their policies."""


def upgrade() -> None:
    for table in BACKFILLED:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in BACKFILLED:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE search_changes ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE search_changes FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON search_changes TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON search_changes TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

"""Bulk jobs: one action on many memories, carried out by workers; memories over time."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0025"
down_revision = "0024"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in ("bulk_jobs", "bulk_rows"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO imprint_app")
        op.execute(f"CREATE POLICY own_rows ON {table} TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

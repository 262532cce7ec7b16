"""Who has spoken in which session, and indexes by which an erasure finds what concerns a user or a group."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0030"
down_revision = "0029"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


READ = ("messages", "events", "dispatches")
"""Tables from which the new ones, and the new columns, are filled once."""


def upgrade() -> None:
    for table in READ:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in READ:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE participants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON participants TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON participants TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

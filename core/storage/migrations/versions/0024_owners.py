"""A list of users and groups, sessions by group, and what each process and the clock say of themselves."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0024"
down_revision = "0023"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"

READ = ("sessions", "messages", "memories", "documents")
"""Tables from which the list is made once."""


def upgrade() -> None:
    for table in READ:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in (*READ, "owners"):
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE owners ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON owners TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON owners TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

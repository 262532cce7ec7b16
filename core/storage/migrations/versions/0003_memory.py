"""The memory core: how each memory fades is kept with it, and the moment at which it will have faded is indexed."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"

READ_FOR_FADING = ("memories", "evidence", "relations")
"""Tables whose rows of all tenants the backfill has to see; while it runs, the owner is not bound by their policies."""


def upgrade() -> None:
    for table in READ_FOR_FADING:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in READ_FOR_FADING:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("GRANT UPDATE (fade_formula, fade_under) ON tenants TO imprint_app")
    op.execute("ALTER TABLE sweeps ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE sweeps FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON sweeps TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON sweeps TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

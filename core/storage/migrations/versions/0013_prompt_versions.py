"""Prompts of tenants."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0013"
down_revision = "0012"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    op.execute("ALTER TABLE prompt_versions ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE prompt_versions FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON prompt_versions TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON prompt_versions TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")

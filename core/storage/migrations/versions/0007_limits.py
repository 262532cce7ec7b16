"""Settings of a tenant, of which its limits are the first."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    op.execute("ALTER TABLE tenant_settings ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE tenant_settings FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON tenant_settings TO imprint_app")
    op.execute(f"CREATE POLICY own_rows ON tenant_settings TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")
    op.execute("GRANT SELECT ON tenant_settings TO imprint_router")
    op.execute("CREATE POLICY limits_of_all ON tenant_settings FOR SELECT TO imprint_router USING (name = 'limits')")

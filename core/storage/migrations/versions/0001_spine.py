"""The spine: tenants, log, sessions, rules, ledger, memories, search index; row-level security from the start."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

TENANT_TABLES = (
    "api_keys decisions dispatches events evidence flows memories memory_versions messages model_calls relations "
    "rule_versions rules search_index sessions term_counts"
).split()

QUEUE_TABLES = {
    "events": "SELECT, INSERT, UPDATE",
    "decisions": "SELECT, INSERT",
    "flows": "SELECT, INSERT, UPDATE, DELETE",
    "dispatches": "SELECT, INSERT, UPDATE",
    "rules": "SELECT",
    "rule_versions": "SELECT",
    "sessions": "SELECT",
}

LOOKED_UP = {
    "memories": "tenant_id, id, user_id, status, importance",
    "model_calls": "tenant_id, at, input_tokens, output_tokens",
}
"""Columns that rules may ask about; never what a memory or a model says."""

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    for table in TENANT_TABLES:
        _force(table)
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO imprint_app")
        op.execute(f"CREATE POLICY own_rows ON {table} TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")
    for table, rights in QUEUE_TABLES.items():
        op.execute(f"GRANT {rights} ON {table} TO imprint_router")
        op.execute(f"CREATE POLICY all_queues ON {table} TO imprint_router USING (true) WITH CHECK (true)")
    for table, columns in LOOKED_UP.items():
        op.execute(f"GRANT SELECT ({columns}) ON {table} TO imprint_router")
        op.execute(f"CREATE POLICY lookups ON {table} FOR SELECT TO imprint_router USING (true)")
    _registry()


def _registry() -> None:
    """Tenants: the application sees its own row, the router all of them; neither can remove one."""
    _force("tenants")
    own = OWN_ROWS.replace("tenant_id", "id")
    op.execute("GRANT SELECT, INSERT ON tenants TO imprint_app")
    op.execute("GRANT SELECT ON tenants, deployment TO imprint_app, imprint_router")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON heartbeats TO imprint_app, imprint_router")
    op.execute(f"CREATE POLICY own_row ON tenants TO imprint_app USING ({own}) WITH CHECK ({own})")
    op.execute("CREATE POLICY all_tenants ON tenants FOR SELECT TO imprint_router USING (true)")
    op.execute("GRANT USAGE ON SEQUENCE rule_revision TO imprint_app")


def _force(table: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")

"""The rule engine, whole: lineage, order, lanes and approvals of dispatches, all stages of flow control, schedules."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"

LOOKED_UP = {
    "memories": "recorded_at",
    "model_calls": "cost",
    "messages": "tenant_id, session_id, position, event_seq, token_count, occurred_at",
}
"""Columns that rules may ask about, besides those of before; never what a memory, a message or a model says."""

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n\n"):
        op.execute(statement)
    op.execute("ALTER TABLE schedules ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE schedules FORCE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON schedules TO imprint_app, imprint_router")
    op.execute(f"CREATE POLICY own_rows ON schedules TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")
    op.execute("CREATE POLICY all_queues ON schedules TO imprint_router USING (true) WITH CHECK (true)")
    for table, columns in LOOKED_UP.items():
        op.execute(f"GRANT SELECT ({columns}) ON {table} TO imprint_router")
    op.execute("CREATE POLICY lookups ON messages FOR SELECT TO imprint_router USING (true)")
    op.execute("GRANT UPDATE ON decisions TO imprint_router")
    op.execute("GRANT UPDATE (allows_high_risk) ON tenants TO imprint_app")

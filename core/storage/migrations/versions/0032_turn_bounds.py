"""Offers begin behind the dispatches that have ended, and statements on one dispatch take its primary key."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0032"
down_revision = "0031"

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"

STATEMENTS = (
    """
    CREATE TABLE turn_bounds (
        tenant_id TEXT NOT NULL,
        queue TEXT NOT NULL,
        priority SMALLINT NOT NULL,
        from_id UUID NOT NULL,
        older UUID[] DEFAULT '{}' NOT NULL,
        CONSTRAINT turn_bounds_pkey PRIMARY KEY (tenant_id, queue, priority)
    ) WITH (fillfactor = 50)
    """,
    """
    COMMENT ON TABLE turn_bounds IS
    'Where the ready and the sent dispatches of a tenant''s queue begin: behind those that have ended.'
    """,
    """
    COMMENT ON COLUMN turn_bounds.from_id IS
    'No dispatch with a smaller id is ready or sent, except `older`.'
    """,
    "COMMENT ON COLUMN turn_bounds.older IS 'Sent ones with smaller ids.'",
    "ALTER TABLE turn_bounds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
    f"CREATE POLICY own_rows ON turn_bounds TO imprint_app USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})",
    "CREATE POLICY all_queues ON turn_bounds TO imprint_router USING (true) WITH CHECK (true)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON turn_bounds TO imprint_app",
    "GRANT SELECT, INSERT, UPDATE ON turn_bounds TO imprint_router",
    "DROP INDEX dispatches_open",
    """
    CREATE INDEX dispatches_open ON dispatches (tenant_id, root_seq)
    WHERE status IN ('pending', 'running', 'retrying') AND root_seq IS NOT NULL
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").replace("%", "%%"))

"""Dispatches have a priority: what makes messages findable goes before what is drawn from them."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"

STATEMENTS = (
    "ALTER TABLE dispatches ADD COLUMN priority smallint DEFAULT 1 NOT NULL",
    "COMMENT ON COLUMN dispatches.priority IS 'The lowest goes first.'",
    "DROP INDEX dispatches_turns",
    """
    CREATE INDEX dispatches_turns ON dispatches (tenant_id, queue, turn, priority, id)
    WHERE turn IS NOT NULL AND status IN ('pending', 'running')
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)

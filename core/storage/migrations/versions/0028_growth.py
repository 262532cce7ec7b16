"""Vacuum of the queues by a number of dead rows, however large they have grown; calls of models name rule and agent."""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"

STATEMENTS = (
    "ALTER TABLE dispatches SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)",
    "ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)",
    "COMMENT ON COLUMN model_calls.rule IS 'That of its dispatch.'",
    "COMMENT ON COLUMN model_calls.target IS 'The agent of its dispatch.'",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)

"""Indexes by which lists and charts of a large log read no more than they show."""

from __future__ import annotations

from alembic import op

revision = "0027"
down_revision = "0026"

STATEMENTS = (
    "CREATE INDEX events_of_user ON events (tenant_id, user_id, seq) WHERE user_id IS NOT NULL",
    "CREATE INDEX sessions_closed ON sessions (tenant_id, last_at) WHERE ended_at IS NOT NULL",
    "DROP INDEX decisions_of_rule",
    "CREATE INDEX decisions_of_rule ON decisions (tenant_id, rule, at) INCLUDE (verdict)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)

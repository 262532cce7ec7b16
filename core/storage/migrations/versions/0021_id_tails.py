"""Ids are found by their last characters."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"

TABLES = ("documents", "dispatches", "memories", "verdicts", "forgettings", "rebuilds", "receipts")


def upgrade() -> None:
    for table in TABLES:
        op.execute(
            f'ALTER TABLE {table} ADD COLUMN id_tail TEXT COLLATE "C" '
            f"GENERATED ALWAYS AS (reverse(right((id)::text, 8))) STORED NOT NULL"
        )
        people_decide = " WHERE status IN ('held', 'dead')" if table == "dispatches" else ""
        op.execute(f"CREATE INDEX {table}_by_tail ON {table} (tenant_id, id_tail){people_decide}")

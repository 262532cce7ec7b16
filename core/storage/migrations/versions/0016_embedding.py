"""Embedding models of tenants: the router reads which one `means` compares with."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.execute(
        "ALTER POLICY limits_of_all ON tenant_settings TO imprint_router USING (name IN ('limits', 'embedding'))"
    )

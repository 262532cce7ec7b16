"""Every change of a memory is noted for the caches of its user, so that nobody asks again for what they hold."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))

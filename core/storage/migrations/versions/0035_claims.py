"""A worker claims its next dispatch as it ends one, and sessions keep the plans of these statements."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0035"
down_revision = "0033"


def upgrade() -> None:
    op.execute("DROP FUNCTION offer_turns, turn_room")
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").replace("%", "%%"))

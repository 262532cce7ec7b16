"""The clock of whoever speaks: the UTC offset of a message's time, and the time zone that a user has set."""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.execute("ALTER TABLE messages ADD COLUMN utc_offset smallint")
    op.execute("ALTER TABLE owners ADD COLUMN time_zone text")

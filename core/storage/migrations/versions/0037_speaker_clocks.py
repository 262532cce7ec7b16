"""The clock of whoever speaks: the UTC offset of a message's time, and the time zone that a user has set."""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.execute("ALTER TABLE messages ADD COLUMN utc_offset smallint")
    op.execute("ALTER TABLE owners ADD COLUMN time_zone text")
    op.execute(
        "COMMENT ON COLUMN messages.utc_offset IS 'Minutes of the speaker''s clock ahead of UTC; null: not known.'"
    )
    op.execute("COMMENT ON COLUMN owners.time_zone IS 'IANA name of the zone of a user''s clock; null: not set.'")

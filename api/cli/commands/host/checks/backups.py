"""Check of backups: when the last one was made, or whether the server archives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import text

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack import backup_log
from core.errors import Misconfigured

OLDEST: Final = timedelta(days=7)


def backups(installation: Installation) -> str:
    """Check the age of the last backup of an embedded server, or the archiver of one's own."""
    if installation.has_servers:
        return _archiver(installation)
    last = backup_log.last(installation.settings.home)
    if last is None:
        raise CheckWarning("none was ever made")
    age = datetime.now(UTC) - last.at
    if age > OLDEST:
        raise CheckWarning(f"the last one is {age.days} days old ({last.folder})")
    return f"the last one was made {last.at:%Y-%m-%d %H:%M} UTC ({last.folder})"


def has_data(installation: Installation) -> bool:
    return (installation.settings.home / "postgres").is_dir() or installation.has_database


def _archiver(installation: Installation) -> str:
    (row,) = installation.rows(_ARCHIVER)
    if row.failing:
        raise Misconfigured(f"archiving of the write-ahead log has failed since {row.failed_at:%Y-%m-%d %H:%M} UTC")
    if row.archived_at is None:
        return "the server archives nothing; dumps are not visible here"
    return f"the server archived last {row.archived_at:%Y-%m-%d %H:%M} UTC"


_ARCHIVER = text("""
    SELECT last_archived_time AT TIME ZONE 'UTC' AS archived_at, last_failed_time AT TIME ZONE 'UTC' AS failed_at,
           last_failed_time > coalesce(last_archived_time, '-infinity') AS failing
    FROM pg_stat_archiver
""")

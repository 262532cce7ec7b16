from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.cli.commands.host.checks import backups
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack import backup_log
from core.config import Settings


def test_a_home_that_was_never_backed_up_is_a_warning(tmp_path: Path) -> None:
    installation = Installation(Settings(home=tmp_path))
    assert not backups.has_data(installation)
    (tmp_path / "postgres").mkdir()
    assert backups.has_data(installation)
    with pytest.raises(CheckWarning, match="none was ever made"):
        backups.backups(installation)


def test_a_backup_of_last_month_is_a_warning_and_one_of_today_is_well(tmp_path: Path) -> None:
    installation = Installation(Settings(home=tmp_path))
    backup_log.record(tmp_path, tmp_path / "copy")
    assert f"({tmp_path / 'copy'})" in backups.backups(installation)
    aged = {"at": (datetime.now(UTC) - timedelta(days=30, hours=1)).isoformat(), "folder": "/mnt/copy"}
    (tmp_path / backup_log.FILE).write_text(json.dumps(aged))
    with pytest.raises(CheckWarning, match=r"30 days old \(/mnt/copy\)"):
        backups.backups(installation)


def test_a_server_that_archives_nothing_is_told_so(settings: Settings) -> None:
    assert backups.backups(Installation(settings)) == "the server archives nothing; dumps are not visible here"

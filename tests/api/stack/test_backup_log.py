from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.stack import backup_log


def test_the_last_backup_is_remembered(tmp_path: Path) -> None:
    assert backup_log.last(tmp_path) is None
    backup_log.record(tmp_path, Path("first"))
    backup_log.record(tmp_path, Path("second"))
    last = backup_log.last(tmp_path)
    assert last is not None
    assert last.folder == str(Path("second").absolute())
    assert abs((datetime.now(UTC) - last.at).total_seconds()) < 600


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"at": "yesterday", "folder": "x"}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    backup_log.record(tmp_path, tmp_path)
    (tmp_path / backup_log.FILE).write_text(content)
    assert backup_log.last(tmp_path) is None

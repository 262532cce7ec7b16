from __future__ import annotations

import stat
from pathlib import Path

from core.storage import key_files


def test_a_key_is_made_once_and_read_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "signing"
    assert key_files.read_or_make(path, lambda: "first") == "first"
    assert key_files.read_or_make(path, lambda: "second") == "first"


def test_only_its_owner_may_read_it_and_no_draft_is_left(tmp_path: Path) -> None:
    path = tmp_path / "signing"
    key_files.read_or_make(path, lambda: "key")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_where_another_process_was_first_its_key_stays(tmp_path: Path) -> None:
    path = tmp_path / "signing"

    def overtaken() -> str:
        path.write_text("theirs\n")
        return "mine"

    assert key_files.read_or_make(path, overtaken) == "theirs"
    assert list(tmp_path.iterdir()) == [path]

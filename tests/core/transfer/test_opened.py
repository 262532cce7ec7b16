"""Files, folders and zips are read within bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.transfer.opened import Unreadable
from core.transfer.records import Conversation
from tests.core.transfer.vendors import CLAUDE, kept, read, zipped


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zipped({"conversations.json": b" " * 50_000_000}))
    with pytest.raises(Unreadable, match="200 times its size"):
        read(tmp_path / "b.zip")


def test_zips_are_read_two_levels_deep(tmp_path: Path) -> None:
    inner = zipped({"conversations.json": json.dumps(CLAUDE[:1]).encode()})
    (tmp_path / "a.zip").write_bytes(zipped({"x.zip": inner}))
    assert len(kept(read(tmp_path / "a.zip"), Conversation)) == 1
    (tmp_path / "b.zip").write_bytes(zipped({"y.zip": zipped({"x.zip": inner})}))
    with pytest.raises(Unreadable, match="unpack it first"):
        read(tmp_path / "b.zip")


def test_names_that_lead_elsewhere_are_names_only(tmp_path: Path) -> None:
    """Nothing is unpacked to a path, so such a name can do nothing; a link out of a folder is not followed."""
    (tmp_path / "z.zip").write_bytes(zipped({"../../etc/x.json": json.dumps(CLAUDE[:1]).encode()}))
    assert len(kept(read(tmp_path / "z.zip"), Conversation)) == 1
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.json").symlink_to("/etc/passwd")
    with pytest.raises(Unreadable, match="Nothing in"):
        read(tmp_path / "folder")


def test_what_is_not_there_and_what_is_no_zip_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no file or folder"):
        read(tmp_path / "none.json")
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(Unreadable, match="not a zip"):
        read(tmp_path / "no.zip")

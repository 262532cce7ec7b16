"""Folders of archives; what fills them and what is restored from them is tested in `test_recovery.py`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.stack import archive
from core.errors import Misconfigured


def an_archive(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / "bases" / name).mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"format": archive.FORMAT, "timeline": 1}))
    return folder


def test_bases_are_ordered_by_time_and_a_partial_one_is_none(tmp_path: Path) -> None:
    folder = an_archive(tmp_path, "20261130T090000.000001Z", "20261123T090000.500000Z", "partial")
    times = [base.at for base in archive.bases(folder)]
    assert times == [datetime(2026, 11, 23, 9, 0, 0, 500_000, UTC), datetime(2026, 11, 30, 9, 0, 0, 1, UTC)]
    assert archive.manifest(folder)["timeline"] == 1


def test_a_base_names_the_first_file_of_the_log_that_it_needs(tmp_path: Path) -> None:
    base = archive.Base(tmp_path, datetime.now(UTC))
    label = "START WAL LOCATION: 0/2000028 (file 000000010000000000000002)\nCHECKPOINT LOCATION: 0/2000080\n"
    (tmp_path / "backup_label").write_text(label)
    assert base.first_segment == "000000010000000000000002"
    (tmp_path / "backup_label").write_text("CHECKPOINT LOCATION: 0/2000080\n")
    with pytest.raises(Misconfigured, match="names no file of the log"):
        assert base.first_segment


def test_an_archive_without_a_base_and_a_dump_are_none(tmp_path: Path) -> None:
    assert not archive.is_archive(tmp_path)
    (tmp_path / "bases").mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps({"format": archive.FORMAT}))
    assert archive.is_archive(tmp_path)
    with pytest.raises(Misconfigured, match="or has no base yet"):
        archive.manifest(tmp_path)
    an_archive(tmp_path, "20261130T090000.000001Z")
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "imprint-backup/1"}))
    with pytest.raises(Misconfigured, match="is not an archive"):
        archive.manifest(tmp_path)

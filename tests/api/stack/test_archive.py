"""Folders of archives; what fills them and what is restored from them is tested in `test_recovery.py`."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.stack import archive, process
from api.stack.up import alone
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


@pytest.mark.parametrize(
    ("held", "gap"),
    [
        ("0000000100000000000000FE 0000000100000000000000FF 000000010000000100000000.partial", None),
        ("0000000100000000000000FE 000000010000000100000000", "has a gap before 000000010000000100000000"),
        ("0000000100000000000000FF", "has a gap before 0000000100000000000000FF"),
    ],
)
def test_a_gap_in_the_log_is_found(tmp_path: Path, held: str, gap: str | None) -> None:
    (tmp_path / "base" / "pg_wal").mkdir(parents=True)
    label = "START WAL LOCATION: 0/FE000028 (file 0000000100000000000000FE)\n"
    (tmp_path / "base" / "backup_label").write_text(label)
    (tmp_path / "wal").mkdir()
    for name in held.split():
        (tmp_path / "wal" / name).touch()
    base = archive.Base(tmp_path / "base", datetime.now(UTC))
    if gap is None:
        archive.require_whole_log(tmp_path, base)
        return
    with pytest.raises(Misconfigured, match=gap):
        archive.require_whole_log(tmp_path, base)


def an_archiver(tmp_path: Path, reports: list[str]) -> archive._Archiver:
    """One of a home that has never run, with a folder for its archive."""
    (tmp_path / "home" / "run").mkdir(parents=True)
    (tmp_path / "home" / "secrets.json").write_text('{"postgres": "secret"}')
    (tmp_path / "archive" / "keys").mkdir(parents=True)
    return archive._Archiver(tmp_path / "home", tmp_path / "archive", reports.append)


def test_keys_are_copied_as_they_change_and_those_that_are_gone_are_removed(tmp_path: Path) -> None:
    reports: list[str] = []
    archiver, keys = an_archiver(tmp_path, reports), tmp_path / "archive" / "keys"
    (tmp_path / "home" / "receipt.key").write_text("first")
    archiver._copy_keys()
    same = (keys / "secrets.json").stat().st_ino
    (tmp_path / "home" / "receipt.key").write_text("second")
    archiver._keep_keys()
    assert (keys / "receipt.key").read_text() == "second"
    assert (keys / "secrets.json").stat().st_ino == same, "what has not changed is not written"
    (tmp_path / "home" / "receipt.key").unlink()
    archiver._keep_keys()
    assert (keys / "receipt.key").exists(), "a minute has not passed"
    archiver._copy_keys()
    assert [path.name for path in keys.iterdir()] == ["secrets.json"]
    (tmp_path / "home" / "secrets.json").unlink()
    archiver._copied = float("-inf")
    archiver._keep_keys()
    assert len(reports) == 1
    assert [path.name for path in keys.iterdir()] == ["secrets.json"], "without a copy nothing is removed"


def test_a_base_that_fails_is_reported_once_and_tried_again_after_a_pause(
    tmp_path: Path,
) -> None:
    """Nothing listens on the port of this home."""
    reports: list[str] = []
    archiver = an_archiver(tmp_path, reports)
    (tmp_path / "archive" / "bases" / "partial").mkdir(parents=True)
    for _ in range(2):
        archiver._try_base(first=False)
    assert len(reports) == 1
    assert reports[0].startswith("No new base, trying again each hour: ")
    assert not (tmp_path / "archive" / "bases" / "partial").exists()
    assert archiver._failed > 0
    with pytest.raises(Misconfigured, match="No base: "):
        archiver._try_base(first=True)


def test_a_home_is_archived_by_one_process(tmp_path: Path) -> None:
    with (
        alone(tmp_path),
        process.held(tmp_path, archive.ARCHIVER),
        pytest.raises(Misconfigured, match="Another `imprint backup --continuous` runs on"),
    ):
        archive.keep(tmp_path, tmp_path / "archive", print, threading.Event())

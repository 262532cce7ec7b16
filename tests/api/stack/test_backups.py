"""Copies of a home; what is served from one is tested in `tests/journeys/test_backup.py`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import psycopg
import pytest

from api.stack import backups
from api.stack.postgres import Postgres
from core.errors import Misconfigured

KNOWN = frozenset({"0007"})


def filled(folder: Path, *statements: str) -> Path:
    """A home with a database, two keys, and a file that belongs in no copy."""
    postgres = Postgres(folder, durable=False)
    postgres.start()
    try:
        with psycopg.connect(postgres.url, autocommit=True) as db:
            for statement in statements:
                db.execute(statement)
    finally:
        postgres.stop()
    (folder / "receipt.key").write_text("private")
    (folder / "run" / "api.key").write_text("mine")
    (folder / "notes.txt").write_text("beside")
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    migrated = "CREATE TABLE alembic_version AS SELECT '0007' AS version_num"
    cats = "CREATE TABLE cats AS SELECT 'Tom' AS name"
    return filled(tmp_path_factory.mktemp("source"), migrated, cats)


@pytest.fixture(scope="module")
def copy(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("copies") / "copy"
    written = backups.write(source, place)
    assert (written.migration, written.keys) == ("0007", ("receipt.key", "api.key"))
    assert written.database_bytes == (place / "database.dump").stat().st_size > 0
    return place


def test_a_copy_holds_the_dump_and_the_keys_for_its_owner_alone(copy: Path) -> None:
    files = {
        str(path.relative_to(copy)): stat.S_IMODE(path.stat().st_mode) for path in copy.rglob("*") if path.is_file()
    }
    assert files == dict.fromkeys(("database.dump", "manifest.json", "keys/receipt.key", "keys/api.key"), 0o600)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert not any(path.name.endswith(".partial") for path in copy.parent.iterdir())


def test_a_home_that_is_restored_has_the_rows_and_the_keys(copy: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert backups.restore(home, copy, KNOWN).migration == "0007"
    assert (home / "receipt.key").read_text() == "private"
    assert (home / "run" / "api.key").read_text() == "mine"
    assert stat.S_IMODE((home / "receipt.key").stat().st_mode) == 0o600
    postgres = Postgres(home, durable=False)
    postgres.start()
    try:
        with psycopg.connect(postgres.url) as db:
            assert db.execute("SELECT name FROM cats").fetchall() == [("Tom",)]
    finally:
        postgres.stop()
    with pytest.raises(Misconfigured, match="already contains data"):
        backups.restore(home, copy, KNOWN)


def test_a_dump_that_cannot_be_read_leaves_no_data(copy: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "keys").mkdir(parents=True)
    (broken / "manifest.json").write_text((copy / "manifest.json").read_text())
    (broken / "database.dump").write_bytes((copy / "database.dump").read_bytes()[:-200])
    for path in (copy / "keys").iterdir():
        (broken / "keys" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(Misconfigured, match="pg_restore refuses"):
        backups.restore(tmp_path / "home", broken, KNOWN)
    assert not (tmp_path / "home" / "postgres").exists()
    assert not (tmp_path / "home" / "receipt.key").exists()


@pytest.mark.parametrize("lacks", ["manifest.json", "database.dump", "keys/receipt.key"])
def test_a_copy_that_lacks_a_part_is_none(copy: Path, tmp_path: Path, lacks: str) -> None:
    partial = tmp_path / "partial"
    for path in copy.rglob("*"):
        name = path.relative_to(copy)
        if path.is_file() and str(name) != lacks:
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).write_bytes(path.read_bytes())
    with pytest.raises(Misconfigured, match="is not a complete backup"):
        backups.restore(tmp_path / "home", partial, KNOWN)


@pytest.mark.parametrize(
    "manifest", ["[]", "no JSON", '{"format": "imprint-backup/2", "migration": "0007", "keys": []}']
)
def test_a_manifest_of_another_kind_is_none_of_ours(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "database.dump").touch()
    with pytest.raises(Misconfigured, match="is not a complete backup"):
        backups.restore(tmp_path / "home", tmp_path, KNOWN)


def test_a_key_that_names_a_path_is_looked_for_in_the_copy_alone(tmp_path: Path) -> None:
    """Otherwise a copy from elsewhere could bring a file out of its folder."""
    (tmp_path / "outside.key").write_text("x")
    place = tmp_path / "copy"
    (place / "keys").mkdir(parents=True)
    manifest = {"format": backups.FORMAT, "migration": "0007", "keys": ["../../outside.key"]}
    (place / "manifest.json").write_text(json.dumps(manifest))
    (place / "database.dump").touch()
    with pytest.raises(Misconfigured, match="is not a complete backup"):
        backups.restore(tmp_path / "home", place, KNOWN)


def test_a_place_that_is_taken_and_a_home_without_data_are_refused(source: Path, copy: Path, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="already exists"):
        backups.write(source, copy)
    with pytest.raises(Misconfigured, match="There is no data in"):
        backups.write(tmp_path / "nowhere", tmp_path / "copy")


def test_a_database_without_tables_leaves_no_half_written_copy(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Misconfigured, match="has no tables yet"):
        backups.write(filled(empty), tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]

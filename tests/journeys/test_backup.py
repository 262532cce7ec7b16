"""A home that runs is copied, and another one made of the copy serves the same: memories, key, receipts."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.readiness import wait_until_ready


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IMPRINT_", "PROMETHEUS_"))}
    own = {"HOME": str(home), "HTTP_PORT": str(free_port()), "METRICS_PORT": "0", "EMBEDDING": "hash"}
    return kept | {f"IMPRINT_{name}": value for name, value in own.items()}


def imprint(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "api.cli.main", *words]
    return subprocess.run(command, env=dict(env), capture_output=True, text=True, check=False, timeout=100)


def answer(env: Mapping[str, str], *words: str) -> str:
    done = imprint(env, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def up(env: Mapping[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "api.cli.main", "up", "--quiet"]
    process = subprocess.Popen(command, env=dict(env), stderr=subprocess.PIPE, text=True)
    try:
        wait_until_ready(process, env["IMPRINT_HTTP_PORT"])
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def modes(place: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in place.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_what_was_backed_up_is_served_from_another_home(tmp_path: Path) -> None:
    first, second, copy, record = (tmp_path / name for name in ("first", "second", "copy", "record.jsonl"))
    env = environment(first)
    with up(env):
        answer(env, "memory", "add", "Ada lives in Turin.", "--user", "ada")
        made = json.loads(answer(env, "memory", "add", "Ada is allergic to peanuts.", "--user", "ada", "--json"))
        receipt = tmp_path / "receipt.json"
        receipt.write_text(answer(env, "memory", "forget", made["memory"]["id"], "--yes", "--json"))
        later = json.loads(answer(env, "memory", "add", "Ada collects stamps.", "--user", "ada", "--json"))
        key = (first / "run" / "api.key").read_text()
        assert "api.key" in answer(env, "backup", str(copy))
        taken = imprint(env, "backup", str(copy))
        assert (taken.returncode, "already exists" in taken.stderr) == (1, True)
        answer(env, "memory", "forget", later["memory"]["id"], "--yes")
        answer(env, "db", "erasures", str(record))
        assert (stat.S_IMODE(record.stat().st_mode), "stamps" in record.read_text()) == (0o600, False)
        assert "Name a new file" in imprint(env, "db", "erasures", str(record)).stderr
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert modes(copy) == {0o600}
    assert sorted(path.name for path in (copy / "keys").iterdir()) == ["api.key", "receipt.key"]
    assert not any("secrets" in path.name for path in copy.rglob("*")), "a home makes its own passwords"
    cold = json.loads(answer(env, "backup", str(tmp_path / "cold"), "--json"))
    assert cold["keys"] == ["receipt.key", "api.key"]

    other = environment(second)
    refused = imprint(env, "restore", str(copy))
    assert (refused.returncode, "already contains data" in refused.stderr) == (1, True)
    restored = json.loads(answer(other, "restore", str(copy), "--erasures", str(record), "--json"))
    assert restored["erasures_repeated"] == {"receipt": 1}
    assert (second / "run" / "api.key").read_text() == key
    assert stat.S_IMODE((second / "receipt.key").stat().st_mode) == 0o600
    with up(other):
        found = answer(other, "search", "Where does Ada live?", "--user", "ada")
        assert "Ada lives in Turin." in found
        listed = answer(other, "memory", "list", "--user", "ada")
        assert ("peanuts" in listed, "stamps" in listed) == (False, False)
        assert "Erased again: nothing." in imprint(other, "db", "erase-again", str(record)).stderr
        assert "Genuine" in answer(other, "user", "verify-receipt", str(receipt))
        answer(other, "memory", "add", "Ada plays the cello.", "--user", "ada")


def test_a_dump_has_no_other_moments_and_an_archive_its_own_record(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    dump = imprint(env, "restore", str(tmp_path), "--at", "2026-11-30T09:00:00Z")
    assert (dump.returncode, "is a dump of one moment" in dump.stderr) == (1, True)
    (tmp_path / "bases").mkdir()
    archive = imprint(env, "restore", str(tmp_path), "--erasures", "record.jsonl")
    assert (archive.returncode, "--erasures is for dumps" in archive.stderr) == (1, True)


def test_what_is_no_backup_is_refused_in_one_sentence(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    for place in (tmp_path / "nowhere", tmp_path):
        done = imprint(env, "restore", str(place))
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert "not a complete backup" in done.stderr
    empty = imprint(env, "backup", str(tmp_path / "copy"))
    assert (empty.returncode, "There is no data in" in empty.stderr) == (1, True)


@pytest.mark.parametrize("migration", ["0005", "9999"])
def test_a_backup_at_a_migration_that_this_version_does_not_know_is_refused(tmp_path: Path, migration: str) -> None:
    manifest = {"format": "imprint-backup/1", "migration": migration, "keys": []}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "database.dump").touch()
    done = imprint(environment(tmp_path / "home"), "restore", str(tmp_path))
    assert done.returncode == 1
    assert f"is at migration {migration}, which this version does not know" in done.stderr
    assert not (tmp_path / "home" / "postgres").exists()


def test_a_server_of_ones_own_is_left_to_its_own_tools(tmp_path: Path) -> None:
    env = environment(tmp_path / "home") | {"IMPRINT_DATABASE_URL": "postgresql://me:hush@127.0.0.1/x"}
    for command in ("backup", "restore"):
        done = imprint(env, command, str(tmp_path / "copy"))
        assert (done.returncode, "pg_dump" in done.stderr, "hush" in done.stderr) == (1, True, False)

"""An archive of a server's log, and homes that are restored from it to one moment or another."""

from __future__ import annotations

import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from api.stack import archive, backup_log, backups, recovery
from api.stack.postgres import Postgres
from api.stack.recovery import Erasures, Recovered
from api.stack.up import alone
from core.errors import Misconfigured
from tests.patience import wait_until

MIGRATIONS = frozenset({"0007"})


@dataclass
class Core:
    """Stands for the memory core: records and repeats the cats of the table `erased`."""

    recorded: list[str] = field(default_factory=list)

    def record(self, url: str, _since: datetime) -> Iterator[str]:
        with psycopg.connect(url) as db:
            self.recorded = [f"{name}\n" for (name,) in db.execute("SELECT name FROM erased")]
        yield from self.recorded

    def repeat(self, url: str, lines: Iterable[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        with psycopg.connect(url) as db:
            for line in lines:
                counts["cat"] += db.execute("DELETE FROM cats WHERE name = %s", (line.strip(),)).rowcount
        return counts


@dataclass(frozen=True)
class Archived:
    """An archive of a server that is gone: moments in its history, and the last numbers that it gave out."""

    home: Path
    folder: Path
    before_felix: datetime
    last: tuple[int, int]


@contextmanager
def kept(home: Path, folder: Path) -> Iterator[list[str]]:
    """Keep an archive meanwhile; what it reports."""
    reports: list[str] = []
    errors: list[Exception] = []
    over = threading.Event()

    def run() -> None:
        try:
            archive.keep(home, folder, reports.append, over)
        except Misconfigured as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_until(lambda: bool(reports or errors))
        assert not errors, errors
        yield reports
    finally:
        over.set()
        thread.join()


@contextmanager
def served(home: Path) -> Iterator[psycopg.Connection]:
    """The server of a home, as under `imprint up`."""
    postgres = Postgres(home, durable=False)
    with alone(home):
        postgres.start()
        try:
            with psycopg.connect(postgres.url, autocommit=True) as db:
                yield db
        finally:
            postgres.stop()


def numbers(db: psycopg.Connection) -> tuple[int, int]:
    row = db.execute("SELECT pg_current_xact_id()::text::bigint, nextval('cat_numbers')").fetchone()
    assert row is not None
    return row[0], row[1]


def wait_until_received(home: Path) -> None:
    """Wait until the archive has all that was committed."""
    postgres = Postgres(home)
    postgres.port = archive.run_files.last_port(home, "postgres")
    with psycopg.connect(postgres.admin_url, autocommit=True) as db:
        target = db.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
        asked = "SELECT bool_or(flush_lsn >= %s::pg_lsn) FROM pg_stat_replication"
        wait_until(lambda: bool((db.execute(asked, target).fetchone() or (False,))[0]))


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Archived:
    home, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("archives") / "an archive 100%"
    with served(home) as db:
        db.execute("CREATE TABLE alembic_version AS SELECT '0007' AS version_num")
        db.execute("CREATE TABLE cats (name text); CREATE TABLE erased (name text); CREATE SEQUENCE cat_numbers")
        (home / "receipt.key").write_text("private")
        with kept(home, folder):
            db.execute("INSERT INTO cats VALUES ('Tom'), ('Garfield')")
            time.sleep(0.01)
            before = datetime.now(UTC)
            time.sleep(0.01)
            db.execute("INSERT INTO cats VALUES ('Felix')")
            db.execute("DELETE FROM cats WHERE name = 'Garfield'")
            db.execute("INSERT INTO erased VALUES ('Garfield')")
            last = numbers(db)
            wait_until_received(home)
            wait_until(lambda: backup_log.last(home) is not None)
    return Archived(home, folder, before, last)


def restored(archived: Archived, home: Path, at: datetime | None, core: Core | None = None) -> Recovered:
    core = core or Core()
    return recovery.restore(home, archived.folder, at, MIGRATIONS, Erasures(core.record, core.repeat))


def cats(home: Path) -> list[str]:
    with served(home) as db:
        return [name for (name,) in db.execute("SELECT name FROM cats ORDER BY name")]


def test_an_archive_is_for_its_owner_alone(archived: Archived) -> None:
    modes = {stat.S_IMODE(path.stat().st_mode) for path in archived.folder.rglob("*")}
    assert modes == {0o700, 0o600}
    assert (archived.folder / "keys" / "receipt.key").read_text() == "private"


def test_a_moment_is_restored_without_what_was_erased_since(archived: Archived, tmp_path: Path) -> None:
    core = Core()
    home = tmp_path / "a home 50%"
    result = restored(archived, home, archived.before_felix, core)
    assert (result.repeated, core.recorded) == ({"cat": 1}, ["Garfield\n"])
    assert result.last_at is not None
    assert result.last_at <= archived.before_felix
    assert cats(home) == ["Tom"]
    assert (home / "receipt.key").read_text() == "private"
    assert not (home / "restoring.jsonl").exists()
    assert not (home / "postgres" / recovery.STAGED).exists()
    with served(home) as db:
        transaction, number = numbers(db)
    assert transaction > archived.last[0] + recovery.MARGIN, "no number of the lost part is given out again"
    assert number > archived.last[1] + recovery.MARGIN


class Killed(Exception):
    """Stands for the end of the process: what has been begun is not cleared."""


def test_what_is_half_restored_is_not_served_and_restored_anew(
    archived: Archived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, core = tmp_path / "home", Core()

    def die(_url: str, _lines: Iterable[str]) -> Counter[str]:
        raise Killed

    monkeypatch.setattr(backups, "_clear", lambda _: None)
    with pytest.raises(Killed):
        recovery.restore(home, archived.folder, archived.before_felix, MIGRATIONS, Erasures(core.record, die))
    monkeypatch.undo()
    assert (home / "postgres").exists()
    with pytest.raises(Misconfigured, match="is half restored"):
        Postgres(home).start()
    restored(archived, home, archived.before_felix)
    assert cats(home) == ["Tom"]
    assert (home / "receipt.key").read_text() == "private"


def test_a_key_of_the_home_is_neither_overwritten_nor_removed(archived: Archived, tmp_path: Path) -> None:
    (tmp_path / "receipt.key").write_text("another")
    with pytest.raises(Misconfigured, match="differs from that of the backup"):
        restored(archived, tmp_path, None)
    assert {path.name for path in tmp_path.iterdir()} <= {"receipt.key", "run", "log"}
    (tmp_path / "receipt.key").write_text("private")
    with pytest.raises(Misconfigured, match="does not know"):
        recovery.restore(tmp_path, archived.folder, None, {"0008"}, Erasures(Core().record, Core().repeat))
    assert (tmp_path / "receipt.key").read_text() == "private"
    assert not (tmp_path / "secrets.json").exists()


@pytest.mark.recovery
def test_without_a_time_everything_is_restored(archived: Archived, tmp_path: Path) -> None:
    assert restored(archived, tmp_path / "home", None).repeated == {}
    assert cats(tmp_path / "home") == ["Felix", "Tom"]


@pytest.mark.recovery
def test_a_time_behind_the_end_restores_everything(archived: Archived, tmp_path: Path) -> None:
    restored(archived, tmp_path / "home", datetime.now(UTC) + timedelta(days=1))
    assert cats(tmp_path / "home") == ["Felix", "Tom"]


@pytest.mark.recovery
def test_what_cannot_be_restored_leaves_nothing_behind(archived: Archived, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with pytest.raises(Misconfigured, match="reaches back to"):
        restored(archived, home, datetime(2020, 1, 1, tzinfo=UTC))
    damaged = tmp_path / "damaged"
    shutil.copytree(archived.folder, damaged)
    control = archive.bases(damaged)[0].folder / "global" / "pg_control"
    control.write_bytes(control.read_bytes()[::-1])
    with pytest.raises(Misconfigured, match="pg_verifybackup refuses"):
        recovery.restore(home, damaged, None, MIGRATIONS, Erasures(Core().record, Core().repeat))
    with pytest.raises(Misconfigured, match="is at migration 0007, which this version does not know"):
        recovery.restore(home, archived.folder, None, {"0008"}, Erasures(Core().record, Core().repeat))
    with pytest.raises(Misconfigured, match="is not an archive"):
        recovery.restore(home, tmp_path, None, MIGRATIONS, Erasures(Core().record, Core().repeat))
    assert not (home / "postgres").exists()
    assert not (home / "restoring.json").exists()
    assert not (home / "receipt.key").exists()
    with pytest.raises(Misconfigured, match="already contains data"):
        restored(archived, archived.home, None)


@pytest.mark.recovery
def test_an_archive_is_continued_renewed_and_not_mixed_with_another(
    archived: Archived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "archive"
    shutil.copytree(archived.folder, folder)
    first = archive.bases(folder)[0]
    with served(archived.home) as db:
        monkeypatch.setattr(archive, "BASE_EVERY", timedelta(0))
        monkeypatch.setattr(archive, "WATCH_S", 0.01)
        with kept(archived.home, folder) as reports:
            for _ in range(3):
                db.execute("INSERT INTO cats VALUES ('Oscar')")
                db.execute("SELECT pg_switch_wal()")
            wait_until(lambda: len(reports) >= 3)
    assert first.folder not in [base.folder for base in archive.bases(folder)]
    assert len(archive.bases(folder)) == archive.BASES_KEPT
    segments = sorted(path.name for path in (folder / "wal").iterdir())
    assert segments[0] >= archive.bases(folder)[0].first_segment
    other = tmp_path / "other"
    with served(other), pytest.raises(AssertionError, match="is the archive of another database"), kept(other, folder):
        pass


@pytest.mark.recovery
def test_a_slot_that_is_gone_is_reported_and_nothing_is_recorded(archived: Archived, tmp_path: Path) -> None:
    postgres = Postgres(archived.home)
    with served(archived.home), kept(archived.home, tmp_path / "archive") as reports:
        postgres.port = archive.run_files.last_port(archived.home, "postgres")
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            active = "SELECT slot_name FROM pg_replication_slots WHERE active"
            wait_until(lambda: admin.execute(active).rowcount == 1)
            name = admin.execute(active).fetchone()
            wait_until(lambda: drop_slot(admin, name))
        (archived.home / backup_log.FILE).unlink(missing_ok=True)
        wait_until(lambda: any("does not exist" in report for report in reports))
        time.sleep(archive.STEADY_S + archive.WATCH_S)
        assert backup_log.last(archived.home) is None


def test_a_new_archive_ends_what_is_kept_for_the_ones_before(archived: Archived, tmp_path: Path) -> None:
    with served(archived.home), kept(archived.home, tmp_path / "archive"):
        postgres = Postgres(archived.home)
        postgres.port = archive.run_files.last_port(archived.home, "postgres")
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            names = "SELECT count(*) FROM pg_replication_slots WHERE slot_name ~ %s"
            wait_until(lambda: admin.execute(names, (archive.OWN_SLOT,)).fetchone() == (1,))


def drop_slot(admin: psycopg.Connection, name: tuple[str] | None) -> bool:
    """Drop the slot of a receiver, which is ended first."""
    admin.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %s", name)
    try:
        admin.execute("SELECT pg_drop_replication_slot(%s)", name)
    except psycopg.errors.ObjectInUse:
        return False
    return True


def test_nothing_is_archived_where_nothing_runs_nor_into_a_folder_with_something_else(
    archived: Archived, tmp_path: Path
) -> None:
    with pytest.raises(Misconfigured, match="Nothing runs on"):
        archive.keep(archived.home, tmp_path / "new", print, threading.Event())
    (tmp_path / "notes.txt").touch()
    with served(archived.home), pytest.raises(Misconfigured, match="is not empty and no archive"):
        archive.keep(archived.home, tmp_path, print, threading.Event())


@pytest.mark.parametrize(("text", "fault"), [("yesterday", "is no time"), ("2026-11-30T09:00:00", "has no offset")])
def test_a_time_needs_its_offset(text: str, fault: str) -> None:
    with pytest.raises(Misconfigured, match=fault):
        recovery.read_time(text)


def test_a_time_is_read_with_its_offset() -> None:
    assert recovery.read_time("2026-11-30T09:00:00+02:00") == datetime(2026, 11, 30, 7, tzinfo=UTC)

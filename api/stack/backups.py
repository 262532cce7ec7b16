"""Backups of a home: a `pg_dump` of the database, and its keys.

A backup is a folder (0700) of files (0600): `database.dump`, `manifest.json`, and under `keys/` each `*.key` file of
the home and the API key of its commands. The servers' passwords are not included: a home generates its own.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from api.stack import backup_log, pg_program, process, run_files, unfinished
from api.stack.postgres import Postgres
from api.stack.up import alone, is_running
from core.errors import Misconfigured
from core.storage.db import APP_ROLE, ROUTER_ROLE

FORMAT: Final = "imprint-backup/1"
DUMP: Final = "database.dump"
MANIFEST: Final = "manifest.json"
KEYS: Final = "keys"
COMMANDS_KEY: Final = Path("run") / "api.key"
BEGUN: Final = ("postgres", "postgres.new", "restoring.jsonl")
"""What a restore makes in a home besides keys: the data, and the record of the erasures to repeat."""


@dataclass(frozen=True, slots=True)
class CopyContent:
    """Content of a backup: bytes of the dump, migration of the database, and names of the keys."""

    database_bytes: int
    migration: str
    keys: tuple[str, ...]


def write(home: Path, folder: Path) -> CopyContent:
    """Write a backup of a home to a new folder; the service may be running. It contains everything accepted before.

    Raises:
        Misconfigured: there is no data in the home, the folder exists, or `pg_dump` fails.
    """
    home = home.expanduser().resolve()
    if not (home / "postgres").is_dir():
        raise Misconfigured(f"There is no data in {home}. Set IMPRINT_HOME to the folder that `imprint up` uses.")
    if folder.exists():
        raise Misconfigured(f"{folder} already exists; name a new folder.")
    draft = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        (draft / KEYS).mkdir(parents=True, mode=0o700)
        draft.chmod(0o700)
        with _running_postgres(home) as postgres:
            target = f"--file={private_file(draft / DUMP)}"
            pg_program.run(postgres, "pg_dump", "--format=custom", target, _database(postgres))
            migration = migration_of(postgres)
        keys = tuple(path.name for path in keys_of(home))
        for path in keys_of(home):
            private_file(draft / KEYS / path.name).write_bytes(path.read_bytes())
        copied = CopyContent((draft / DUMP).stat().st_size, migration, keys)
        manifest = {"format": FORMAT, "written_at": datetime.now(UTC).isoformat(), "migration": migration, "keys": keys}
        private_file(draft / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        draft.rename(folder)
        backup_log.record(home, folder)
    except OSError as error:
        raise Misconfigured(f"{folder} cannot be written: {process.reason(error)}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return copied


def restore(
    home: Path, folder: Path, migrations: Collection[str], finish: Callable[[str], None] | None = None
) -> CopyContent:
    """Restore a backup into a home without data; `imprint up` then serves it.

    `migrations`: those of this version; a backup at another one is refused. `finish` is called at the end with the
    owner's URL of the database, while the server runs.

    Raises:
        Misconfigured: it is not a backup, the home contains data, or `pg_restore` fails; then nothing is left behind.
    """
    home = home.expanduser().resolve()
    copied = _read(folder)
    require_known(folder, copied.migration, migrations)
    with alone(home), filling(home, folder / KEYS, copied.keys):
        postgres = Postgres(home, restoring=True)
        try:
            postgres.start()
            _make_roles(postgres)
            whole = ("--single-transaction", "--exit-on-error")
            pg_program.run(postgres, "pg_restore", *whole, f"--dbname={_database(postgres)}", folder / DUMP)
            with psycopg.connect(postgres.admin_url, autocommit=True) as db:
                db.execute("ANALYZE")
            if finish is not None:
                finish(postgres.url)
        finally:
            postgres.stop()
    return copied


@contextmanager
def filling(home: Path, keys: Path, names: tuple[str, ...]) -> Iterator[None]:
    """Put the keys of a backup into a home without data, and mark it meanwhile as half restored.

    What a restore that was killed has begun is cleared first. After an error nothing is left behind.

    Raises:
        Misconfigured: the home contains data, or a key that differs.
    """
    if unfinished.is_marked(home):
        _clear(home)
    if (home / "postgres").exists():
        raise Misconfigured(f"{home} already contains data. Set IMPRINT_HOME to a new folder, or move the data away.")
    missing = _missing_keys(home, keys, names)
    unfinished.mark(home, [str(path) for path in missing])
    try:
        for path in missing:
            private_file(home / path).write_bytes((keys / path.name).read_bytes())
        yield
    except BaseException:
        _clear(home)
        raise
    unfinished.unmark(home)


def _clear(home: Path) -> None:
    """Remove what a restore has put into a home, the mark last."""
    process.reclaim(home, Postgres.name, Postgres.farewell, process.STOP_GRACE_S)
    for name in BEGUN[:2]:
        shutil.rmtree(home / name, ignore_errors=True)
    for name in (*BEGUN[2:], *unfinished.marked(home)):
        (home / name).unlink(missing_ok=True)
    if (home / "postgres").exists():
        raise Misconfigured(f"{home / 'postgres'} cannot be removed; remove it by hand, and restore again.")
    unfinished.unmark(home)


def _missing_keys(home: Path, keys: Path, names: tuple[str, ...]) -> list[Path]:
    """Return the keys that a home lacks, as paths in it. Misconfigured: it has another one of that name."""
    places = {name: COMMANDS_KEY if name == COMMANDS_KEY.name else Path(name) for name in names}
    for name, path in places.items():
        if (home / path).exists() and (home / path).read_bytes() != (keys / name).read_bytes():
            raise Misconfigured(
                f"{home / path} differs from that of the backup. Set IMPRINT_HOME to a new folder, or move it away."
            )
    return [path for path in places.values() if not (home / path).exists()]


@contextmanager
def _running_postgres(home: Path) -> Iterator[Postgres]:
    """Yield the home's PostgreSQL: as it runs under `imprint up`, or started for the duration of the context."""
    postgres = Postgres(home)
    if is_running(home):
        postgres.port = run_files.last_port(home, postgres.name)
        yield postgres
        return
    with alone(home):
        postgres.start()
        try:
            yield postgres
        finally:
            postgres.stop()


def _database(postgres: Postgres) -> str:
    return urlsplit(postgres.admin_url).path[1:]


def _make_roles(postgres: Postgres) -> None:
    """Create the roles that the dump grants rights to; the next `imprint up` sets their passwords."""
    with psycopg.connect(postgres.url, autocommit=True) as db:
        for role in (APP_ROLE, ROUTER_ROLE):
            db.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))


def migration_of(postgres: Postgres) -> str:
    """Return the migration of the database. Misconfigured: it has no tables."""
    with psycopg.connect(postgres.admin_url) as db:
        try:
            row = db.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            row = None
    if row is None:
        raise Misconfigured("The database has no tables yet; start `imprint up` once.")
    return str(row[0])


def require_known(folder: Path, migration: str, migrations: Collection[str]) -> None:
    """Misconfigured: a backup or archive is at a migration that this version does not have."""
    if migration not in migrations:
        raise Misconfigured(
            f"{folder} is at migration {migration}, which this version does not know. "
            f"Install the version that wrote it."
        )


def keys_of(home: Path) -> list[Path]:
    """Return each `*.key` file of a home, and the API key of its commands."""
    keys = [path for path in sorted(home.glob("*.key")) if path.is_file()]
    return keys + ([home / COMMANDS_KEY] if (home / COMMANDS_KEY).is_file() else [])


def private_file(path: Path) -> Path:
    """Create an empty file that only its owner can read."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def _read(folder: Path) -> CopyContent:
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        names = tuple(Path(name).name for name in manifest["keys"])
        size = (folder / DUMP).stat().st_size
        content = CopyContent(size, str(manifest["migration"]), names) if manifest["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        content = None
    if content is None or not all((folder / KEYS / name).is_file() for name in content.keys):
        raise Misconfigured(f"{folder} is not a complete backup written by `imprint backup`.")
    return content

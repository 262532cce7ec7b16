"""Restores an archive into a home without data: to its end, or to a time, with the erasures since then repeated."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from api.stack import archive, backups, host, pg_program, process
from api.stack.archive import Base
from api.stack.postgres import Postgres
from api.stack.process import NotStarted
from api.stack.up import alone
from core.errors import Misconfigured

STAGED: Final = "archived_wal"
"""Folder in the data directory with the archived log, where the server's own user can read it."""

RECOVERY_LIMIT_S: Final = 24 * 3600.0
TOO_LATE: Final = "recovery ended before configured recovery target"
MARGIN: Final = 10_000
"""Numbers skipped beyond the end of the archive, for the second of the log that the receiver may not have got."""

Record = Callable[[str, datetime], Iterable[str]]
"""Yields the lines of the erasures on record in a database (the owner's URL) since a time."""

Repeat = Callable[[str, Iterable[str]], Counter[str]]
"""Migrates a database (the owner's URL) and repeats the erasures of these lines; returns how many of each kind."""


@dataclass(frozen=True, slots=True)
class Erasures:
    """What the memory core does for a restore."""

    record: Record
    repeat: Repeat


@dataclass(frozen=True, slots=True)
class Recovered:
    """Result of a restore: the base, the time of the last transaction, and the erasures that were repeated."""

    base: str
    last_at: datetime | None
    repeated: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers that a database has given out: of transactions, and of each sequence."""

    transaction: int
    sequences: Mapping[str, int]


def restore(
    home: Path, folder: Path, at: datetime | None, migrations: Collection[str], erasures: Erasures
) -> Recovered:
    """Restore an archive; `imprint up` then serves it. `at`: the last moment that counts; None: all there is.

    For a time the log is replayed twice: from the newest base to its end, to record what was erased after `at`, and
    again up to `at`.
    Numbers of the part that is left out are never given out again, because clients may hold them.

    Raises:
        Misconfigured: it is no archive, has a gap, does not reach back so far, the home contains data or another key,
            or PostgreSQL refuses; then nothing is left behind.
    """
    home, folder = home.expanduser().resolve(), folder.absolute()
    archive.manifest(folder)
    base, newest = _base(folder, at), archive.bases(folder)[-1]
    archive.require_whole_log(folder, base)
    keys = folder / backups.KEYS
    with alone(home), backups.filling(home, keys, tuple(sorted(path.name for path in keys.iterdir()))):
        host.check_free_disk(home)
        return _Restoration(home, folder, base, newest, at, migrations, erasures).run()


def _base(folder: Path, at: datetime | None) -> Base:
    """Return the newest base from which the time can be reached."""
    held = archive.bases(folder)
    fitting = [base for base in held if at is None or base.at <= at]
    if not fitting:
        raise Misconfigured(f"{folder} reaches back to {held[0].at.isoformat()}, not to {at and at.isoformat()}.")
    return fitting[-1]


@dataclass(frozen=True, slots=True)
class _Restoration:
    home: Path
    folder: Path
    base: Base
    newest: Base
    at: datetime | None
    migrations: Collection[str]
    erasures: Erasures

    def run(self) -> Recovered:
        if self.at is None:
            with self._recovered(self.base, None) as postgres:
                last_at = _last_at(postgres)
                _skip(postgres, _numbers(postgres))
            return Recovered(self.base.folder.name, last_at)
        numbers = self._record_lost(self.at)
        shutil.rmtree(self.home / "postgres")
        with self._recovered(self.base, self.at) as postgres:
            last_at = _last_at(postgres)
            _skip(postgres, numbers)
            with self._lost.open() as lines:
                repeated = self.erasures.repeat(postgres.url, lines)
        self._lost.unlink()
        return Recovered(self.base.folder.name, last_at, repeated)

    @property
    def _lost(self) -> Path:
        return self.home / "restoring.jsonl"

    def _record_lost(self, at: datetime) -> _Numbers:
        """Replay the log from the newest base to its end, and record what was erased after the time."""
        with self._recovered(self.newest, None) as postgres, backups.private_file(self._lost).open("w") as lines:
            lines.writelines(self.erasures.record(postgres.url, at))
            return _numbers(postgres)

    @contextmanager
    def _recovered(self, base: Base, at: datetime | None) -> Iterator[Postgres]:
        """Yield the server once it has replayed the log up to the time; at a time behind its end, all of it."""
        postgres = self._lay(base, at)
        try:
            try:
                postgres.start()
            except NotStarted as error:
                if at is None or not any(TOO_LATE in line for line in (error.detail, *error.lines)):
                    raise
                postgres = self._server(None)
                postgres.start()
            backups.require_known(self.folder, backups.migration_of(postgres), self.migrations)
            yield postgres
        finally:
            postgres.stop()
        shutil.rmtree(self._staged)

    @property
    def _staged(self) -> Path:
        return self.home / "postgres" / STAGED

    def _lay(self, base: Base, at: datetime | None) -> Postgres:
        """Copy the base and its log into the home, where the server finds that it is to recover."""
        data = self.home / "postgres"
        pg_program.execute(
            [str(pg_program.path("pg_verifybackup")), "--no-parse-wal", str(base.folder)], host.server_env()
        )
        shutil.copytree(base.folder, data, symlinks=True)
        data.chmod(0o700)
        self._staged.mkdir(mode=0o700)
        # A whole file replaces a partial one.
        for source in sorted((self.folder / archive.WAL).iterdir(), reverse=True):
            if source.name.removesuffix(archive.PARTIAL) >= base.first_segment:
                shutil.copy2(source, self._staged / source.name.removesuffix(archive.PARTIAL))
        (data / "recovery.signal").touch()
        postgres = self._server(at)
        if postgres.account is not None:
            for path in (data, *data.rglob("*")):
                shutil.chown(path, postgres.account.uid, postgres.account.gid)
        return postgres

    def _server(self, at: datetime | None) -> Postgres:
        source = shlex.quote(str(self._staged)).replace("%", "%%")
        extra = {
            "restore_command": f'cp {source}/%f "%p"',
            "hot_standby": "off",  # so that it answers only when it has replayed everything
            "recovery_target_action": "promote",
            **({"recovery_target_time": at.isoformat()} if at else {}),
        }
        postgres = Postgres(self.home, extra=extra, restoring=True)
        postgres.start_limit_s = RECOVERY_LIMIT_S
        return postgres


LAST_COMPLETED: Final = "last completed transaction was at log time "


def _last_at(postgres: Postgres) -> datetime | None:
    """Return the time of the last transaction that was replayed, from the server's log."""
    log = process.log_file(postgres.home, postgres.name)
    lines = [line for line in log.read_text(errors="replace").splitlines() if LAST_COMPLETED in line]
    return datetime.fromisoformat(lines[-1].partition(LAST_COMPLETED)[2].strip()) if lines else None


def _numbers(postgres: Postgres) -> _Numbers:
    with psycopg.connect(postgres.admin_url) as db:
        rows = db.execute("SELECT schemaname || '.' || sequencename, last_value FROM pg_sequences").fetchall()
        snapshot = db.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()
    return _Numbers(snapshot[0] if snapshot else 0, {name: value for name, value in rows if value is not None})


def _skip(postgres: Postgres, numbers: _Numbers) -> None:
    """Give out no number again that these say, nor those of the margin behind them.

    Followers of the log hold positions made of transaction and sequence, caches the transactions of rows.
    """
    with psycopg.connect(postgres.admin_url, autocommit=True) as db:
        for name, value in numbers.sequences.items():
            statement = sql.SQL("SELECT setval({}, greatest(last_value, {}) + {}) FROM {}")
            identifier = sql.Identifier(*name.split("."))
            db.execute(statement.format(sql.Literal(name), sql.Literal(value), sql.Literal(MARGIN), identifier))
        db.execute("SET synchronous_commit = off")
        db.execute(sql.SQL(_BURN).format(sql.Literal(numbers.transaction + MARGIN)))
        db.execute("CHECKPOINT")


_BURN: Final = """
    DO $$ BEGIN
        WHILE pg_current_xact_id()::text::bigint < {} LOOP COMMIT; END LOOP;
    END $$
"""
"""A transaction for each number: PostgreSQL has no other way to skip them while it runs."""


def read_time(text: str) -> datetime:
    """Parse a time with its offset, such as 2026-11-30T09:00:00Z. Misconfigured: it is none, or has no offset."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Misconfigured(f"{text!r} is no time. Write it as 2026-11-30T09:00:00Z.") from None
    if at.tzinfo is None:
        raise Misconfigured(f"{text!r} has no offset. Add Z for UTC, or an offset such as +02:00.")
    return at.astimezone(UTC)

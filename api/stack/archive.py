"""Continuous backups of a home: copies of the database's files, and the write-ahead log as it is written.

An archive is a folder (0700): `manifest.json`; `bases/`, one folder for each copy, named by the time from which the
database can be restored by it; `wal/`, the log since the oldest of them; `keys/`, with the passwords of the copied
server. What was erased leaves the archive with the last base that was made before: after two weeks.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import psycopg

from api.stack import backup_log, backups, pg_program, process, run_files
from api.stack.postgres import Postgres
from api.stack.process import Process
from api.stack.up import is_running
from core.errors import Misconfigured
from core.types import Json

FORMAT: Final = "imprint-archive/1"
BASES: Final = "bases"
WAL: Final = "wal"
PASSWORDS: Final = "secrets.json"
BASE_NAME: Final = "%Y%m%dT%H%M%S.%fZ"
FIRST_SEGMENT: Final = re.compile(r"^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)", re.MULTILINE)

SEGMENT: Final = re.compile(r"[0-9A-F]{24}$")
PARTIAL: Final = ".partial"

BASE_EVERY: Final = timedelta(days=7)
BASES_KEPT: Final = 2
"""So that the archive reaches back one to two weeks."""

WATCH_S: Final = 1.0
RECORD_S: Final = 60.0
DISCONNECTED: Final = "error: disconnected"
"""Last line of a receiver that ends, behind the reason."""

STEADY_S: Final = 3.0
"""A receiver that lives so long is connected."""

BASE_PAUSE_S: Final = 3600.0
"""Pause after a base that failed, which may have copied most of the database."""

ARCHIVER: Final = "archiver"
RECEIVER: Final = "wal-receiver"
RECEIVER_GRACE_S: Final = 5.0
FREE_SHARE: Final = 1.1
"""Free bytes of the disk that a base needs, in sizes of the database."""


@dataclass(frozen=True, slots=True)
class Base:
    """A copy of the database's files. `at`: the earliest time that can be restored from it."""

    folder: Path
    at: datetime

    @property
    def first_segment(self) -> str:
        """The first file of the log that it needs."""
        match = FIRST_SEGMENT.search((self.folder / "backup_label").read_text())
        if match is None:
            raise Misconfigured(f"{self.folder} is damaged: its backup_label names no file of the log.")
        return match[1]


def keep(home: Path, folder: Path, report: Callable[[str], None], over: threading.Event) -> None:
    """Keep an archive up to date until `over`: a base now, another each week, and the log without a pause.

    A folder that was begun is continued. `report` is told what happens, a sentence each.

    Raises:
        Misconfigured: nothing runs on the home, another process archives it, the folder belongs to another database, or
            the first base fails.
    """
    home, folder = home.expanduser().resolve(), folder.absolute()
    if not is_running(home):
        raise Misconfigured(f"Nothing runs on {home}. Start `imprint up` first, or set IMPRINT_HOME.")
    with _alone(home):
        archiver = _Archiver(home, folder, report)
        archiver.prepare()
        try:
            while not over.is_set():
                archiver.turn()
                over.wait(WATCH_S)
        finally:
            archiver.stop()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Lock the archiving of a home. Misconfigured: another process archives it."""
    with ExitStack() as held:
        try:
            held.enter_context(process.held(home, ARCHIVER))
        except process.NotStarted:
            raise Misconfigured(
                f"Another `imprint backup --continuous` runs on {home}. Stop it first, or let it go on alone."
            ) from None
        yield


def bases(folder: Path) -> list[Base]:
    """Return the complete bases of an archive, the oldest first."""
    paths = sorted((folder / BASES).glob("[0-9]*Z"))
    return [Base(path, datetime.strptime(path.name, BASE_NAME).replace(tzinfo=UTC)) for path in paths]


def require_whole_log(folder: Path, base: Base) -> None:
    """Misconfigured: a file of the log is missing, between the first that a base needs and the last."""
    held = {path.name.removesuffix(PARTIAL) for path in (folder / WAL).iterdir()}
    held |= {path.name for path in (base.folder / "pg_wal").glob("*")}
    numbers = {_number(name): name for name in held if SEGMENT.match(name) and name >= base.first_segment}
    numbers[_number(base.first_segment) - 1] = ""
    for number, following in itertools.pairwise(sorted(numbers)):
        if following != number + 1:
            raise Misconfigured(
                f"{folder / WAL} has a gap before {numbers[following]}: files of the log are missing. "
                "What is behind it cannot be restored; look for them in a copy of the folder."
            )


def _number(segment: str) -> int:
    """Return the place of a file of the log, of 16 MB: 256 to each number in the middle of its name."""
    return int(segment[8:16], 16) * 256 + int(segment[16:], 16)


def manifest(folder: Path) -> Json:
    """Return the manifest of an archive. Misconfigured: the folder is none."""
    try:
        content: Any = json.loads((folder / backups.MANIFEST).read_text())
        if content["format"] == FORMAT and bases(folder):
            return dict(content)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise Misconfigured(f"{folder} is not an archive written by `imprint backup --continuous`, or has no base yet.")


def is_archive(folder: Path) -> bool:
    """Return whether a folder looks like an archive, and not like a dump."""
    return (folder / BASES).is_dir()


class _Archiver:
    """Writes one archive: runs the receiver of the log, takes bases, removes what is older."""

    def __init__(self, home: Path, folder: Path, report: Callable[[str], None]) -> None:
        self._home, self._folder, self._report = home, folder, report
        self._postgres = Postgres(home)
        self._slot = f"imprint_{sha256(str(folder).encode()).hexdigest()[:12]}"
        self._receiver: Process | None = None
        self._began = self._recorded = self._copied = self._failed = float("-inf")
        self._complaint = self._base_complaint = ""

    def prepare(self) -> None:
        """Make the folders, the manifest and the slot that keeps the log for the receiver."""
        self._find_port()
        with psycopg.connect(self._postgres.admin_url, autocommit=True) as db:
            identity = self._identity(db)
            self._claim_folder(identity)
            slot = db.execute("SELECT FROM pg_replication_slots WHERE slot_name = %s", (self._slot,)).fetchone()
            if slot is None:
                db.execute("SELECT pg_create_physical_replication_slot(%s, true)", (self._slot,))
        process.reclaim(self._home, RECEIVER)

    def turn(self) -> None:
        """Start the receiver if it does not run, and take a base if one is due."""
        self._find_port()
        if self._receiver is None or not self._receiver.alive():
            self._complain()
            self._receiver, self._began = self._receive(), time.monotonic()
        last = next(reversed(bases(self._folder)), None)
        is_due = last is None or datetime.now(UTC) - last.at >= BASE_EVERY
        if is_due and time.monotonic() - self._failed >= BASE_PAUSE_S:
            self._try_base(first=last is None)
        self._keep_keys()
        self._record()

    def _record(self) -> None:
        """Record for `imprint doctor` that the log is received, if it has been for a while."""
        now = time.monotonic()
        is_steady = self._receiver is not None and self._receiver.alive() and now - self._began >= STEADY_S
        if is_steady and now - self._recorded >= RECORD_S:
            backup_log.record(self._home, self._folder)
            self._recorded, self._complaint = now, ""

    def _complain(self) -> None:
        """Report why the receiver ended, once for each reason."""
        lines = self._receiver.last_lines() if self._receiver is not None else []
        reason = next((line for line in reversed(lines) if not line.endswith(DISCONNECTED)), "")
        if reason and reason != self._complaint:
            self._report(f"The log is not received, trying again: {reason}")
            self._complaint = reason

    def stop(self) -> None:
        """Stop the receiver; the slot keeps the log for the next one."""
        if self._receiver is not None:
            self._receiver.end(signal.SIGINT, RECEIVER_GRACE_S)

    @property
    def _draft(self) -> Path:
        return self._folder / BASES / "partial"

    def _find_port(self) -> None:
        self._postgres.port = run_files.last_port(self._home, self._postgres.name)

    def _identity(self, db: psycopg.Connection) -> Json:
        row = db.execute(
            "SELECT s.system_identifier::text, c.timeline_id FROM pg_control_system() s, pg_control_checkpoint() c"
        ).fetchone()
        return dict(zip(("system_identifier", "timeline"), row or (), strict=True))

    def _claim_folder(self, identity: Json) -> None:
        """Make an empty archive, or check that this one is of the same database."""
        path = self._folder / backups.MANIFEST
        if path.exists():
            held = json.loads(path.read_text())
            if any(held.get(name) != value for name, value in identity.items()):
                raise Misconfigured(f"{self._folder} is the archive of another database; name a new folder.")
            return
        if self._folder.exists() and any(self._folder.iterdir()):
            raise Misconfigured(f"{self._folder} is not empty and no archive; name a new folder.")
        try:
            for name in (BASES, WAL, backups.KEYS):
                (self._folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.chmod(0o700)
            backups.private_file(path).write_text(json.dumps({"format": FORMAT, **identity}, indent=1) + "\n")
        except OSError as error:
            raise Misconfigured(f"{self._folder} cannot be written: {process.reason(error)}.") from error

    def _receive(self) -> Process:
        arguments = (f"--directory={self._folder / WAL}", f"--slot={self._slot}", "--synchronous", "--no-loop")
        command = pg_program.command(self._postgres, "pg_receivewal", *arguments)
        return process.spawn(self._home, RECEIVER, command, pg_program.environment(self._postgres))

    def _try_base(self, *, first: bool) -> None:
        try:
            self._take_base()
        except (Misconfigured, psycopg.Error, OSError) as error:
            reason = _reason(error)
            if first:
                raise Misconfigured(f"No base: {reason}") from error
            self._failed = time.monotonic()
            if reason != self._base_complaint:
                self._report(f"No new base, trying again each hour: {reason}")
            self._base_complaint = reason
            return
        self._base_complaint = ""
        if first:
            self._drop_other_slots()

    def _take_base(self) -> None:
        shutil.rmtree(self._draft, ignore_errors=True)
        self._require_space()
        self._copy_keys()
        options = ("--format=plain", "--wal-method=stream", "--checkpoint=fast", "--label=imprint")
        pg_program.run(self._postgres, "pg_basebackup", f"--pgdata={self._draft}", *options)
        taken = Base(self._folder / BASES / datetime.now(UTC).strftime(BASE_NAME), datetime.now(UTC))
        self._draft.rename(taken.folder)
        self._report(f"Base {taken.folder.name} is complete; from then on, any moment can be restored.")
        self._prune()

    def _drop_other_slots(self) -> None:
        """Keep no log for archives of this home that nobody continues: this one has replaced them."""
        with psycopg.connect(self._postgres.admin_url, autocommit=True) as db:
            for (name,) in db.execute(_OTHER_SLOTS, (OWN_SLOT, self._slot)).fetchall():
                with suppress(psycopg.errors.ObjectInUse, psycopg.errors.UndefinedObject):
                    db.execute("SELECT pg_drop_replication_slot(%s)", (name,))

    def _require_space(self) -> None:
        with psycopg.connect(self._postgres.admin_url) as db:
            row = db.execute("SELECT sum(pg_database_size(oid))::bigint FROM pg_database").fetchone()
        needed, free = int(FREE_SHARE * (row[0] if row else 0)), shutil.disk_usage(self._folder).free
        if free < needed:
            raise Misconfigured(f"disk full: a base needs {needed:,} bytes, {free:,} are free under {self._folder}.")

    def _keep_keys(self) -> None:
        """Copy the keys that have changed, each minute."""
        if time.monotonic() - self._copied < RECORD_S:
            return
        self._copied = time.monotonic()
        try:
            self._copy_keys()
        except OSError as error:
            self._report(f"The keys are not copied, trying again: {process.reason(error)}.")

    def _copy_keys(self) -> None:
        """Copy what has changed, each key at once, and then remove what the home has no longer."""
        keys, draft = self._folder / backups.KEYS, self._folder / "key.partial"
        sources = {path.name: path for path in (*backups.keys_of(self._home), self._home / PASSWORDS)}
        for name, source in sources.items():
            content, target = source.read_bytes(), keys / name
            if not target.exists() or target.read_bytes() != content:
                draft.unlink(missing_ok=True)
                backups.private_file(draft).write_bytes(content)
                draft.replace(target)
        for path in list(keys.iterdir()):
            if path.name not in sources:
                path.unlink()

    def _prune(self) -> None:
        """Remove bases beyond those kept, and the log before the oldest that is left."""
        held = bases(self._folder)
        for base in held[:-BASES_KEPT]:
            shutil.rmtree(base.folder)
        oldest = held[-BASES_KEPT:][0]
        command = [str(pg_program.path("pg_archivecleanup")), str(self._folder / WAL), oldest.first_segment]
        pg_program.execute(command, pg_program.environment(self._postgres))


def _reason(error: Misconfigured | psycopg.Error | OSError) -> str:
    if isinstance(error, Misconfigured):
        return error.detail
    return process.reason(error) if isinstance(error, OSError) else str(error).partition("\n")[0]


OWN_SLOT: Final = "^imprint_[0-9a-f]{12}$"

_OTHER_SLOTS: Final = """
    SELECT slot_name FROM pg_replication_slots
    WHERE NOT active AND slot_type = 'physical' AND slot_name ~ %s AND slot_name <> %s
"""

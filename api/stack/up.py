"""`imprint up`: start servers, migrate, start processes, wait until ready; then stay, or run one function and stop."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from api.stack import host as stack_host
from api.stack import process, run_files
from api.stack.broker import Broker
from api.stack.forking import ForkServer
from api.stack.postgres import Postgres
from api.stack.process import NotStarted
from api.stack.screen import Screen
from api.stack.supervisor import Child, ChildProcess, Supervisor
from core import deferred
from core.errors import ImprintError, Misconfigured

READY_LIMIT_S = 120.0
PROBE_LIMIT_S = 2.0
STATUS_LINE_BYTES = 100
WATCH_S = 0.5
"""Interval at which a stack that is ready is looked at: each look asks for every process."""

REST_S = 15.0
"""Seconds after the last fork in which the fork server of a small stack keeps what it has imported."""

START_TRIES = 3
"""Attempts of each process before the stack is first ready; a process that dies as often will never start."""

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder of the metrics of all processes (`core.metrics`, which is not imported here)."""

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

RunProcess = Callable[[Child, Mapping[str, str]], None]
"""Runs a process to its end, with an environment; Misconfigured with its last words if it fails."""

Prepare = Callable[[Mapping[str, str], RunProcess], Mapping[str, str]]
"""Brings the database up to date, in an environment; returns the URLs of its roles by setting."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Address to listen at; port 0: none. Unless it is `fixed`, a taken port is replaced by a free one."""

    host: str
    port: int
    fixed: bool = True


@dataclass(frozen=True, slots=True)
class StackPlan:
    """Stack to run. `env` is added to the environment; a server without a URL is started from its wheel.

    `small`: so is PostgreSQL's cache, and the fork server rests.
    """

    env: Mapping[str, str]
    home: str
    http: ListenAddress
    metrics: ListenAddress
    quiet: bool
    small: bool
    database_url: str | None
    broker_url: str | None
    children: Sequence[Child]


def up(
    plan: StackPlan, prepare: Prepare, forks: ForkServer | None = None, on_ready: Callable[[], None] | None = None
) -> int:
    """Run the whole stack until Ctrl-C or SIGTERM, or until `on_ready` returns; return the exit code of the command.

    `prepare` is called once the servers answer, in this process's environment with that of the plan, IMPRINT_HOME,
    IMPRINT_DATABASE_URL (the owner's) and IMPRINT_BROKER_URL. It returns the URLs of the roles, by setting; each child
    gets those that it names, and never the owner's. `forks` forks all children which are modules. An ImprintError
    becomes one line on standard error and exit code 1; of a process that does not start, its last lines follow.
    """
    screen = Screen(quiet=plan.quiet)
    home = Path(plan.home).expanduser().resolve()
    try:
        with alone(home), _signals_end():
            stack = _Stack(home, plan, screen, forks)
            try:
                stack.start(prepare)
                stack.stay(on_ready)
            finally:
                stack.stop()
    except ImprintError as error:
        screen.complain(error.detail)
        for line in error.lines if isinstance(error, NotStarted) else ():
            screen.complain(f"| {line}")
        return 1
    except KeyboardInterrupt:
        screen.say("Everything has ended; the data stays.")
    finally:
        if forks:
            forks.stop()
    return 0


class _Stack:
    """The running stack: its members and addresses."""

    def __init__(self, home: Path, plan: StackPlan, screen: Screen, forks: ForkServer | None) -> None:
        self._home, self._plan, self._screen, self._forks = home, plan, screen, forks
        self._http, self._metrics = plan.http, plan.metrics
        self._supervisor = Supervisor(screen.complain)

    @property
    def http_url(self) -> str:
        """The URL of the API for commands on this machine."""
        return _local_url(self._http)

    def start(self, prepare: Prepare) -> None:
        """Start servers, prepare, start children, wait until ready, show the table."""
        settings_env = {**os.environ, **self._plan.env}
        stack_host.check_free_disk(self._home)
        self._end_orphans()
        self._check_ports()
        _empty_metrics(settings_env)
        self._screen.say(f"Starting on {self._home} …")
        if self._forks and self._plan.small:
            self._forks.rest_s = REST_S
        urls = self._start_servers()
        env = {**settings_env, "IMPRINT_HOME": str(self._home), **urls}
        self._tell_commands(urls)
        roles = prepare(env, self._run)
        for child in self._plan.children:
            self._supervisor.add(ChildProcess(self._home, child, env | self._of_child(child, roles), self._forks))
        if not self._supervisor.run(self._ready, READY_LIMIT_S):
            raise Misconfigured(f"Not ready after {READY_LIMIT_S:.0f} s; the logs in {self._home / 'log'} say why.")
        self._screen.show(self._supervisor.watched, self.http_url, self._home)

    def _of_child(self, child: Child, roles: Mapping[str, str]) -> dict[str, str]:
        """Return a child's own environment. An empty value hides one in `.env` or `imprint.toml`."""
        urls = {name: url if name in child.roles else "" for name, url in roles.items()}
        port = self._metrics.port if child.shows_metrics else 0
        return {**urls, "IMPRINT_DATABASE_URL": "", "IMPRINT_METRICS_PORT": str(port)}

    def _run(self, child: Child, env: Mapping[str, str]) -> None:
        ChildProcess(self._home, child, env, self._forks).run()

    def stay(self, on_ready: Callable[[], None] | None) -> None:
        """Watch until `on_ready` has returned; without it, until a signal."""
        if on_ready is None:
            self._supervisor.run(lambda: False, every_s=WATCH_S)
            return
        over = threading.Event()
        watcher = threading.Thread(target=self._supervisor.run, args=(over.is_set,), name="supervisor")
        watcher.start()
        try:
            on_ready()
        finally:
            over.set()
            watcher.join()

    def stop(self) -> None:
        """Stop everything, which takes at most 10 s; further signals do not speed it up."""
        for number in END_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self._supervisor.stop()
        run_files.forget_stack(self._home)

    def _start_servers(self) -> dict[str, str]:
        database_url, broker_url, small = self._plan.database_url, self._plan.broker_url, self._plan.small
        postgres = _external("postgres", database_url) if database_url else Postgres(self._home, small=small)
        broker = _external("broker", broker_url) if broker_url else Broker(self._home)
        for server in (postgres, broker):
            self._supervisor.add(server)
        return {"IMPRINT_DATABASE_URL": postgres.url, "IMPRINT_BROKER_URL": broker.url}

    def _tell_commands(self, urls: Mapping[str, str]) -> None:
        run_files.write_stack(
            self._home,
            {
                "database_url": urls["IMPRINT_DATABASE_URL"],
                "broker_url": urls["IMPRINT_BROKER_URL"],
                "http_url": self.http_url,
                **({"metrics_url": f"{_local_url(self._metrics)}/metrics"} if self._metrics.port else {}),
                "pid": os.getpid(),
            },
        )

    def _end_orphans(self) -> None:
        """End the processes that a killed `imprint up` left behind; servers look for their own."""
        for child in self._plan.children:
            if process.reclaim(self._home, child.name):
                self._screen.complain(f"Ended a {child.name} that an earlier run had left behind.")

    def _check_ports(self) -> None:
        if not _is_free(self._http, "HTTP"):
            raise _port_taken(self._http, "Stop it or set IMPRINT_HTTP_PORT to a free port.")
        if self._metrics.port and not _is_free(self._metrics, "METRICS"):
            if self._metrics.fixed:
                raise _port_taken(self._metrics, "Stop it or set IMPRINT_METRICS_PORT to a free port, or to 0.")
            self._metrics = replace(self._metrics, port=run_files.free_port(self._metrics.host))

    def _ready(self) -> bool:
        """Return whether `/readyz` answers 200. Misconfigured: a process cannot start."""
        failing = self._supervisor.first_failing(START_TRIES)
        if failing is not None:
            sentence = f"{failing.name} does not start ({failing.exit()}); see {failing.where}."
            raise NotStarted(sentence, failing.last_lines())
        return _answers_ok(*_host_port(self.http_url), "/readyz")


def _answers_ok(host: str, port: int, path: str) -> bool:
    """Return whether a GET is answered by 200. In three lines: a client library is memory that stays."""
    try:
        with socket.create_connection((host, port), PROBE_LIMIT_S) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            return line.makefile("rb").readline(STATUS_LINE_BYTES).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def _external(name: str, url: str) -> Any:
    """Return a server elsewhere. Loaded by name: its clients are memory that most stacks never need."""
    return deferred.load("api.stack.external:External")(name, url)


def _empty_metrics(env: Mapping[str, str]) -> None:
    """Empty the folder of counters left by the processes of an earlier run, whose ids recur."""
    if METRICS_FOLDER in env:
        shutil.rmtree(env[METRICS_FOLDER], ignore_errors=True)
        Path(env[METRICS_FOLDER]).mkdir(parents=True)


def is_running(home: Path) -> bool:
    """Return whether an `imprint up` holds the data directory now."""
    try:
        with (home / "run" / "up.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Lock the data directory for this process; the lock is released when the process ends for any reason.

    Raises:
        Misconfigured: another `imprint up` holds it.
    """
    process.furnish_home(home)
    path = home / "run" / "up.lock"
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Misconfigured(
                f"Imprint is already running in {home} (pid {lock.read().strip()}). "
                "Stop that one, or set IMPRINT_HOME to another folder."
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


@contextlib.contextmanager
def _signals_end() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C: by KeyboardInterrupt in the main thread."""
    heard = [number for number in END_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup stays deaf
    before = {number: signal.signal(number, _interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _local_url(listener: ListenAddress) -> str:
    """Return the URL of a listener from this machine."""
    host = {"0.0.0.0": run_files.LOOPBACK, "::": "::1"}.get(listener.host, listener.host)  # noqa: S104 - compared
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.port}"


def _is_free(listener: ListenAddress, setting: str) -> bool:
    try:
        return run_files.is_free(listener.host, listener.port)
    except OSError as error:
        where = f"{listener.host}:{listener.port}"
        raise Misconfigured(
            f"Cannot listen on {where}: {error.strerror or error}. "
            f"Set IMPRINT_{setting}_HOST and IMPRINT_{setting}_PORT."
        ) from error


def _port_taken(listener: ListenAddress, way_out: str) -> Misconfigured:
    return Misconfigured(f"port taken: something listens on {listener.host}:{listener.port}. {way_out}")


def _host_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 80

"""A process of the stack: started under a lock, with log and pid file, stopped with all its children.

All child processes inherit the lock (`run/<name>.lock`), so it shows reliably whether any process of an earlier run is
still alive, even after a kill -9 or a reboot that reused the pid.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from api.stack import launch
from core import interpreter
from core.errors import Misconfigured

LOG_BYTES_KEPT = 10 * 1024 * 1024
POLL_S = 0.02
KILL_WAIT_S = 3.0
STOP_GRACE_S = 5.0
RECLAIM_GRACE_S = 3.0  # what is reclaimed was told to end when its parent died
LAST_WORDS_BYTES = 8192
LAST_LINES = 5
FATAL_WORDS = ("FATAL", "PANIC", "No space left", "rror:")


class NotStarted(Misconfigured):
    """A process of the stack does not start."""

    def __init__(self, detail: str, lines: Sequence[str] = ()) -> None:
        """`lines`: what it wrote; where there are several, `lines` are the last, and a single one is in the detail."""
        super().__init__(detail)
        self.lines = list(lines[-LAST_LINES:]) if len(lines) > 1 else []


@dataclass(frozen=True, slots=True)
class OsAccount:
    """The user that a process started by root switches to; `passage`: may still traverse closed folders."""

    uid: int
    gid: int
    passage: bool


class Handle(Protocol):
    """Protocol of a started process; `subprocess.Popen` fits."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""

    def wait(self, timeout: float) -> int:
        """Wait for the exit code. Raises subprocess.TimeoutExpired."""

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""


class Process:
    """A running process of the stack and its group."""

    def __init__(self, home: Path, name: str, popen: Handle, log_start: int) -> None:
        self.home = home
        self.name = name
        self._popen = popen
        self._log_start = log_start

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._popen.pid

    def alive(self) -> bool:
        """Return whether the process itself still runs."""
        return self._popen.poll() is None

    def exit(self) -> str:
        """Return the exit status for people: `exit 3` or `SIGKILL`."""
        code = self._popen.poll()
        return "running" if code is None else ending(code)

    def last_words(self) -> str:
        """Return the log line that best explains why it ended: the last fatal one, else the last."""
        lines = self._written()
        fatal = [line for line in lines if any(sign in line for sign in FATAL_WORDS)]
        return (fatal or lines)[-1] if lines else f"{self.exit()}, without a word"

    def last_lines(self) -> list[str]:
        """Return the last lines of its log."""
        return self._written()[-LAST_LINES:]

    def not_started(self) -> NotStarted:
        """Return what to say of it if it has ended while the stack starts."""
        log = log_file(self.home, self.name)
        return NotStarted(f"{self.name} does not start ({farewell_of(self)}); see {log}.", self.last_lines())

    def _written(self) -> list[str]:
        """Return the last lines that it has written, without empty ones; none if its log was deleted."""
        try:
            with log_file(self.home, self.name).open("rb") as log:
                log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return []
        return [line.strip() for line in lines if line.strip()]

    def end(self, farewell: signal.Signals, grace_s: float) -> None:
        """Send `farewell`, wait at most `grace_s` seconds, then kill the whole group."""
        if self.alive():
            self._popen.send_signal(farewell)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(grace_s)
        kill_group(self.pid)
        self._popen.wait(KILL_WAIT_S)
        wait_released(self.home, self.name, KILL_WAIT_S)
        pid_file(self.home, self.name).unlink(missing_ok=True)


class Started:
    """Base of what starts a process of the stack, and ends it."""

    name: str
    farewell: signal.Signals = signal.SIGTERM
    _process: Process | None = None

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._process.pid if self._process else None

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Ask it to end, and kill its group after `grace_s` seconds."""
        if self._process:
            self._process.end(self.farewell, grace_s)
            self._process = None

    def alive(self) -> bool:
        """Return whether its process runs."""
        return self._process is not None and self._process.alive()

    def exit(self) -> str:
        """Return the exit status for people, with the last line of its log if it exited by itself."""
        return farewell_of(self._process)

    def last_lines(self) -> list[str]:
        """Return the last lines of its log."""
        return self._process.last_lines() if self._process else []


def farewell_of(ended: Process | None) -> str:
    """Return the exit status of a process for people, with the last line of its log if it exited by itself."""
    if ended is None:
        return "stopped"
    how = ended.exit()
    return f"{how}: {ended.last_words()}" if how.startswith("exit") else how


def ending(code: int) -> str:
    """Return an exit code for people: `exit 3`, or `SIGKILL` for -9."""
    return signal.Signals(-code).name if code < 0 else f"exit {code}"


def furnish_home(home: Path) -> None:
    """Create the data directory with its folders for pid files and logs, closed to others.

    Raises:
        Misconfigured: the directory cannot be created or written.
    """
    try:
        for folder in (home / "run", home / "log"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Misconfigured(f"{home} cannot be used as data directory: {reason(error)}.") from error


def spawn(
    home: Path,
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    farewell: signal.Signals = signal.SIGTERM,
    account: OsAccount | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
) -> Process:
    """Start `command` in its own process group, its output in `log/<name>.log`, its pid in `run/<name>.pid`.

    On Linux it gets `farewell` when the calling *thread* ends, for whatever reason.

    Raises:
        Misconfigured: the disk is full or the log cannot be written.
    """
    try:
        with open_log(home, name) as log:
            log_start = log.tell()
            popen = subprocess.Popen(  # noqa: S603 - the command is ours and goes through no shell
                [*_launcher(home, name, farewell, account), "--", *command],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        write_pid(home, name, popen.pid)
    except OSError as error:
        raise Misconfigured(f"{name} cannot be started: {reason(error)}.") from error
    _feed(popen, stdin)
    return Process(home, name, popen, log_start)


def reclaim(home: Path, name: str, farewell: signal.Signals = signal.SIGTERM, grace_s: float = RECLAIM_GRACE_S) -> bool:
    """Stop what an earlier run left alive under this name; return whether there was any.

    Raises:
        Misconfigured: it is still there after a kill.
    """
    left_over = _is_locked(home, name)
    if left_over:
        pid = _read_pid(home, name)
        _signal(pid, farewell)
        if not wait_released(home, name, grace_s):
            kill_group(pid)
            _signal(pid, signal.SIGKILL)
        if not wait_released(home, name, KILL_WAIT_S):
            raise Misconfigured(f"A {name} of an earlier run (pid {pid}) does not stop; stop it by hand.")
    pid_file(home, name).unlink(missing_ok=True)
    return left_over


def wait_released(home: Path, name: str, grace_s: float) -> bool:
    """Wait until nothing of this name lives; return whether that happened within `grace_s` seconds."""
    deadline = time.monotonic() + grace_s
    while _is_locked(home, name):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def kill_group(pid: int) -> None:
    """Kill the rest of the process group of `pid`, if any."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if pid > 1:
            os.killpg(pid, signal.SIGKILL)


@contextlib.contextmanager
def held(home: Path, name: str) -> Iterator[int]:
    """Hold the lock of this name meanwhile; a process that is given the descriptor holds it until it ends.

    Raises:
        NotStarted: another process holds it.
    """
    try:
        lock = launch.hold(str(_lock_file(home, name)))
    except BlockingIOError:
        raise NotStarted(f"{_lock_file(home, name)} is held by a process that still runs.") from None
    try:
        yield lock
    finally:
        os.close(lock)


def pid_file(home: Path, name: str) -> Path:
    """Return the pid file of this name."""
    return home / "run" / f"{name}.pid"


def write_pid(home: Path, name: str, pid: int) -> None:
    """Write the pid file of this name."""
    pid_file(home, name).write_text(f"{pid} {name}\n")


def log_file(home: Path, name: str) -> Path:
    """Return the log file of this name."""
    return home / "log" / f"{name}.log"


def reason(error: OSError) -> str:
    """Return an operating system's error in plain words."""
    if error.errno == errno.ENOSPC:
        return "the disk is full, free some space"
    return f"{error.strerror or error} ({error.filename})" if error.filename else str(error.strerror or error)


def _launcher(home: Path, name: str, farewell: signal.Signals, account: OsAccount | None) -> list[str]:
    launcher = interpreter.script(str(launch.__file__), "--lock", str(_lock_file(home, name)))
    launcher += ["--parent", str(os.getpid()), "--farewell", str(int(farewell))]
    if account is not None:
        launcher += ["--uid", str(account.uid), "--gid", str(account.gid)]
        launcher += ["--passage"] if account.passage else []
    return launcher


def open_log(home: Path, name: str) -> BinaryIO:
    """Open the log for appending; one above the size limit is renamed to `.log.1` first."""
    log = log_file(home, name)
    if log.exists() and log.stat().st_size > LOG_BYTES_KEPT:
        log.replace(log.with_suffix(".log.1"))
    return log.open("ab")


def _feed(popen: subprocess.Popen[bytes], stdin: bytes) -> None:
    if popen.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError), popen.stdin:
        popen.stdin.write(stdin)


def _lock_file(home: Path, name: str) -> Path:
    return home / "run" / f"{name}.lock"


def _is_locked(home: Path, name: str) -> bool:
    lock = _lock_file(home, name)
    if not lock.exists():
        return False
    with lock.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _read_pid(home: Path, name: str) -> int:
    """Return the stored pid; 0, which is never signalled, if there is none."""
    try:
        return int(pid_file(home, name).read_text().split()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return 0


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if pid > 1:
            os.kill(pid, number)

"""A real fork server with modules of its own, and the processes that it forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack import forking, process
from api.stack.fork_server import EARLY, MARK, NOW
from api.stack.forking import ForkServer
from api.stack.process import NotStarted
from api.stack.supervisor import Child, ChildProcess
from core import interpreter
from tests.api.stack.running import wait_until

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")

HEAVY = "import os\nPID = os.getpid()\nCALLED = []\n\ndef call():\n    CALLED.append(os.getpid())\n"
PROGRAM = """
import os, sys, time
import heavy
print("imported by", heavy.PID, "called by", heavy.CALLED, "arguments", sys.argv[1:], "own", os.environ.get("OWN"))
if sys.argv[1] == "fail":
    sys.exit("FATAL: it lacks its key")
if sys.argv[1] == "stay":
    time.sleep(600)
"""


def begun(tmp_path: Path, *modules: str, rest_s: float | None = None) -> ForkServer:
    """A server that imports modules of this folder, which is its home."""
    made = ForkServer(modules, {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}, ["colorsys"])
    made.settle(tmp_path, rest_s)
    made.start()
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").touch()
    made = begun(tmp_path, "heavy:call", "package.module")
    yield made
    made.stop(1.0)


def log(tmp_path: Path, name: str) -> str:
    return process.log_file(tmp_path, name).read_text()


def spawn(server: ForkServer, name: str, *words: str, **env: str) -> process.Process:
    return server.spawn(name, ["program", *words], {**os.environ, **env})


def test_a_process_has_what_the_server_imported_and_an_environment_of_its_own(
    server: ForkServer, tmp_path: Path
) -> None:
    first = spawn(server, "first", "stay", OWN="secret of the first")
    second = spawn(server, "second", "stay", OWN="of the second")
    wait_until(lambda: "own" in log(tmp_path, "first") and "own" in log(tmp_path, "second"))
    common = f"imported by {server.pid} called by [{server.pid}] arguments ['stay'] own"
    assert log(tmp_path, "first").strip() == f"{common} secret of the first"
    assert log(tmp_path, "second").strip() == f"{common} of the second"
    assert "secret of the first" not in Path(f"/proc/{second.pid}/environ").read_text()
    assert Path(f"/proc/{first.pid}/comm").read_text().strip() == "first"
    assert os.getpgid(first.pid) == first.pid
    for one in (first, second):
        one.end(signal.SIGTERM, 2.0)
        assert one.exit() == "SIGTERM"


def test_a_module_that_the_server_has_imported_runs_again_without_a_warning(server: ForkServer, tmp_path: Path) -> None:
    done = server.spawn("again", ["package.module"], dict(os.environ))
    wait_until(lambda: not done.alive())
    assert (done.exit(), log(tmp_path, "again")) == ("exit 0", "")


def test_how_a_process_ended_is_known(server: ForkServer) -> None:
    failed = spawn(server, "failed", "fail")
    wait_until(lambda: not failed.alive())
    assert process.farewell_of(failed) == "exit 1: FATAL: it lacks its key"
    done = spawn(server, "done", "end")
    wait_until(lambda: not done.alive())
    assert done.exit() == "exit 0"


def test_processes_end_with_a_killed_server_and_the_next_one_forks_again(server: ForkServer) -> None:
    orphan = spawn(server, "orphan", "stay")
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive())
    wait_until(lambda: not orphan.alive())
    wait_until(lambda: process.wait_released(server._home, "orphan", 0.1))
    with pytest.raises(NotStarted, match=r"orphan waits for the fork server, which has ended \(SIGKILL\)"):
        spawn(server, "orphan", "stay")
    server.start()
    again = spawn(server, "orphan", "stay")
    assert again.alive()
    again.end(signal.SIGTERM, 2.0)


def test_what_ended_with_the_server_says_how_the_server_ended(server: ForkServer, tmp_path: Path) -> None:
    child = ChildProcess(tmp_path, Child("orphan", interpreter.module("program", "stay")), {}, server)

    def kill() -> None:
        wait_until(lambda: "own" in log(tmp_path, "orphan"))
        os.kill(server.pid or 0, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    process.open_log(tmp_path, "orphan").close()
    killer.start()
    with pytest.raises(NotStarted, match=r"orphan waits for the fork server, which has ended \(SIGKILL\)"):
        child.run()
    killer.join()


def serving(tmp_path: Path, text: str) -> ForkServer:
    """A server that has begun to import one module."""
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(text)
    return begun(tmp_path, "heavy")


def test_a_server_that_dies_while_it_imports_says_why_and_a_process_with_which_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = serving(tmp_path, "raise SystemExit('FATAL: it lacks its library')")
    with pytest.raises(NotStarted) as told:
        spawn(server, "first", "stay")
    assert told.value.detail == "first waits for the fork server, which has ended (exit 1)."
    assert capfd.readouterr().err == "FATAL: it lacks its library\n"
    server.stop(0.0)


def test_a_server_that_never_answers_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "FORK_LIMIT_S", 0.5)
    server = serving(tmp_path, "import time\ntime.sleep(600)")
    try:
        with pytest.raises(NotStarted) as told:
            spawn(server, "first", "stay")
        assert told.value.detail == "first waits for the fork server, which has not answered for 0.5 s."
    finally:
        server.stop(0.0)


def test_a_server_ends_with_the_process_that_has_begun_it(root: Path) -> None:
    program = "from api.stack.forking import ForkServer; print(ForkServer(['json'], {}).pid)"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    stat = Path(f"/proc/{done.stdout.strip()}/stat")
    wait_until(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_name_is_held_by_one_process(server: ForkServer, tmp_path: Path) -> None:
    held = spawn(server, "held", "stay")
    with pytest.raises(NotStarted, match=r"held.lock is held by a process that still runs"):
        spawn(server, "held", "stay")
    assert held.alive()
    held.end(signal.SIGTERM, 2.0)


def test_a_server_that_rests_keeps_its_processes_and_forks_again_when_asked(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    server = begun(tmp_path, "heavy", rest_s=0.3)
    try:
        first, second = spawn(server, "first", "stay"), spawn(server, "second", "stay")
        environment, pid = Path(f"/proc/{server.pid}/environ"), server.pid
        wait_until(lambda: b"STACK_FORKED" in environment.read_bytes())
        os.kill(first.pid, signal.SIGKILL)
        wait_until(lambda: not first.alive())
        assert (first.exit(), second.alive(), server.pid) == ("SIGKILL", True, pid)
        again = spawn(server, "first", "stay")
        assert (again.alive(), second.alive()) == (True, True)
        wait_until(lambda: b"STACK_FORKED" in environment.read_bytes())
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not (again.alive() or second.alive()))
    finally:
        server.stop(2.0)


GATE = """
import pathlib, time
while not (pathlib.Path(__file__).parent / "open_{0}").exists():
    time.sleep(0.01)
"""


def test_what_ends_soon_does_not_wait_for_all_imports(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(GATE.format(name))
    server = begun(tmp_path, "heavy", "first", "second")
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = server.spawn("early", ["program", "end"], dict(os.environ), when=NOW)
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        wait_until(lambda: not early.alive())
        assert early.exit() == "exit 0"
        threading.Timer(0.5, (tmp_path / "open_second").touch).start()
        late = server.spawn("late", ["program", "end"], dict(os.environ))
        assert (tmp_path / "open_second").exists()
        wait_until(lambda: not late.alive())
    finally:
        server.stop(0.0)


def test_what_needs_the_modules_before_the_mark_does_not_wait_for_those_behind_it(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(GATE.format(name))
    server = begun(tmp_path, "first", "heavy", MARK, "second")
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = [server.spawn(name, ["program", "end"], dict(os.environ), EARLY) for name in ("one", "two")]
        assert (tmp_path / "open_first").exists()
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        for one in early:
            wait_until(lambda one=one: not one.alive())  # type: ignore[misc]
            assert one.exit() == "exit 0"
        (tmp_path / "open_second").touch()
        late = [
            server.spawn("late", ["program", "end"], dict(os.environ)),
            server.spawn("again", ["program", "end"], dict(os.environ), EARLY),
        ]
        wait_until(lambda: not any(one.alive() for one in late))
    finally:
        server.stop(0.0)

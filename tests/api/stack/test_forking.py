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

from api.stack import ahead, forking, process
from api.stack.fork_marks import HOME, MARK
from api.stack.fork_server import EARLY, NOW
from api.stack.forking import Begun, ForkServer
from core.errors import Misconfigured
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


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    made = ForkServer(tmp_path, ["heavy:call"], env)
    made.start()
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


def test_how_a_process_ended_is_known(server: ForkServer) -> None:
    failed = spawn(server, "failed", "fail")
    wait_until(lambda: not failed.alive())
    assert process.farewell_of(failed) == "exit 1: FATAL: it lacks its key"
    done = spawn(server, "done", "end")
    wait_until(lambda: not done.alive())
    assert done.exit() == "exit 0"


def test_processes_end_with_a_killed_server_and_the_next_one_forks_again(server: ForkServer) -> None:
    orphan = spawn(server, "orphan", "stay")
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive())
    wait_until(lambda: not orphan.alive())
    wait_until(lambda: process.wait_released(server._home, "orphan", 0.1))
    with pytest.raises(Misconfigured, match="orphan waits for the fork server"):
        spawn(server, "orphan", "stay")
    server.start()
    again = spawn(server, "orphan", "stay")
    assert again.alive()
    again.end(signal.SIGTERM, 2.0)


def test_a_name_is_held_by_one_process(server: ForkServer, tmp_path: Path) -> None:
    held = spawn(server, "held", "stay")
    with pytest.raises(Misconfigured, match="ended before it began"):
        spawn(server, "held", "stay")
    assert "is held by a process that still runs" in log(tmp_path, "held")
    assert held.alive()
    held.end(signal.SIGTERM, 2.0)


def test_a_server_that_rests_keeps_its_processes_and_forks_again_when_asked(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    server = ForkServer(tmp_path, ["heavy"], env, rest_s=0.3)
    server.start()
    try:
        first, second = spawn(server, "first", "stay"), spawn(server, "second", "stay")
        assert server.pid
        words, pid = Path(f"/proc/{server.pid}/cmdline"), server.pid
        wait_until(lambda: b"--children" in words.read_bytes())
        os.kill(first.pid, signal.SIGKILL)
        wait_until(lambda: not first.alive())
        assert (first.exit(), second.alive(), server.pid) == ("SIGKILL", True, pid)
        again = spawn(server, "first", "stay")
        assert (again.alive(), second.alive()) == (True, True)
        wait_until(lambda: b"--children" in words.read_bytes())
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
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    server = ForkServer(tmp_path, ["heavy", "first", "second"], env)
    server.start()
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = server.spawn("early", ["program", "end"], env, when=NOW)
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        wait_until(lambda: not early.alive())
        assert early.exit() == "exit 0"
        threading.Timer(0.5, (tmp_path / "open_second").touch).start()
        late = server.spawn("late", ["program", "end"], env)
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
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    server = ForkServer(tmp_path, ["first", "heavy", MARK, "second"], env)
    server.start()
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = [server.spawn(name, ["program", "end"], env, EARLY) for name in ("one", "two")]
        assert (tmp_path / "open_first").exists()
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        for one in early:
            wait_until(lambda one=one: not one.alive())  # type: ignore[misc]
            assert one.exit() == "exit 0"
        (tmp_path / "open_second").touch()
        late = [server.spawn("late", ["program", "end"], env), server.spawn("again", ["program", "end"], env, EARLY)]
        wait_until(lambda: not any(one.alive() for one in late))
    finally:
        server.stop(0.0)


SEEN = """
import os
OWN = os.environ.get("OWN"), os.environ.get("SECRET")
"""
SAYS = """
import library, own, os
print("library", library.OWN, "own", own.OWN, "by", os.getppid())
"""


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begun]:
    """A server that has begun ahead with a library, and will import `own` in its home."""
    process.furnish_home(tmp_path)
    for name, text in {"library": SEEN, "own": SEEN, "says": SAYS}.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setenv("SECRET", "of the command")
    ahead.begin(["library", HOME, "own"], {"PYTHONPATH": str(tmp_path), "OWN": "ahead", "SECRET": ""})
    found = forking.begun()
    assert found
    assert forking.begun() is None, "it is used once, and by nobody who inherits the environment"
    yield found
    found.send_signal(signal.SIGKILL)
    found.wait(10.0)


def served(tmp_path: Path, begun: Begun) -> ForkServer:
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "OWN": "at home", "SECRET": ""}
    server = ForkServer(tmp_path, ["library", HOME, "own"], env, first=begun)
    server.start()
    return server


def test_a_server_that_began_ahead_has_the_library_already_and_imports_the_rest_at_home(
    tmp_path: Path, begun: Begun
) -> None:
    server = served(tmp_path, begun)
    try:
        assert server.pid == begun.pid
        said = server.spawn("one", ["says"], {**os.environ, "PYTHONPATH": str(tmp_path)})
        wait_until(lambda: not said.alive())
        assert log(tmp_path, "one").strip() == f"library ('ahead', '') own ('at home', '') by {begun.pid}"
        assert not process.wait_released(tmp_path, server.name, 0.0), "it holds the lock of its name"
        assert process.pid_file(tmp_path, server.name).read_text() == f"{begun.pid} fork-server\n"
        assert "of the command" not in Path(f"/proc/{begun.pid}/environ").read_text()
    finally:
        server.stop(2.0)
    assert (begun.poll(), server.alive()) == (-signal.SIGTERM, False)


def test_where_the_server_that_began_ahead_has_ended_another_one_starts(tmp_path: Path, begun: Begun) -> None:
    begun.send_signal(signal.SIGKILL)
    assert begun.wait(10.0) == -signal.SIGKILL
    server = served(tmp_path, begun)
    try:
        assert server.pid != begun.pid
        said = server.spawn("one", ["says"], {**os.environ, "PYTHONPATH": str(tmp_path)})
        wait_until(lambda: not said.alive())
        assert log(tmp_path, "one").strip() == f"library ('at home', '') own ('at home', '') by {server.pid}"
    finally:
        server.stop(2.0)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits for its parent to take note."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_server_that_began_ahead_ends_with_a_command_that_does_not_come_to_start_it(root: Path) -> None:
    program = (
        "import os\n"
        "from api.stack import ahead\n"
        "from api.stack.fork_marks import HOME\n"
        "ahead.begin(['json', HOME], {})\n"
        "print(os.environ[ahead.VARIABLE].partition(':')[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    wait_until(lambda: has_ended(int(done.stdout)))


TAKE_IN = """
import os, signal, sys
from api.cli.optional_libraries import OPTIONAL
from api.cli.shared_modules import SHARED
from api.stack.fork_marks import HOME, MARK
from api.stack.fork_server import _take_in
def take_in(places):
    for place in places:
        if place not in {HOME, MARK}:
            _take_in(place)
"""


def told(root: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", TAKE_IN + program], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_libraries_imported_ahead_read_no_setting_of_a_home(root: Path) -> None:
    """Of our own modules, `core.metrics` has its folder from the environment when it is imported."""
    program = """
take_in(SHARED[: SHARED.index(HOME)])
print(sorted({"prometheus_client", "core.config", "core.metrics", "rules", "workers"} & set(sys.modules)))
"""
    assert told(root, program) == "[]"


def test_the_server_keeps_no_thread_and_loads_no_model(root: Path) -> None:
    """A fork copies one thread alone: a lock that another one held would be held for good."""
    program = """
take_in(SHARED)
print(len(os.listdir("/proc/self/task")), sorted({"onnxruntime", "openai", "tokenizers"} & set(sys.modules)))
"""
    assert told(root, program) == "1 []"


def test_libraries_that_nobody_needs_are_not_imported_and_can_be(root: Path) -> None:
    program = """
take_in(SHARED)
print(sorted({*OPTIONAL, "typer"} & set(sys.modules)), all(__import__(name) for name in OPTIONAL))
"""
    assert told(root, program) == "[] True"


def test_a_process_of_a_worker_still_ends_with_its_parent(root: Path) -> None:
    """Celery asks for this signal; billiard hides what goes wrong, so that it might be missing unnoticed."""
    program = """
take_in(SHARED)
from billiard import util
from celery import platforms
platforms.set_pdeathsig("SIGKILL")
print(util.get_pdeathsig() == signal.SIGKILL)
"""
    assert told(root, program) == "True"

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
from tests.api.stack.running import begun, spawn
from tests.patience import wait_until

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").touch()
    made = begun(tmp_path, "heavy:call", "package.module")
    yield made
    made.stop()


def log(tmp_path: Path, name: str) -> str:
    return process.log_file(tmp_path, name).read_text()


def test_a_process_has_what_the_server_imported_and_an_environment_of_its_own(
    server: ForkServer, tmp_path: Path
) -> None:
    first = spawn(server, tmp_path, "first", "stay", OWN="secret of the first")
    second = spawn(server, tmp_path, "second", "stay", OWN="of the second")
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
    done = server.spawn(tmp_path, "again", ["package.module"], dict(os.environ))
    wait_until(lambda: not done.alive())
    assert (done.exit(), log(tmp_path, "again")) == ("exit 0", "")


def test_how_a_process_ended_is_known(server: ForkServer, tmp_path: Path) -> None:
    failed = spawn(server, tmp_path, "failed", "fail")
    wait_until(lambda: not failed.alive())
    assert process.farewell_of(failed) == "exit 1: FATAL: it lacks its key"
    done = spawn(server, tmp_path, "done", "end")
    wait_until(lambda: not done.alive())
    assert done.exit() == "exit 0"


def test_a_server_that_has_been_killed_begins_again_and_its_processes_do_not_need_it(
    server: ForkServer, tmp_path: Path
) -> None:
    first = spawn(server, tmp_path, "first", "stay")
    killed = server.pid
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: first.alive() and not Path(f"/proc/{killed}").exists())
    second = spawn(server, tmp_path, "second", "stay")
    assert server.pid != killed
    for one in (first, second):
        one.end(signal.SIGTERM, 2.0)
        assert one.exit() == "SIGTERM"


def test_a_server_that_dies_while_it_imports_says_why_and_a_process_with_which_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = begun(tmp_path, "heavy", heavy="raise SystemExit('FATAL: it lacks its library')")
    with pytest.raises(NotStarted) as told:
        spawn(server, tmp_path, "first", "stay")
    assert told.value.detail == "first waits for the fork server, which has ended (exit 1)."
    assert capfd.readouterr().err == "FATAL: it lacks its library\n"
    server.stop()


def test_a_server_that_never_answers_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "FORK_LIMIT_S", 0.5)
    server = begun(tmp_path, "heavy", heavy="import time\ntime.sleep(600)")
    try:
        with pytest.raises(NotStarted) as told:
            spawn(server, tmp_path, "first", "stay")
        assert told.value.detail == "first waits for the fork server, which has not answered for 0.5 s."
    finally:
        server.stop()


STARTS = """
import os, signal
from pathlib import Path
from tests.api.stack.running import begun, spawn
server = begun(Path.cwd(), "heavy")
print(server.pid, spawn(server, Path.cwd(), "stays", "stay").pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_server_and_processes_end_with_the_process_that_has_begun_them(root: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", STARTS], env=env, cwd=tmp_path, capture_output=True, text=True)  # noqa: PLW1510
    stats = [Path(f"/proc/{pid}/stat") for pid in done.stdout.split()]
    assert len(stats) == 2
    wait_until(
        lambda: not any(stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z" for stat in stats)
    )


def test_a_name_is_held_by_one_process(server: ForkServer, tmp_path: Path) -> None:
    held = spawn(server, tmp_path, "held", "stay")
    with pytest.raises(NotStarted, match=r"held.lock is held by a process that still runs"):
        spawn(server, tmp_path, "held", "stay")
    assert held.alive()
    held.end(signal.SIGTERM, 2.0)


def test_a_server_that_rests_has_ended_and_begins_again_when_asked(tmp_path: Path) -> None:
    server = begun(tmp_path, "heavy", rest_s=0.3)
    try:
        first, rested = spawn(server, tmp_path, "first", "stay"), server.pid
        wait_until(lambda: first.alive() and not Path(f"/proc/{rested}").exists())
        second = spawn(server, tmp_path, "second", "end")
        wait_until(lambda: not second.alive())
        assert (second.exit(), server.pid != rested) == ("exit 0", True)
        first.end(signal.SIGTERM, 2.0)
    finally:
        server.stop()


GATE = """
import pathlib, time
while not (pathlib.Path(__file__).parent / "open_{0}").exists():
    time.sleep(0.01)
"""


def test_what_ends_soon_does_not_wait_for_all_imports(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(GATE.format(name))
    server = begun(tmp_path, "heavy", "first", "second")
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = spawn(server, tmp_path, "early", "end", when=NOW)
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        wait_until(lambda: not early.alive())
        assert early.exit() == "exit 0"
        threading.Timer(0.5, (tmp_path / "open_second").touch).start()
        late = spawn(server, tmp_path, "late", "end")
        assert (tmp_path / "open_second").exists()
        wait_until(lambda: not late.alive())
    finally:
        server.stop()


def test_what_needs_the_modules_before_the_mark_does_not_wait_for_those_behind_it(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(GATE.format(name))
    server = begun(tmp_path, "first", "heavy", MARK, "second")
    try:
        threading.Timer(0.5, (tmp_path / "open_first").touch).start()
        early = [spawn(server, tmp_path, name, "end", when=EARLY) for name in ("one", "two")]
        assert (tmp_path / "open_first").exists()
        assert not (tmp_path / "open_second").exists(), "the server is still importing"
        for one in early:
            wait_until(lambda one=one: not one.alive())  # type: ignore[misc]
            assert one.exit() == "exit 0"
        (tmp_path / "open_second").touch()
        late = [
            spawn(server, tmp_path, "late", "end"),
            spawn(server, tmp_path, "again", "end", when=EARLY),
        ]
        wait_until(lambda: not any(one.alive() for one in late))
    finally:
        server.stop()

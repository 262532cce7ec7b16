"""A real fork server that begins before its home is known."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from api.stack import ahead, forking, process
from api.stack.fork_marks import HOME
from api.stack.forking import Begun, ForkServer
from api.stack.process import NotStarted
from api.stack.up import ListenAddress, RunProcess, up
from tests.api.stack.running import wait_until

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")

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


def said_by_one(tmp_path: Path) -> str:
    return process.log_file(tmp_path, "one").read_text().strip()


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
        assert (
            process.log_file(tmp_path, "one").read_text().strip()
            == f"library ('ahead', '') own ('at home', '') by {begun.pid}"
        )
        assert not process.wait_released(tmp_path, server.name, 0.0), "it holds the lock of its name"
        assert process.pid_file(tmp_path, server.name).read_text() == f"{begun.pid} fork-server\n"
        assert "of the command" not in Path(f"/proc/{begun.pid}/environ").read_text()
    finally:
        server.stop(2.0)
    assert begun.poll() in {0, -signal.SIGTERM}, "its socket is closed, and then it is told to end"
    assert not server.alive()


def test_where_the_server_that_began_ahead_has_ended_another_one_starts(tmp_path: Path, begun: Begun) -> None:
    begun.send_signal(signal.SIGKILL)
    assert begun.wait(10.0) == -signal.SIGKILL
    server = served(tmp_path, begun)
    try:
        assert server.pid != begun.pid
        said = server.spawn("one", ["says"], {**os.environ, "PYTHONPATH": str(tmp_path)})
        wait_until(lambda: not said.alive())
        assert (
            process.log_file(tmp_path, "one").read_text().strip()
            == f"library ('at home', '') own ('at home', '') by {server.pid}"
        )
    finally:
        server.stop(2.0)


def test_of_a_server_that_dies_before_it_has_a_log_the_last_lines_are_told(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    gate = "while not (pathlib.Path(__file__).parent / 'open').exists(): time.sleep(0.01)"
    (tmp_path / "gated.py").write_text(f"import pathlib, time\n{gate}\nprint('it begins')\n1 / 0\n")
    ahead.begin(["gated", HOME], {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"})
    found = forking.begun()
    assert found
    server = ForkServer(tmp_path, ["gated", HOME], dict(os.environ), first=found)
    server.start()
    (tmp_path / "open").touch()
    with pytest.raises(NotStarted, match=r"which has ended \(exit 1: ZeroDivisionError: division by zero\)") as told:
        server.spawn("one", ["says"], {})
    assert told.value.lines[-1] == "ZeroDivisionError: division by zero"
    assert "it begins" in Path(server.where).read_text()
    server.stop(0.0)
    found.close()


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


def test_of_a_start_that_fails_early_the_server_that_began_ahead_ends(
    tmp_path: Path, begun: Begun, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        http, metrics = ListenAddress("127.0.0.1", taken.getsockname()[1]), ListenAddress("127.0.0.1", 0)
        code = up(
            {},
            tmp_path / "home",
            http,
            metrics,
            quiet=True,
            database_url=None,
            broker_url=None,
            prepare=no_roles,
            children=[],
            shared=["library"],
            begun=begun,
        )
    assert code == 1
    assert "IMPRINT_HTTP_PORT" in capsys.readouterr().err
    assert begun.control.fileno() == -1
    assert begun.wait(10.0) in {0, -signal.SIGTERM}


def no_roles(_env: Mapping[str, str], _run: RunProcess) -> Mapping[str, str]:
    raise AssertionError("it failed earlier")

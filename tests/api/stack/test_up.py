"""A real `up` in a process of its own, with real servers and dummy children."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import psycopg
import pytest

from api.stack import process
from api.stack.postgres import Postgres
from api.stack.supervisor import STAGE_ENDS_S
from core.config import Settings
from tests.patience import wait_until
from tests.ports import free_port

NAMES = ("postgres", "broker", "api", "worker-io", "worker-cpu")
PROGRAM = """
import json, os, sys
from pathlib import Path
from api.stack.supervisor import Child
from api.stack.up import ListenAddress, StackPlan, up
from core.errors import Misconfigured

API = '''
import http.server, sys
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
'''
SLEEP = "import time; time.sleep(600)"
STUBBORN = "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
STUBBORN += "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"

def prepare(env, run):
    if failing == "prepare":
        raise Misconfigured("the migration does not fit")
    Path(env["IMPRINT_HOME"], "seen.json").write_text(json.dumps(dict(env)))
    return {"ROLE_A": "a's url", "ROLE_B": "b's url"}

home, port, quiet, failing, stubborn, once, database, metrics, fixed = json.loads(sys.argv[1])
children = [
    Child("worker-io", [sys.executable, "-c", SLEEP]),
    Child("worker-cpu", [sys.executable, "-c", STUBBORN if stubborn else SLEEP]),
    Child("api", [sys.executable, "-c", API, str(port)], {}, {"ROLE_A"}, shows_metrics=True),
]
if failing == "child":
    children[2] = Child("api", [sys.executable, "-c", "raise SystemExit('it lacks its key')"])
done = (lambda: print("done once")) if once else None
at, measured = ListenAddress("127.0.0.1", port), ListenAddress("127.0.0.1", metrics, fixed)
plan = StackPlan({"SOME_SETTING": "x"}, home, at, measured, quiet, False, database, None, children)
sys.exit(up(plan, prepare, on_ready=done))
"""


class Run:
    """A running `up` whose lines can be waited for."""

    def __init__(
        self,
        home: Path,
        port: int,
        *,
        quiet: bool = False,
        failing: str = "",
        stubborn: bool = False,
        once: bool = False,
        database: str | None = None,
        metrics: int = 0,
        fixed: bool = True,
    ) -> None:
        told = json.dumps([str(home), port, quiet, failing, stubborn, once, database, metrics, fixed])
        self.lines: list[str] = []
        self.popen = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, told], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.finish()

    def _read(self) -> None:
        assert self.popen.stdout
        with self.popen.stdout as out:
            self.lines.extend(iter(out.readline, ""))

    def wait_for(self, words: str) -> str:
        wait_until(lambda: any(words in line for line in self.lines) or self.popen.poll() is not None)
        return next((line for line in self.lines if words in line), "")

    def finish(self) -> tuple[int, str]:
        code = self.popen.wait(60)
        self._reader.join()
        return code, "".join(self.lines)


def pid_of(home: Path, name: str) -> int:
    return int(process.pid_file(home, name).read_text().split()[0])


def environment(home: Path, name: str) -> dict[str, str]:
    """What a process was started with."""
    words = Path(f"/proc/{pid_of(home, name)}/environ").read_text().split("\0")
    return dict(word.split("=", 1) for word in words if word)


def is_running(pid: int) -> bool:
    """A zombie that nobody has reaped yet does not run."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


def ignores_sigterm(pid: int) -> bool:
    """A stubborn child is not stubborn yet while its interpreter starts."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(status["SigIgn"], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("up").resolve()
    made = Postgres(folder, durable=False)  # making a data directory that is synced takes its time on a busy disk
    made.start()
    made.stop()
    return folder


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def running(home: Path, port: int) -> Iterator[Run]:
    with Run(home, port) as run:
        assert run.wait_for("Ctrl-C ends all"), run.lines
        yield run
        run.popen.send_signal(signal.SIGTERM)
        run.finish()


def test_the_screen_says_what_runs_where_and_commands_find_it(home: Path, port: int, running: Run) -> None:
    shown = "".join(running.lines)
    for name in NAMES:
        assert name in shown
        assert str(pid_of(home, name)) in shown
        assert process.pid_file(home, name).read_text() == f"{pid_of(home, name)} {name}\n"
    stack = Settings(home=home).stack
    assert stack["http_url"] == f"http://127.0.0.1:{port}"
    assert stack["pid"] == str(running.popen.pid)
    assert (home / "run" / "stack.json").stat().st_mode & 0o777 == 0o600
    psycopg.connect(stack["database_url"]).close()
    seen = json.loads((home / "seen.json").read_text())
    assert seen["SOME_SETTING"] == "x"
    assert (seen["IMPRINT_DATABASE_URL"], seen["IMPRINT_BROKER_URL"]) == (stack["database_url"], stack["broker_url"])


def test_a_process_gets_the_roles_that_it_names_and_never_the_owner(home: Path, running: Run) -> None:
    owner = Settings(home=home).stack["database_url"]
    api, worker = environment(home, "api"), environment(home, "worker-io")
    assert (api["ROLE_A"], api["ROLE_B"], worker["ROLE_A"]) == ("a's url", "", "")
    for one in (api, worker):
        assert one["IMPRINT_DATABASE_URL"] == ""
        assert owner not in one.values()


@pytest.mark.parametrize(("number", "stubborn"), [(signal.SIGTERM, True), (signal.SIGINT, False)])
def test_a_signal_ends_everything_with_nothing_left_whoever_is_stubborn(
    home: Path, port: int, number: signal.Signals, *, stubborn: bool
) -> None:
    with Run(home, port, stubborn=stubborn) as run:
        assert run.wait_for("Ctrl-C ends all"), run.lines
        pids = [pid_of(home, name) for name in NAMES]
        if stubborn:
            wait_until(lambda: ignores_sigterm(pid_of(home, "worker-cpu")))
        begin = time.monotonic()
        run.popen.send_signal(number)
        code, _ = run.finish()
    assert time.monotonic() - begin < 2 * STAGE_ENDS_S[-1], "as long again for a busy machine"
    assert STAGE_ENDS_S[-1] < 10
    assert code == 0
    assert not [pid for pid in pids if is_running(pid)]
    for name in NAMES:
        assert process.wait_released(home, name, 0.0), f"something of {name} lives on"
        assert not process.pid_file(home, name).exists()
    assert Settings(home=home).stack == {}


def test_killed_processes_are_started_again_and_it_is_said_aloud(home: Path, running: Run) -> None:
    before = {name: pid_of(home, name) for name in NAMES}
    for name in NAMES:
        os.kill(before[name], signal.SIGKILL)
    for name in NAMES:
        assert f"{name} died (SIGKILL); starting it again in 0.2 s." in running.wait_for(f"{name} died")
        assert running.wait_for(f"{name} runs again")
        assert pid_of(home, name) != before[name]
    psycopg.connect(Settings(home=home).stack["database_url"]).close()


def test_after_a_kill_9_of_the_supervisor_the_next_up_finds_everything_well(home: Path, port: int) -> None:
    with Run(home, port, stubborn=True) as first:
        assert first.wait_for("Ctrl-C ends all")
        stubborn = pid_of(home, "worker-cpu")
        wait_until(lambda: ignores_sigterm(stubborn))
        first.popen.kill()
    with Run(home, port) as second:
        assert second.wait_for("Ended a worker-cpu that an earlier run had left behind.")
        assert second.wait_for("Ctrl-C ends all")
        assert not is_running(stubborn)
        second.popen.send_signal(signal.SIGTERM)
        assert second.finish()[0] == 0


def test_a_second_up_on_the_same_home_is_refused_in_one_line(home: Path, port: int, running: Run) -> None:
    code, said = Run(home, free_port(), quiet=True).finish()
    assert code == 1
    assert said.startswith(f"Imprint is already running in {home} (pid {running.popen.pid}).")
    assert said.count("\n") == 1
    assert is_running(pid_of(home, "api"))


def test_a_taken_port_is_one_line_and_nothing_is_started(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        code, said = Run(home, number, quiet=True).finish()
    assert code == 1
    assert said == (
        f"port taken: something listens on 127.0.0.1:{number}. Stop it or set IMPRINT_HTTP_PORT to a free port.\n"
    )
    assert not process.pid_file(home, "postgres").exists()


def test_a_taken_metrics_port_that_was_set_is_one_line_and_nothing_is_started(home: Path, port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        code, said = Run(home, port, quiet=True, metrics=number).finish()
    assert code == 1
    assert said == (
        f"port taken: something listens on 127.0.0.1:{number}. "
        "Stop it or set IMPRINT_METRICS_PORT to a free port, or to 0.\n"
    )
    assert not process.pid_file(home, "postgres").exists()


def test_a_taken_metrics_port_that_nobody_set_gives_way_to_a_free_one(home: Path, port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        Run(home, port, metrics=taken.getsockname()[1], fixed=False) as run,
    ):
        assert run.wait_for("Ctrl-C ends all"), run.lines
        chosen = urlsplit(Settings(home=home).stack["metrics_url"])
        assert chosen.port not in {taken.getsockname()[1], port}
        assert environment(home, "api")["IMPRINT_METRICS_PORT"] == str(chosen.port)
        run.popen.send_signal(signal.SIGTERM)
        run.finish()


def test_a_process_that_cannot_start_ends_it_all_with_one_sentence(home: Path, port: int) -> None:
    code, said = Run(home, port, quiet=True, failing="child").finish()
    assert code == 1
    assert said.splitlines()[-1] == (
        f"api does not start (exit 1: it lacks its key); see {process.log_file(home, 'api')}."
    )
    assert process.wait_released(home, "postgres", 0.0)


def test_a_wrong_password_is_one_line(home: Path, port: int) -> None:
    secrets = home / "secrets.json"
    right = secrets.read_text()
    secrets.write_text(json.dumps({**json.loads(right), "postgres": "wrong"}))
    code, said = Run(home, port, quiet=True).finish()
    secrets.write_text(right)
    assert code == 1
    assert said.startswith("wrong password: ")
    assert said.count("\n") == 1


def test_a_failing_preparation_is_one_line_and_ends_the_servers(home: Path, port: int) -> None:
    code, said = Run(home, port, quiet=True, failing="prepare").finish()
    assert (code, said) == (1, "the migration does not fit\n")
    assert process.wait_released(home, "postgres", 0.0)


def test_with_something_to_do_once_it_does_it_and_ends(home: Path, port: int) -> None:
    code, said = Run(home, port, once=True).finish()
    assert code == 0
    assert "done once" in said
    assert process.wait_released(home, "postgres", 0.0)


def test_a_quiet_run_says_nothing(home: Path, port: int) -> None:
    with Run(home, port, quiet=True) as run:
        wait_until(lambda: process.pid_file(home, "api").exists())
        run.popen.send_signal(signal.SIGTERM)
        assert run.finish() == (0, "")


def test_an_own_database_is_used_and_left_alone(home: Path, port: int, tmp_path: Path) -> None:
    own = Postgres(tmp_path, durable=False)
    own.start()
    try:
        code, said = Run(home, port, once=True, database=own.url).finish()
        assert code == 0, said
        assert "external" in said
        assert own.alive()
        assert json.loads((home / "seen.json").read_text())["IMPRINT_DATABASE_URL"] == own.url
    finally:
        own.stop()

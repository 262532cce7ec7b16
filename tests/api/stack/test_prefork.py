"""Processes that do the same work, with a real parent: they are replaced when they die, renewed by SIGHUP, and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.stack import forking
from tests.patience import wait_until

pytestmark = pytest.mark.skipif(not forking.is_supported(), reason="libraries survive a fork on Linux only")

PROGRAM = """
    import os, signal, sys, time
    from pathlib import Path
    from api.stack import prefork
    from core.errors import Misconfigured

    folder = Path(sys.argv[1])

    def said(name):
        return (folder / name).exists()

    def work(ready, number):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        if said("broken"):
            sys.exit(3)
        ready()
        (folder / "ready" / str(os.getpid())).touch()
        time.sleep(600)

    def reload():
        (folder / "reloaded").touch()
        if said("wrong"):
            raise Misconfigured("a wrong setting")

    prefork.run(2, work, reload, lambda pid, number: (folder / "forgotten" / str(pid)).touch())
"""


class Parent:
    """The parent, and the folder in which it and its processes leave marks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("ready", "forgotten"):
            (folder / name).mkdir()
        (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
        self.log = (folder / "log").open("wb")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(self.folder / "program.py"), str(self.folder)]
        env = {**os.environ, "PYTHONPATH": str(Path.cwd())}
        self.process = subprocess.Popen(command, env=env, stdout=self.log, stderr=self.log)
        return self.process

    def say(self, name: str) -> None:
        (self.folder / name).touch()

    @property
    def children(self) -> set[int]:
        """Those that live now and have been ready."""
        pids = {int(one.name) for one in (self.folder / "ready").iterdir()}
        return {pid for pid in pids if Path(f"/proc/{pid}").exists() and not _is_zombie(pid)}

    @property
    def forgotten(self) -> set[int]:
        return {int(one.name) for one in (self.folder / "forgotten").iterdir()}

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        self.log.close()


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Parent]:
    made = Parent(tmp_path)
    yield made
    made.close()


def two(parent: Parent, but: set[int] | frozenset[int] = frozenset()) -> Callable[[], bool]:
    return lambda: len(parent.children) == 2 and not parent.children & but


def test_one_that_dies_is_replaced_and_forgotten(parent):
    parent.start()
    wait_until(two(parent))
    killed = min(parent.children)
    os.kill(killed, signal.SIGKILL)
    wait_until(two(parent, {killed}))
    assert parent.forgotten == {killed}


def test_sighup_renews_all_and_never_leaves_fewer_than_two(parent):
    parent.start()
    wait_until(two(parent))
    before = parent.children
    parent.signal(signal.SIGHUP)
    counts = []
    while parent.children & before:
        counts.append(len(parent.children))
        time.sleep(0.01)
    wait_until(two(parent, before))
    assert min(counts) >= 2
    assert (parent.folder / "reloaded").exists()


def test_a_wrong_setting_leaves_the_old_ones_at_work(parent):
    parent.start()
    wait_until(two(parent))
    before = parent.children
    parent.say("wrong")
    parent.signal(signal.SIGHUP)
    wait_until((parent.folder / "reloaded").exists)
    time.sleep(0.5)
    assert parent.children == before


def test_a_new_one_that_does_not_start_leaves_the_old_ones_at_work(parent):
    parent.start()
    wait_until(two(parent))
    before = parent.children
    parent.say("broken")
    parent.signal(signal.SIGHUP)
    wait_until(lambda: bool(parent.forgotten))
    time.sleep(0.5)
    assert parent.children == before


def test_it_ends_with_the_exit_code_of_the_first_if_none_can_start(parent):
    parent.say("broken")
    assert parent.start().wait(20) == 3


def test_sigterm_ends_the_processes_and_then_the_parent(parent):
    process = parent.start()
    wait_until(two(parent))
    parent.signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert not parent.children


def test_the_processes_end_with_a_parent_that_is_killed(parent):
    process = parent.start()
    wait_until(two(parent))
    process.kill()
    process.wait(10)
    wait_until(lambda: not parent.children)

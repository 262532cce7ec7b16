from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from api.stack import process, supervisor
from api.stack.supervisor import FIRST_DELAY_S, LONGEST_DELAY_S, Child, ChildProcess, Supervisor, Watched
from core.errors import Misconfigured
from tests.patience import wait_until

SLEEP = "import time; time.sleep(600)"


class Pretend:
    """A member that starts, dies and refuses as it is told."""

    pid, where = 1, "here"

    def __init__(self, name: str = "clock", ended: list[str] | None = None) -> None:
        self.name = name
        self.runs, self.refuses = True, False
        self.ended = [] if ended is None else ended

    def start(self) -> None:
        if self.refuses:
            raise Misconfigured("There is no room.")
        self.runs = True

    def stop(self, grace_s: float) -> None:
        self.ended.append(self.name)
        self.runs = False

    def alive(self) -> bool:
        return self.runs

    def exit(self) -> str:
        return "exit 1"


@pytest.fixture
def said() -> list[str]:
    return []


def watching(said: list[str], *members: Pretend) -> Supervisor:
    watcher = Supervisor(said.append)
    for one in members:
        watcher.add(one)
    return watcher


def make_due(entry: Watched) -> None:
    """As if the pause were over."""
    assert entry.due is not None
    entry.due = time.monotonic()


def test_a_child_that_keeps_dying_is_tried_ever_more_rarely_and_its_last_words_are_told(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    lines: list[str] = []
    watcher = Supervisor(lines.append)
    failing = Child("clock", [sys.executable, "-c", "raise ValueError('no time')"])
    watcher.add(ChildProcess(tmp_path, failing, {}))
    watcher.run(lambda: sum("died" in line for line in lines) == 3)
    watcher.stop()
    died = [line for line in lines if "died" in line]
    assert [line.rsplit(" in ", 1)[1] for line in died] == ["0.2 s.", "0.4 s.", "0.8 s."]
    assert "exit 1: ValueError: no time" in died[0]


def test_a_child_whose_log_was_deleted_is_started_again(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    lines: list[str] = []
    watcher = Supervisor(lines.append)
    forgetful = f"import os, sys; os.unlink({str(process.log_file(tmp_path, 'clock'))!r}); sys.exit(3)"
    watcher.add(ChildProcess(tmp_path, Child("clock", [sys.executable, "-c", forgetful]), {}))
    watcher.run(lambda: any("runs again" in line for line in lines))
    watcher.stop()
    assert lines[0].startswith("clock died (exit 3")


def test_a_dead_member_is_started_again_after_its_pause_and_not_before(said: list[str]) -> None:
    clock = Pretend()
    watcher = watching(said, clock)
    clock.runs = False
    watcher.check()
    watcher.check()
    assert said == ["clock died (exit 1); starting it again in 0.2 s."], "it is said once"
    (entry,) = watcher.watched
    assert (entry.state, clock.runs) == ("waiting", False)
    make_due(entry)
    watcher.check()
    assert (entry.state, entry.restarts, clock.runs) == ("running", 1, True)
    assert said[-1] == "clock runs again (pid 1)."


def test_a_member_that_does_not_start_again_waits_twice_as_long_up_to_a_limit(said: list[str]) -> None:
    clock = Pretend()
    watcher = watching(said, clock)
    clock.runs, clock.refuses = False, True
    (entry,) = watcher.watched
    watcher.check()
    for _ in range(8):
        make_due(entry)
        watcher.check()
    assert said[1] == "clock does not start (There is no room.); starting it again in 0.4 s."
    assert said[-1].endswith(f"in {LONGEST_DELAY_S:g} s.")
    assert entry.restarts == 8


def test_who_has_failed_so_many_times_is_named(said: list[str]) -> None:
    well, clock = Pretend("api"), Pretend()
    watcher = watching(said, well, clock)
    assert watcher.first_failing(1) is None
    clock.runs = False
    watcher.check()
    assert watcher.first_failing(1) is clock
    assert watcher.first_failing(2) is None


@pytest.mark.parametrize(("seconds", "delay"), [(31, FIRST_DELAY_S), (29, LONGEST_DELAY_S)])
def test_after_30_s_well_the_back_off_begins_anew(seconds: float, delay: float) -> None:
    watcher = Supervisor(print)
    entry = Watched(Pretend(), started=time.monotonic() - seconds, delay_s=LONGEST_DELAY_S)
    watcher.watched.append(entry)
    watcher.check()
    assert entry.delay_s == delay


def test_workers_end_first_and_postgres_last_in_whatever_order_they_were_added(said: list[str]) -> None:
    ended: list[str] = []
    names = ["postgres", "broker", "api", "worker-cpu", "router"]
    watcher = watching(said, *(Pretend(name, ended) for name in names))
    watcher.stop()
    assert (ended[0], {*ended[1:3]}, ended[3:]) == ("worker-cpu", {"api", "router"}, ["broker", "postgres"])
    assert watcher.watched == []


def test_one_whose_start_is_refused_is_ended_with_the_others(said: list[str]) -> None:
    refusing = Pretend()
    refusing.refuses = True
    watcher = Supervisor(said.append)
    with pytest.raises(Misconfigured):
        watcher.add(refusing)
    watcher.stop()
    assert refusing.ended == ["clock"]


def test_what_does_not_come_true_in_time_is_not_waited_for(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "TICK_S", 0.01)
    watcher = watching(said, Pretend())
    assert not watcher.run(lambda: False, 0.05)
    assert watcher.run(lambda: True, 0.0)


def test_a_child_gets_its_own_settings_over_those_of_all_and_logs_to_its_file(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    told = "import os; print(os.environ['MINE'], os.environ['ALL'], flush=True); " + SLEEP
    child = ChildProcess(
        tmp_path, Child("clock", [sys.executable, "-c", told], {"MINE": "1"}), {"ALL": "2", "MINE": "3"}
    )
    assert (child.alive(), child.pid, child.exit()) == (False, None, "stopped")
    child.start()
    wait_until(lambda: Path(child.where).read_text() == "1 2\n")
    assert child.alive()
    child.stop(5.0)
    assert (child.alive(), child.pid) == (False, None)

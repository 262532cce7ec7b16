from __future__ import annotations

import sys
import time
from pathlib import Path

from api.stack import process
from api.stack.supervisor import Child, ChildProcess, Supervisor, Watched


def test_a_child_that_keeps_dying_is_tried_ever_more_rarely_and_its_last_words_are_told(tmp_path: Path) -> None:
    process.furnish_home(tmp_path)
    said: list[str] = []
    supervisor = Supervisor(said.append)
    failing = Child("clock", [sys.executable, "-c", "raise ValueError('no time')"])
    supervisor.add(ChildProcess(tmp_path, failing, {}))
    supervisor.run(lambda: sum("died" in line for line in said) == 3)
    supervisor.stop()
    died = [line for line in said if "died" in line]
    assert [line.rsplit(" in ", 1)[1] for line in died] == ["0.2 s.", "0.4 s.", "0.8 s."]
    assert "exit 1: ValueError: no time" in died[0]


class Patient:
    """A member that is always well."""

    name, pid, where = "clock", 1, "here"

    def start(self) -> None: ...

    def stop(self, grace_s: float) -> None: ...

    def alive(self) -> bool:
        return True

    def exit(self) -> str:
        return "running"


def test_after_30_s_well_the_back_off_begins_anew() -> None:
    supervisor = Supervisor(print)
    entry = Watched(Patient(), started=time.monotonic() - 31, delay_s=10.0)
    supervisor.watched.append(entry)
    supervisor.check()
    assert entry.delay_s == 0.2

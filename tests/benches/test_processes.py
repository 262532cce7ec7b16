"""Processor time and memory of a stack's processes, from `/proc`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import processes

BUSY = 0.2
BURN = f"import time\nwhile time.process_time() < {BUSY}: pass\n"
FAMILY = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BURN!r}], check=True)
alive = subprocess.Popen([sys.executable, "-c", {BURN!r} + "print(flush=True)\\ninput()"], stdin=0)
input()
"""


@contextmanager
def family() -> Iterator[subprocess.Popen[str]]:
    """Yield a process that has an ended child and a living one, each of which was busy for a while."""
    command = [sys.executable, "-c", FAMILY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.communicate("\n\n")


def test_processor_time_includes_children_that_live_and_that_have_ended() -> None:
    with family() as process:
        assert len(processes.descendants(process.pid)) == 2
        assert processes.tree_cpu_seconds(process.pid) >= 2 * BUSY - 0.02
        assert processes.all_cpu_seconds(process.pid) < processes.tree_cpu_seconds(process.pid)


def test_a_member_counts_what_it_has_started(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with family() as process:
        (tmp_path / "run" / "api.pid").write_text(f"{process.pid} 1")
        seconds = processes.member_cpu_seconds(tmp_path, os.getpid())
        megabytes = processes.member_memory(tmp_path, os.getpid())
        assert seconds["api"] >= 2 * BUSY - 0.02
        assert megabytes["api"] > 1
        assert seconds.keys() == megabytes.keys() == {"api", "up"}


def test_a_process_that_is_gone_has_used_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert processes.cpu_seconds(ended.pid) == 0
    assert processes.descendants(ended.pid) == {ended.pid}

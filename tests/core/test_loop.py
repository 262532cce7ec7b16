from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from core import loop, metrics
from core.loop import Loop
from tests.patience import PATIENCE_SECONDS

SOON = 5.0
"""Seconds that a busy machine may take for what takes none."""


def until(holds: Callable[[], bool]) -> bool:
    ends = time.monotonic() + PATIENCE_SECONDS
    while not holds() and time.monotonic() < ends:
        time.sleep(0.001)
    return holds()


def test_it_takes_turns_at_its_interval_until_it_is_closed() -> None:
    turns: list[float] = []
    repeating = Loop("a", lambda: turns.append(time.monotonic()), 0.01)
    repeating.start()
    assert until(lambda: len(turns) >= 3)
    repeating.close()
    taken = len(turns)
    assert not repeating.is_alive
    assert all(later - earlier >= 0.009 for earlier, later in pairwise(turns))
    time.sleep(0.03)
    assert len(turns) == taken


def test_a_loop_without_an_interval_takes_a_turn_when_it_is_woken() -> None:
    turns: list[int] = []
    woken = Loop("b", lambda: turns.append(1), None, delayed=True)
    woken.start()
    time.sleep(0.02)
    assert turns == []
    woken.wake()
    assert until(lambda: len(turns) == 1)
    woken.close()


def test_a_turn_may_say_when_the_next_one_comes() -> None:
    turns: list[int] = []

    def turn() -> float:
        turns.append(1)
        return 60.0 if len(turns) == 2 else 0.0

    choosing = Loop("c", turn, 0.0)
    choosing.start()
    assert until(lambda: len(turns) == 2)
    time.sleep(0.02)
    choosing.close()
    assert len(turns) == 2


@pytest.mark.parametrize("error", [OSError("away"), ZeroDivisionError("ours")])
def test_a_failure_is_counted_and_costs_a_growing_pause_and_not_the_loop(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(loop, "FIRST_PAUSE_SECONDS", 0.02)
    turns: list[float] = []

    def turn() -> None:
        turns.append(time.monotonic())
        if len(turns) <= 2:
            raise error

    name = f"failing {error}"
    failing = Loop(name, turn, 60.0, expected=(OSError,))
    failing.start()
    assert until(lambda: len(turns) == 3)
    failing.close()
    assert turns[1] - turns[0] >= 0.02
    assert turns[2] - turns[1] >= 0.04
    assert metrics.LOOP_FAILURES.labels(name)._value.get() == 2


def test_a_pause_after_a_failure_ends_when_the_loop_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "FIRST_PAUSE_SECONDS", 60.0)
    monkeypatch.setattr(loop, "LONGEST_PAUSE_SECONDS", 60.0)
    failed = threading.Event()

    def turn() -> None:
        failed.set()
        raise OSError

    failing = Loop("d", turn, expected=(OSError,))
    failing.start()
    assert failed.wait(SOON)
    began = time.monotonic()
    failing.close(SOON)
    assert not failing.is_alive
    assert time.monotonic() - began < SOON


def test_what_is_left_is_done_in_the_loops_thread_after_it_was_stopped() -> None:
    done: list[str] = []
    loop_ = Loop("e", lambda: None, 60.0, last=lambda: done.append(threading.current_thread().name))
    loop_.start()
    loop_.close()
    assert done == ["e"]

from __future__ import annotations

import signal
import threading
import time

import pytest

from workers.dispatch import deadline


def test_an_attempt_is_interrupted_from_another_thread() -> None:
    with deadline.interruptible(None) as bell:
        threading.Timer(0.05, bell.ring).start()
        with pytest.raises(deadline.Interrupted):
            time.sleep(10)


def test_after_its_end_an_attempt_is_not_interrupted_and_the_old_handler_is_back() -> None:
    before = signal.getsignal(deadline.INTERRUPT)
    with deadline.interruptible(60) as bell:
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 60
    bell.ring()
    assert signal.getsignal(deadline.INTERRUPT) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_agent_that_handles_every_exception_does_not_handle_the_interruption() -> None:
    assert not issubclass(deadline.Interrupted, Exception)

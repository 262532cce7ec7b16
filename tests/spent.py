"""What work costs this thread, however slow or busy the machine is: to be compared with other work of one run."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

ROUNDS = 3


def spent(work: Callable[[], object]) -> float:
    """Seconds of the processor, at best: now and then the garbage of all tests before is collected meanwhile."""
    return min(_once(work) for _ in range(ROUNDS))


def _once(work: Callable[[], object]) -> float:
    began = thread_time()
    work()
    return thread_time() - began

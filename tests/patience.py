"""Waiting for what comes in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 300
"""Longest wait. It ends runs that hang; what a busy machine takes longer for is no fault."""


def wait_until(holds: Callable[[], bool], every: float = 0.05) -> None:
    """Ask until it holds; `every` so many seconds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s"
        time.sleep(every)

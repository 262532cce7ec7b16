"""The allocator's memory: what was freed goes back to the operating system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def trim() -> None:
    """Return free pages to the operating system, where the C library can (glibc): by itself it keeps most of them."""
    if _trim is not None:
        _trim(0)


_trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)

"""Numbers of open connections of processes that accept from the same sockets, in memory that they share."""

from __future__ import annotations

import mmap
from typing import Final

ABSENT: Final = -1
"""Number of a process that does not accept."""

BYTES: Final = 4


class Balance:
    """One number for each process, which writes only its own."""

    def __init__(self, slots: int) -> None:
        """Make it before the fork."""
        self._numbers = memoryview(mmap.mmap(-1, BYTES * slots)).cast("i")
        for slot in range(slots):
            self._numbers[slot] = ABSENT

    def note(self, slot: int, connections: int) -> None:
        """Write the number of a process."""
        self._numbers[slot] = connections

    def leave(self, slot: int) -> None:
        """Note that a process accepts no more, or has ended."""
        self._numbers[slot] = ABSENT

    def is_ahead(self, slot: int) -> bool:
        """Return whether another process that accepts has fewer connections."""
        mine = self._numbers[slot]
        return any(ABSENT < other < mine for other in self._numbers)

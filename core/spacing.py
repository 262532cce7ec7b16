"""Intervals between full scans, and positions to scan from, while a held snapshot keeps dead rows in the database."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

Position = TypeVar("Position")
REST: Final = 20
"""Rest after a look, in times of what it took, so that looking takes 5 % of a core at most."""

FREE_SECONDS: Final = 0.05
"""Seconds that a look may take without a rest: its process would be idle otherwise."""

TRAIL_SECONDS: Final = 3.0
"""Time by which a bound trails what was seen: by then a transaction that had begun has shown what it has written."""


class Spacing:
    """Spaces a look that reads everything: it is due again after twenty times what it took beyond `free` seconds."""

    def __init__(self, free: float = FREE_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._free = clock, free
        self._due_at = float("-inf")

    @property
    def is_due(self) -> bool:
        return self._clock() >= self._due_at

    @contextmanager
    def look(self) -> Iterator[None]:
        """Time a look."""
        began = self._clock()
        yield
        ended = self._clock()
        self._due_at = ended + REST * max(0.0, ended - began - self._free)


class TrailingBound(Generic[Position]):
    """Lower bound of the positions at which there may be work, as one process has seen it.

    While a snapshot is held open in PostgreSQL, dead index entries stay in front of the queue, and a search from its
    beginning reads them all. Now and then one does, for what has come below the bound: `Spacing` says when.
    """

    def __init__(
        self, lowest: Position, seconds: float = TRAIL_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._lowest, self._seconds = lowest, seconds
        self._bound = lowest
        self._seen = deque[tuple[float, Position]]()
        self._full = Spacing(0, clock)

    @contextmanager
    def look(self) -> Iterator[Position]:
        """Yield the position from which to look."""
        if self._full.is_due:
            with self._full.look():
                yield self._lowest
        else:
            yield self.at

    @property
    def at(self) -> Position:
        """The position below which nothing was left a while ago."""
        ripe = self._clock() - self._seconds
        while self._seen and self._seen[0][0] <= ripe:
            _, self._bound = self._seen.popleft()
        return self._bound

    def saw(self, position: Position) -> None:
        """Take note that there is nothing below this position, among what is committed."""
        now = self._clock()
        if not self._seen or now - self._seen[-1][0] >= self._seconds / 4:
            self._seen.append((now, position))

"""Numbers by name of processes that serve from the same sockets, and their latest tenants, in memory that they share.

Each process writes its own part and reads those of the others, so nothing is locked. Of a process that was killed the
parent empties the part.
"""

from __future__ import annotations

import hashlib
import mmap
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

PLACES: Final = 2_048
"""Names of one process that are not zero at the same time; those beyond are counted by the process alone."""

FREE: Final = 0
"""Key of a place that is not taken."""

BYTES: Final = 8

LATEST: Final = 2
"""Tenants of one process that are remembered: enough to know whether one of them is alone."""

COMPANY_SECONDS: Final = 5.0
"""Time after its last request for which a tenant counts as company of the others."""


class SharedCounts:
    """The parts of all processes: 64-bit digests of names, and their numbers.

    `tenants`: digests of the latest ones; `seen`: when their last request began, in nanoseconds.
    """

    def __init__(self, slots: int) -> None:
        """Allocate zeros; make it before the fork."""
        self.keys: NDArray[np.uint64] = _zeros(slots, PLACES).view(np.uint64)
        self.numbers: NDArray[np.int64] = _zeros(slots, PLACES)
        self.tenants: NDArray[np.uint64] = _zeros(slots, LATEST).view(np.uint64)
        self.seen: NDArray[np.int64] = _zeros(slots, LATEST)

    def clear(self, slot: int) -> None:
        """Empty the part of a process that has ended."""
        self.keys[slot] = FREE
        self.numbers[slot] = 0
        self.seen[slot] = 0


class ProcessCounts:
    """The part of one process."""

    def __init__(self, shared: SharedCounts, slot: int) -> None:
        shared.clear(slot)
        self._shared, self._slot = shared, slot
        self._taken: dict[int, int] = {}
        self._free = list(range(PLACES))

    def note(self, name: str, number: int) -> None:
        """Write the number of a name; 0 frees its place."""
        key = _key(name)
        index = self._taken.get(key)
        if index is None:
            if not number or not self._free:
                return
            index = self._taken[key] = self._free.pop()
            self._shared.numbers[self._slot, index] = number
            self._shared.keys[self._slot, index] = key
        elif number:
            self._shared.numbers[self._slot, index] = number
        else:
            self._shared.keys[self._slot, index] = FREE
            del self._taken[key]
            self._free.append(index)

    def of_others(self, name: str) -> int:
        """Return the sum of a name's numbers in the other processes."""
        mask = self._shared.keys == np.uint64(_key(name))
        mask[self._slot] = False
        return int(self._shared.numbers[mask].sum())

    def see(self, tenant_id: str) -> None:
        """Note that a tenant sends a request."""
        tenants, seen = self._shared.tenants[self._slot], self._shared.seen[self._slot]
        key = np.uint64(_key(tenant_id))
        indices = np.flatnonzero(tenants == key)
        index = indices[0] if len(indices) else seen.argmin()
        tenants[index], seen[index] = key, time.monotonic_ns()

    def has_company(self, tenant_id: str) -> bool:
        """Return whether another tenant has sent a request within the last seconds, to whichever process."""
        since = time.monotonic_ns() - int(COMPANY_SECONDS * 1e9)
        others = self._shared.tenants != np.uint64(_key(tenant_id))
        return bool((others & (self._shared.seen > since)).any())


def alone() -> ProcessCounts:
    """Return the part of a process that shares nothing."""
    return ProcessCounts(SharedCounts(1), 0)


def _zeros(slots: int, places: int) -> NDArray[np.int64]:
    memory = mmap.mmap(-1, BYTES * slots * places)
    return np.frombuffer(memory, dtype=np.int64).reshape(slots, places)


def _key(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=BYTES).digest()) or 1

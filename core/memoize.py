"""Memoization keyed by digests, so no user text is retained; one scope per unit of work.

Erased data must disappear from all processes, and no message reaches each of them. So there are two ways: `DigestCache`
caches values under digests until they have not been used for a while; `memoized_in_scope` caches anything, but only
within a unit of work.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from typing import Any, Final, Generic, ParamSpec, TypeVar
from weakref import WeakSet

KEPT_SECONDS: Final = 600
"""Seconds without a request after which the next `sweep` evicts a value."""

P = ParamSpec("P")
V = TypeVar("V")
D = TypeVar("D")

_SECRET: Final = secrets.token_bytes(32)
"""Key of this process: without it a digest proves nothing, not even about a guessed text."""


def digest(*parts: object, size: int = 16) -> bytes:
    """Return `size` bytes that identify texts, bytes, numbers and None within this process."""
    return blake2b(repr(parts).encode(), digest_size=size, key=_SECRET).digest()


class DigestCache(Generic[V]):
    """LRU cache of values under digests of their inputs. Thread-safe.

    Values contain no text and no word: only numbers, and digests of this process.
    """

    def __init__(self, most: int) -> None:
        """`most`: maximum number of values."""
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[bytes, tuple[float, V]] = OrderedDict()
        """Least recently used first, each with the time of its last use."""
        with _CACHES_LOCK:
            _CACHES.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: bytes, default: D) -> V | D:
        """Return the value under a digest, or `default`."""
        with self._lock:
            entry = self._values.pop(key, None)
            if entry is None:
                return default
            self._values[key] = (time.monotonic(), entry[1])
            return entry[1]

    def put(self, key: bytes, value: V, least: int = 0) -> None:
        """Store a value and evict the least recently used ones, but keep `least` in any case."""
        with self._lock:
            self._values[key] = (time.monotonic(), value)
            while len(self._values) > max(self._most, least):
                self._values.popitem(last=False)

    def items(self) -> list[tuple[bytes, V]]:
        """Return all current entries."""
        with self._lock:
            return [(key, value) for key, (_, value) in self._values.items()]

    def sweep(self, seconds: float = KEPT_SECONDS) -> None:
        """Evict values without a use for so many seconds."""
        until = time.monotonic() - seconds
        with self._lock:
            while self._values and next(iter(self._values.values()))[0] <= until:
                self._values.popitem(last=False)


class MemoizedFunction(Generic[P, V]):
    """A function with a cache of its results. It must depend on its arguments alone: texts, numbers, None."""

    def __init__(self, work: Callable[P, V], most: int) -> None:
        self.work = work
        self.kept = DigestCache[V](most)

    def __call__(self, *given: P.args, **named: P.kwargs) -> V:
        key = digest(given, named)
        value: Any = self.kept.get(key, _NOTHING)
        if value is _NOTHING:
            # Concurrent threads may compute it twice; none waits for another.
            value = self.work(*given, **named)
            self.kept.put(key, value)
        return value  # type: ignore[no-any-return]


def memoized(most: int) -> Callable[[Callable[P, V]], MemoizedFunction[P, V]]:
    """Cache the `most` results of a function that were used last, under digests of the arguments."""

    def decorated(work: Callable[P, V]) -> MemoizedFunction[P, V]:
        return MemoizedFunction(work, most)

    return decorated


def all_caches() -> list[DigestCache[Any]]:
    """Return all digest caches of this process."""
    with _CACHES_LOCK:
        return list(_CACHES)


def sweep() -> None:
    """Evict values that were not used lately from all caches."""
    for cache in all_caches():
        cache.sweep()


@contextmanager
def memo_scope() -> Iterator[None]:
    """Open the scope of one unit of work, in which `memoized_in_scope` caches; nested scopes share the outer one."""
    if _SCOPE.get() is not None:
        yield
        return
    token = _SCOPE.set({})
    try:
        yield
    finally:
        _SCOPE.reset(token)


def memoized_in_scope(work: Callable[P, V]) -> Callable[P, V]:
    """Cache a function's results within a unit of work; outside of one it is called each time.

    It must depend on its arguments alone.
    """

    @wraps(work)
    def cached(*given: P.args, **named: P.kwargs) -> V:
        desk = _SCOPE.get()
        if desk is None or named:
            return work(*given, **named)
        key: Hashable = (work, given)
        value = desk.get(key, _NOTHING)
        if value is _NOTHING:
            value = desk[key] = work(*given, **named)
        return value  # type: ignore[no-any-return]

    return cached


_NOTHING: Final = object()

_CACHES_LOCK: Final = threading.Lock()

_CACHES: Final[WeakSet[DigestCache[Any]]] = WeakSet()

_SCOPE: Final[ContextVar[dict[Hashable, Any] | None]] = ContextVar("desk", default=None)

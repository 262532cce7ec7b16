"""Digests as numbers that can be stored, covered with a secret of this process wherever they are held in memory.

A stored number stands beside its text and goes with it; a covered one outlives it for some minutes, and proves nothing
about a guessed text without the secret. Covering is a bijection: what is stored can be compared in any process.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Cover:
    """A keyed bijection of unsigned numbers of some bytes: sums and products modulo their range, folded in between."""

    size: int
    added: int
    factors: tuple[int, int]

    @classmethod
    def made(cls, size: int) -> Cover:
        """Return one with a new secret."""
        added, first, second = (int.from_bytes(secrets.token_bytes(size)) for _ in range(3))
        return cls(size, added, (first | 1, second | 1))

    def of_number(self, number: int) -> int:
        """Return a number covered."""
        half, most = 4 * self.size, (1 << 8 * self.size) - 1
        number = (number + self.added) * self.factors[0] & most
        number = (number ^ number >> half) * self.factors[1] & most
        return number ^ number >> half

    def of(self, numbers: Numbers) -> Numbers:
        """Return an array of numbers covered."""
        kind, half = numbers.dtype.type, 4 * self.size
        covered = (numbers + kind(self.added)) * kind(self.factors[0])
        covered = (covered ^ covered >> kind(half)) * kind(self.factors[1])
        return np.asarray(covered ^ covered >> kind(half))

    def lifted(self, numbers: Numbers) -> Numbers:
        """Return an array of covered numbers as they were."""
        kind, half = numbers.dtype.type, 4 * self.size
        first, second = _inverses(self.factors, 1 << 8 * self.size)
        lifted = (numbers ^ numbers >> kind(half)) * kind(second)
        return np.asarray((lifted ^ lifted >> kind(half)) * kind(first) - kind(self.added))


@cache
def _inverses(factors: tuple[int, ...], modulus: int) -> tuple[int, ...]:
    return tuple(pow(factor, -1, modulus) for factor in factors)


LONG: Final = Cover.made(8)
SHORT: Final = Cover.made(4)
"""Covers with the secrets of this process, and of those forked from it."""


def number(*parts: str, cover: Cover = LONG) -> int:
    """Return a digest of texts, covered."""
    return cover.of_number(int.from_bytes(blake2b(repr(parts).encode(), digest_size=cover.size).digest()))

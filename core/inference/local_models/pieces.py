"""Ids of a tokenizer's pieces: a hash table of 4 MB for 250,000 pieces, where a `dict` of them takes 45."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

ID_BITS: Final = 20
"""Low bits of an entry: the id and one, so that no entry is 0. The others are those of the piece's hash."""

LENGTH_BIT: Final = 40
"""Bit of a hash at which the length is added: Python hashes the bytes of a text, and 整 in two bytes is "te" in one."""

IDS: Final = (1 << ID_BITS) - 1
HASHES: Final = (1 << 63) - 1 - IDS


class PieceTable:
    """Open addressing over one array of integers; pieces themselves are not kept.

    Two texts are told apart by 43 bits of a hash that is keyed anew in each process (SipHash): of 10,000,000,000,000
    texts that are no piece, about one would be taken for one.
    """

    def __init__(self, pieces: Iterable[str], count: int) -> None:
        """`pieces` in the order of their ids, `count` of them. ValueError: too many."""
        if count > IDS - 1:
            raise ValueError(f"{count} pieces do not fit {ID_BITS} bits.")
        self._mask = (1 << (2 * count).bit_length()) - 1
        self._entries = array("q", bytes(8 * (self._mask + 1)))
        entries, mask = self._entries, self._mask
        for number, piece in enumerate(pieces, 1):
            hashed = hash(piece) ^ len(piece) << LENGTH_BIT
            slot = hashed & mask
            while entries[slot]:
                slot = (slot + 1) & mask
            entries[slot] = hashed & HASHES | number

    def get(self, text: str) -> int | None:
        """Return the id of a piece; None: it is none."""
        hashed = hash(text) ^ len(text) << LENGTH_BIT
        slot = hashed & self._mask
        while entry := self._entries[slot]:
            if not (entry ^ hashed) & HASHES:
                return (entry & IDS) - 1
            slot = (slot + 1) & self._mask
        return None

"""Features of a memory's words as bytes in its row: computed when it is written, and read instead of its text. Pure.

Their digests are those that every process computes, without a cover (`core.covering`): whoever reads them covers them.
A trigger removes the bytes together with the content that they follow from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.covering import LONG, SHORT
from core.memoize import memoized_in_scope
from core.memory import identity
from core.memory.codes import LONGEST, code_of
from core.statements import comparison
from core.statements.comparison import OUTLINED

VERSION: Final = 2
"""To be raised when the same content gives other features (`tests/core/memory/test_stored_features.py` notices).

Rows with another version are read as if they had none, and their features follow from their texts again.
"""

_HEAD: Final = np.dtype(
    [
        ("version", "u1"),
        ("long", "?"),
        ("begun", "u1"),
        ("content", "<u8"),
        ("exact", "<u8"),
        ("spelling", "<u8"),
        ("words", "<u8"),
    ]
)
"""Numbers of one memory; `begun` says how many digests follow."""

_SHORT: Final = 4
"""Bytes of a digest in an outline."""

COVERED: Final = ("content", "exact", "spelling", "words")
"""Columns of digests."""


class StoredFeatures(NamedTuple):
    """Features of several memories: `heads` with covered digests, `beginnings` likewise."""

    heads: NDArray[Any]
    beginnings: NDArray[np.uint32]


@memoized_in_scope
def encoded(content: str) -> bytes:
    """Return the features of a content."""
    outline, keys = comparison.outline(content), identity.content_keys(content)
    begun = np.frombuffer(outline.beginnings, dtype="<u4")
    digests = [code_of(content), keys.exact[0], keys.spelling[0], outline.words]
    lifted = LONG.lifted(np.array(digests, dtype=np.uint64))
    row = VERSION, len(content) > LONGEST, len(begun), *lifted.tolist()
    return np.array([row], dtype=_HEAD).tobytes() + SHORT.lifted(begun.astype(np.uint32)).astype("<u4").tobytes()


def is_current(stored: bytes | None) -> bool:
    """Return whether features were stored, by this version."""
    return stored is not None and len(stored) >= _HEAD.itemsize and stored[0] == VERSION


def decoded(stored: Sequence[bytes]) -> StoredFeatures:
    """Return the features of memories from what is stored of each."""
    size = _HEAD.itemsize
    heads = np.frombuffer(b"".join([entry[:size] for entry in stored]), dtype=_HEAD).copy()
    for name in COVERED:
        heads[name] = LONG.of(heads[name].astype(np.uint64))
    padded = b"".join([entry[size:].ljust(OUTLINED * _SHORT, b"\0") for entry in stored])
    beginnings = SHORT.of(np.frombuffer(padded, dtype="<u4").astype(np.uint32).reshape(len(stored), OUTLINED))
    beginnings[np.arange(OUTLINED) >= heads["begun"][:, None]] = 0
    return StoredFeatures(heads, beginnings)

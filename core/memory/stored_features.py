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
from core.statements import comparison, endings
from core.statements.comparison import OUTLINED
from core.statements.endings import Codes, Traits

Places = NDArray[np.int64]

VERSION: Final = 1
"""To be raised when the same content gives other features (`tests/core/memory/test_stored_features.py` notices).

Rows with another version are read as if they had none, and their features follow from their texts again.
"""

_HEAD: Final = np.dtype(
    [
        ("version", "u1"),
        ("chinese", "?"),
        ("long", "?"),
        ("begun", "u1"),
        ("count", "<u2"),
        ("who", "<u2"),
        ("values", "u1", (len(endings.SORTS),)),
        ("said", "<i4"),
        ("content", "<u8"),
        ("exact", "<u8"),
        ("spelling", "<u8"),
        ("words", "<u8"),
        ("ends", "<f8"),
        ("ended", "<f8"),
    ]
)
"""Numbers of one memory; `begun`, `count`, `who` and `values` say how many digests follow, in this order."""

_MOST: Final = {"begun": OUTLINED, "count": 2**16 - 1, "who": 2**16 - 1, "values": 2**8 - 1}
_LONG: Final = 8
"""Bytes of a digest."""

COVERED: Final = ("content", "exact", "spelling", "words")
"""Columns of digests."""


class StoredFeatures(NamedTuple):
    """Features of several memories: `heads` with covered digests, `beginnings` likewise, of all memories their words.

    `rest`: of each what `traits_of` reads.
    """

    heads: NDArray[Any]
    beginnings: NDArray[np.uint32]
    words: NDArray[np.uint64]
    rest: Sequence[StoredTraits]


class StoredTraits(NamedTuple):
    """Traits of one memory that endings compare; `codes`: covered digests, first of people, then of values by sort."""

    who: int
    values: Sequence[int]
    ends: float
    ended: float
    codes: bytes


@memoized_in_scope
def encoded(content: str) -> bytes | None:
    """Return the features of a content; None: it has more words than are stored."""
    sketch, outline, keys = endings.sketch(content), comparison.outline(content), identity.content_keys(content)
    traits = sketch.traits
    begun = np.frombuffer(outline.beginnings, dtype="<u4")
    sorts = [traits.values.get(sort, frozenset()) for sort in endings.SORTS]
    counts = {"begun": len(begun), "count": len(sketch.words), "who": len(traits.who)}
    counts["values"] = max(map(len, sorts))
    if any(counts[name] > most for name, most in _MOST.items()):
        return None
    digests = [endings.code_of(content), keys.exact[0], keys.spelling[0], outline.words]
    digests += [*sorted(sketch.words), *sorted(traits.who), *(code for codes in sorts for code in sorted(codes))]
    lifted = LONG.lifted(np.array(digests, dtype=np.uint64))
    row = (
        VERSION,
        sketch.language == "zh",
        len(content) > endings.LONGEST,
        counts["begun"],
        counts["count"],
        counts["who"],
        tuple(map(len, sorts)),
        len(sketch.said),
        *lifted[: len(COVERED)].tolist(),
        traits.ends,
        traits.ended,
    )
    beginnings = SHORT.lifted(begun.astype(np.uint32)).astype("<u4")
    rest = lifted[len(COVERED) :].astype("<u8")
    return np.array([row], dtype=_HEAD).tobytes() + beginnings.tobytes() + rest.tobytes()


def is_current(stored: bytes | None) -> bool:
    """Return whether features were stored, by this version."""
    return stored is not None and len(stored) >= _HEAD.itemsize and stored[0] == VERSION


def decoded(stored: Sequence[bytes]) -> StoredFeatures:
    """Return the features of memories from what is stored of each."""
    size, beginning = _HEAD.itemsize, np.dtype(np.uint32).itemsize
    heads = np.frombuffer(b"".join([entry[:size] for entry in stored]), dtype=_HEAD).copy()
    for name in COVERED:
        heads[name] = LONG.of(heads[name].astype(np.uint64))
    ends = (size + beginning * heads["begun"].astype(np.int64)).tolist()
    padded = b"".join(
        [entry[size:end].ljust(OUTLINED * beginning, b"\0") for entry, end in zip(stored, ends, strict=True)]
    )
    beginnings = SHORT.of(np.frombuffer(padded, dtype="<u4").astype(np.uint32).reshape(len(stored), OUTLINED))
    beginnings[np.arange(OUTLINED) >= heads["begun"][:, None]] = 0
    digests = [entry[end:] for entry, end in zip(stored, ends, strict=True)]
    lengths = np.array([len(digest) // _LONG for digest in digests], dtype=np.int64)
    codes = LONG.of(np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64))
    starts = np.cumsum(lengths) - lengths
    within = np.arange(len(codes)) - np.repeat(starts, lengths)
    is_word = within < np.repeat(heads["count"].astype(np.int64), lengths)
    return StoredFeatures(heads, beginnings, codes[is_word], _rest(heads, codes.tobytes(), starts, lengths))


def _rest(heads: NDArray[Any], codes: bytes, starts: Places, lengths: Places) -> list[StoredTraits]:
    first, last = _LONG * (starts + heads["count"]), _LONG * (starts + lengths)
    columns = (heads[name].tolist() for name in ("who", "values", "ends", "ended"))
    rows = zip(*columns, first.tolist(), last.tolist(), strict=True)
    return [StoredTraits(who, values, ends, ended, codes[a:b]) for who, values, ends, ended, a, b in rows]


def traits_of(stored: StoredTraits) -> Traits:
    """Return what endings compare of a memory."""
    codes = np.frombuffer(stored.codes, dtype=np.uint64).tolist()
    parts: list[Codes] = []
    for count in (stored.who, *stored.values):
        parts.append(frozenset(codes[:count]))
        codes = codes[count:]
    return Traits(parts[0], dict(zip(endings.SORTS, parts[1:], strict=True)), stored.ends, stored.ended)

"""One consistent view over the segments. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.index.resident import columns
from core.index.resident.arrays import Flags, Floats, Places, Texts
from core.index.resident.columns import Place
from core.index.resident.segments import Interners, Segment
from core.index.resident.vectors import Cosines
from core.types import Category, Status

ROW_BYTES: Final = 400
"""Bytes of a row besides its vector and its terms: key and numbers."""


def _concatenate(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Concatenate arrays; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, dtype)])


class Snapshot:
    """Rows cached at a moment; immutable. Of a row that was read again the older copy is dead.

    `cites`: pairs of a memory and a message that it cites, by the numbers of their keys.
    """

    def __init__(self, interners: Interners, segments: Sequence[Segment], cites: Places) -> None:
        self.interners = interners
        self.segments = segments
        self.cites = cites
        self.starts = np.cumsum([0, *map(len, segments)])
        self.fields: Mapping[str, NDArray[Any]] = {
            name: _concatenate([segment.columns.fields[name] for segment in segments], values.dtype)
            for name, values in _NO_FIELDS.items()
        }
        self.keys: Texts = _concatenate([segment.keys for segment in segments], object)
        self.sessions: Places = _concatenate([segment.sessions for segment in segments], np.int64)
        self.speakers: Places = _concatenate([segment.speakers for segment in segments], np.int64)
        self.places: Places = _concatenate([segment.places for segment in segments], np.int64)
        """Numbers of the rows' places in `interners.places`."""
        numbers: Places = _concatenate([segment.numbers for segment in segments], np.int64)
        self._row_of = np.full(len(interners.rows.numbers), -1, dtype=np.int64)
        self._row_of[numbers] = np.arange(len(numbers))  # Of a row that stands twice it is the last place.
        self.alive: NDArray[np.bool_] = self._row_of[numbers] == np.arange(len(numbers))
        citing, cited = self._row_of[cites[:, 0]], self._row_of[cites[:, 1]]
        here = (citing >= 0) & (cited >= 0)
        self.citing: Places = citing[here]
        """Positions of memories; `cited` has the position of the message that each cites."""
        self.cited: Places = cited[here]

    def __len__(self) -> int:
        return len(self.keys)

    def place(self, key: str) -> int | None:
        """Return the position of a row; None: it is not cached."""
        number = self.interners.rows.numbers.get(key, len(self._row_of))
        row = int(self._row_of[number]) if number < len(self._row_of) else -1
        return row if row >= 0 else None

    def rows_of(self, keys: Sequence[str]) -> Places:
        """Return the positions of rows; -1: not cached."""
        numbers, most = self.interners.rows.numbers, len(self._row_of)
        interned = np.array([numbers.get(key, most) for key in keys], dtype=np.int64)
        return np.where(interned < most, np.append(self._row_of, -1)[np.minimum(interned, most)], -1)

    def said_to(self, audience: Place) -> Flags:
        """Return which rows were said to a group and an audience."""
        return np.asarray(self.places == self.interners.places.numbers.get(audience, -1))

    def tags(self, position: int) -> Sequence[str]:
        """Return the tags of the row at a position."""
        layer = int(np.searchsorted(self.starts, position, side="right")) - 1
        return self.segments[layer].columns.tags[position - int(self.starts[layer])]

    def lexical(self, query_terms: Mapping[int, float]) -> Floats:
        """Return the lexical score of each row."""
        return _concatenate(
            [segment.columns.terms.products(query_terms, len(segment)) for segment in self.segments], np.float32
        )

    def cosines(self, vector: Floats | None) -> Cosines:
        """Return the cosines of the rows, computed on demand."""
        return Cosines([segment.columns.vectors for segment in self.segments], self.fields["embedded"], vector)

    def products(self, vectors: Floats) -> Floats:
        """Return the exact cosine of each row (column) to each of these vectors (row), of length 1; 0: no vector."""
        cosines = np.empty((len(vectors), len(self)), dtype=np.float32)
        for start, layer in zip(self.starts.tolist(), self.segments, strict=False):
            layer.columns.vectors.products(vectors, cosines[:, start : start + len(layer)])
        return cosines

    def vectors(self, places: Places) -> Floats:
        """Return the vectors of these rows."""
        vectors = np.empty((len(places), self.dimension), dtype=np.float32)
        for start, layer in zip(self.starts.tolist(), self.segments, strict=False):
            here = (places >= start) & (places < start + len(layer))
            vectors[here] = layer.columns.vectors.rows(places[here] - start)
        return vectors

    @property
    def dimension(self) -> int:
        return self.segments[0].columns.vectors.dimension if self.segments else 0

    @cached_property
    def memories(self) -> int:
        """The number of memories."""
        return int(np.count_nonzero(self.alive & self.fields["memory"]))

    @cached_property
    def retired(self) -> Flags:
        """Mask of messages that support only superseded memories, so that their statements are outdated."""
        superseded, stated = self._superseded
        retired = self.outdated.copy()
        retired[self.cited[stated & ~superseded]] = False
        return retired

    @cached_property
    def outdated(self) -> Flags:
        """Mask of messages of which at least one statement was superseded."""
        superseded, stated = self._superseded
        outdated = np.zeros(len(self), dtype=np.bool_)
        outdated[self.cited[stated & superseded]] = True
        return outdated

    @property
    def _superseded(self) -> tuple[Flags, Flags]:
        """Return of each citation whether its memory is superseded, and whether it is no episode."""
        status, category = self.fields["status"][self.citing], self.fields["category"][self.citing]
        return np.asarray(status == _SUPERSEDED), np.asarray(category != _EPISODE)

    @cached_property
    def bytes(self) -> int:
        of_layers = (
            segment.columns.vectors.nbytes + segment.columns.terms.nbytes + len(segment) * ROW_BYTES
            for segment in self.segments
        )
        return sum(of_layers)


_SUPERSEDED: Final = list(Status).index(Status.SUPERSEDED) + 1
_EPISODE: Final = list(Category).index(Category.EPISODE) + 1
"""Codes of the columns. An episode retells all that was said, and backs nothing."""

_NO_FIELDS: Final = columns.none(0).fields

NO_PAIRS: Final = np.empty((0, 2), dtype=np.int64)
"""Pairs of memories and messages that they cite."""

EMPTY: Final = Snapshot(Interners(), (), NO_PAIRS)

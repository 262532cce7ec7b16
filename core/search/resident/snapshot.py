"""One consistent view over the segments. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.search.resident import columns
from core.search.resident.candidates import Flags, Floats, Places, Texts
from core.search.resident.segments import Layer, Registers
from core.search.resident.vectors import Cosines
from core.types import Category, Status

ROW_BYTES: Final = 400
"""What a row takes besides its vector and its words: its key, and places."""


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """One array of several; the only one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, dtype)])


class View:
    """What was at hand at a moment; it never changes. A row that was read anew later is dead in its first layer.

    `cites`: pairs of a memory and a message that it rests on, by the numbers of their keys.
    """

    def __init__(self, registers: Registers, layers: Sequence[Layer], cites: Places) -> None:
        self.registers = registers
        self.layers = layers
        self.cites = cites
        self.starts = np.cumsum([0, *map(len, layers)])
        self.fields: Mapping[str, NDArray[Any]] = {
            name: _joined([one.columns.fields[name] for one in layers], values.dtype)
            for name, values in _NO_FIELDS.items()
        }
        self.keys: Texts = _joined([one.keys for one in layers], object)
        self.sessions: Places = _joined([one.sessions for one in layers], np.int64)
        self.speakers: Places = _joined([one.speakers for one in layers], np.int64)
        numbers: Places = _joined([one.numbers for one in layers], np.int64)
        self._row_of = np.full(len(registers.rows.numbers), -1, dtype=np.int64)
        self._row_of[numbers] = np.arange(len(numbers))  # Of a row that stands twice it is the last place.
        self.alive: NDArray[np.bool_] = self._row_of[numbers] == np.arange(len(numbers))
        citing, cited = self._row_of[cites[:, 0]], self._row_of[cites[:, 1]]
        here = (citing >= 0) & (cited >= 0)
        self.citing: Places = citing[here]
        """Places of memories, each beside that of a message at hand that it rests on in `cited`."""
        self.cited: Places = cited[here]

    def __len__(self) -> int:
        return len(self.keys)

    def place(self, key: str) -> int | None:
        """Where a row stands; None: it is not there."""
        number = self.registers.rows.numbers.get(key, len(self._row_of))
        row = int(self._row_of[number]) if number < len(self._row_of) else -1
        return row if row >= 0 else None

    def tags(self, at: int) -> Sequence[str]:
        """The tags of the row at a place."""
        layer = int(np.searchsorted(self.starts, at, side="right")) - 1
        return self.layers[layer].columns.tags[at - int(self.starts[layer])]

    def lexical(self, asked: Mapping[int, float]) -> Floats:
        """How well the words of each row fit."""
        return _joined([one.columns.terms.products(asked, len(one)) for one in self.layers], np.float32)

    def cosines(self, vector: Floats | None) -> Cosines:
        """How near each row's vector is."""
        return Cosines([one.columns.vectors for one in self.layers], self.fields["embedded"], vector)

    def vectors(self, places: Places) -> Floats:
        """The vectors of some rows."""
        found = np.empty((len(places), self.dimension), dtype=np.float32)
        for start, layer in zip(self.starts.tolist(), self.layers, strict=False):
            here = (places >= start) & (places < start + len(layer))
            found[here] = layer.columns.vectors.rows(places[here] - start)
        return found

    @property
    def dimension(self) -> int:
        return self.layers[0].columns.vectors.dimension if self.layers else 0

    @cached_property
    def retired(self) -> Flags:
        """Which rows are messages that back no memory but superseded ones: what they said holds no longer."""
        status, told = self.fields["status"][self.citing], self.fields["category"][self.citing] != _EPISODE
        superseded = status == _SUPERSEDED
        retired = np.zeros(len(self), dtype=np.bool_)
        retired[self.cited[told & superseded]] = True
        retired[self.cited[told & ~superseded]] = False
        return retired

    @cached_property
    def bytes(self) -> int:
        of_layers = (
            one.columns.vectors.nbytes + one.columns.terms.ids.nbytes * 4 + len(one) * ROW_BYTES for one in self.layers
        )
        return sum(of_layers)


_SUPERSEDED: Final = list(Status).index(Status.SUPERSEDED) + 1
_EPISODE: Final = list(Category).index(Category.EPISODE) + 1
"""As the columns have them; an episode retells all that was said, and backs nothing."""

_NO_FIELDS: Final = columns.none(0).fields

NO_PAIRS: Final = np.empty((0, 2), dtype=np.int64)
"""Of memories and messages that they rest on."""

NOTHING: Final = View(Registers(), (), NO_PAIRS)

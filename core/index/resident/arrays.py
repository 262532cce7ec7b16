"""Array types of the columns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Floats = NDArray[np.float32]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = NDArray[Any]


def texts(values: Sequence[object]) -> Texts:
    """Return an array of objects; numpy alone would make fixed-width strings of texts."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array

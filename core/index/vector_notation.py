"""Vectors in pgvector's text notation. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def vector_literal(vector: NDArray[np.float32]) -> str:
    """Write a vector in pgvector's notation."""
    return "[" + ",".join([f"{x:.6g}" for x in vector.tolist()]) + "]"


def vector_of(literal: str) -> NDArray[np.float32]:
    """Read a vector from pgvector's notation."""
    return np.array(literal[1:-1].split(","), dtype=np.float32)

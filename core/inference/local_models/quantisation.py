"""Weights as integers with a scale for each output, and the format Q4_0 they may come in."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Codes = NDArray[np.int8]
Bytes = NDArray[np.uint8]

BLOCK: Final = 32
"""Inputs that share a scale in Q4_0."""

HIGHEST: Final = 63
"""Seven bits: two products with 8-bit activations still fit the 16 bits in which processors without VNNI add them."""


def quantise(weights: Floats) -> tuple[Codes, Floats]:
    """Quantise a matrix [outputs, inputs]: codes [inputs, outputs] of -63 to 63, and the scale of each output."""
    scales = np.abs(weights).max(axis=1) / np.float32(HIGHEST)
    codes = np.rint(weights / np.maximum(scales, np.float32(1e-12))[:, None]).astype(np.int8)
    return np.ascontiguousarray(codes.T), scales.astype(np.float32)


def restore_q4(raw: Bytes) -> Floats:
    """Return the numbers that blocks of the format Q4_0 stand for; the last two axes become one.

    A block: a half-precision scale, and 16 bytes with 16 codes around 8 in the low halves and 16 in the high ones.
    """
    scales = np.ascontiguousarray(raw[..., :2]).view(np.float16).astype(np.float32)
    codes = np.concatenate([raw[..., 2:] & 15, raw[..., 2:] >> 4], axis=-1)
    numbers: Floats = (codes.astype(np.float32) - 8) * scales
    return numbers.reshape(*numbers.shape[:-2], -1)

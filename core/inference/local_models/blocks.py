"""Weights in blocks of 32 inputs with a scale each, as the operator MatMulNBits of onnxruntime takes them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]

BLOCK: Final = 32
"""Inputs that share a scale."""


def quantise(weights: Floats) -> tuple[Codes, Floats]:
    """Quantise a matrix [outputs, inputs] to 8 bits: codes [outputs, blocks, 32] around 128, and their scales."""
    blocks = weights.reshape(len(weights), -1, BLOCK)
    scales = np.abs(blocks).max(axis=-1) / np.float32(127)
    codes = np.rint(blocks / np.maximum(scales, np.float32(1e-12))[..., None]) + 128
    return codes.astype(np.uint8), scales.astype(np.float32).reshape(-1)


def split_q4(raw: Codes) -> tuple[Codes, Floats]:
    """Split blocks of the format Q4_0, each a half-precision scale and 16 bytes, into 32 codes around 8, and scales."""
    scales = np.ascontiguousarray(raw[..., :2]).view(np.float16)[..., 0].astype(np.float32)
    codes = np.concatenate([raw[..., 2:] & 15, raw[..., 2:] >> 4], axis=-1)
    return codes, scales


def pack_q4(raw: Codes) -> tuple[Codes, Floats]:
    """Return blocks of the format Q4_0 as MatMulNBits takes them: neighbours in one byte, the first in the low half."""
    codes, scales = split_q4(raw)
    packed = codes[..., 0::2] | (codes[..., 1::2] << 4)
    return packed.astype(np.uint8), scales.reshape(-1)


def restore_q4(raw: Codes) -> Floats:
    """Return the numbers that blocks of the format Q4_0 stand for; the last two axes become one."""
    codes, scales = split_q4(raw)
    numbers: NDArray[Any] = (codes.astype(np.float32) - 8) * scales[..., None]
    return numbers.reshape(*numbers.shape[:-2], -1)

from __future__ import annotations

import numpy as np

from core.inference.local_models import blocks


def test_eight_bits_keep_a_weight_to_half_a_step() -> None:
    weights = np.random.default_rng(1).normal(size=(4, 96)).astype(np.float32)
    codes, scales = blocks.quantise(weights)
    restored = (codes.astype(np.float32) - 128) * scales.reshape(4, 3, 1)
    assert np.abs(restored.reshape(4, 96) - weights).max() <= scales.max() / 2 + 1e-6


def test_blocks_of_zeros_stay_zeros() -> None:
    codes, scales = blocks.quantise(np.zeros((2, 32), dtype=np.float32))
    assert (codes == 128).all()
    assert (scales == 0).all()


def test_four_bits_are_read_and_packed_in_the_order_of_the_inputs() -> None:
    codes = np.random.default_rng(2).integers(0, 16, size=(3, 2, 32), dtype=np.uint8)
    raw = np.zeros((3, 2, 18), dtype=np.uint8)
    raw[..., :2] = np.full((3, 2, 1), 0.5, dtype=np.float16).view(np.uint8)
    raw[..., 2:] = codes[..., :16] | (codes[..., 16:] << 4)
    np.testing.assert_array_equal(blocks.restore_q4(raw), ((codes.astype(np.float32) - 8) * 0.5).reshape(3, 64))
    packed, scales = blocks.pack_q4(raw)
    np.testing.assert_array_equal(np.stack([packed & 15, packed >> 4], axis=-1).reshape(3, 2, 32), codes)
    np.testing.assert_array_equal(scales, np.full(6, 0.5))

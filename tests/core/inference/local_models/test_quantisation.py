from __future__ import annotations

import numpy as np

from core.inference.local_models import quantisation


def test_a_weight_is_kept_to_half_a_step() -> None:
    weights = np.random.default_rng(1).normal(size=(4, 96)).astype(np.float32)
    codes, scales = quantisation.quantise(weights)
    assert np.abs(codes).max() == quantisation.HIGHEST
    assert (np.abs(codes.T * scales[:, None] - weights).max(axis=1) <= scales / 2 + 1e-6).all()


def test_products_of_two_pairs_fit_sixteen_bits() -> None:
    assert 2 * 255 * quantisation.HIGHEST < 2**15


def test_an_output_of_zeros_stays_zero() -> None:
    codes, scales = quantisation.quantise(np.zeros((2, 32), dtype=np.float32))
    assert (codes == 0).all()
    assert (scales == 0).all()


def test_four_bits_are_read_in_the_order_of_the_inputs() -> None:
    codes = np.random.default_rng(2).integers(0, 16, size=(3, 2, 32), dtype=np.uint8)
    raw = np.zeros((3, 2, 18), dtype=np.uint8)
    raw[..., :2] = np.full((3, 2, 1), 0.5, dtype=np.float16).view(np.uint8)
    raw[..., 2:] = codes[..., :16] | (codes[..., 16:] << 4)
    restored = quantisation.restore_q4(raw)
    np.testing.assert_array_equal(restored, ((codes.astype(np.float32) - 8) * 0.5).reshape(3, 64))

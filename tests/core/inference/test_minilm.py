"""Batches and activation of the forward pass."""

from __future__ import annotations

import numpy as np

from core.inference.minilm import batches, gelu


def test_batches_hold_every_text_once_and_stay_within_the_limit() -> None:
    lengths = [3, 200, 17, 256, 256, 4, 4, 90] * 9
    found = batches(lengths)
    assert sorted(at for batch in found for at in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[at] for at in batch) <= 512 for batch in found)


def test_the_activation_follows_its_definition() -> None:
    x = np.linspace(-8, 8, 801, dtype=np.float32).reshape(-1, 1)
    grid = np.linspace(-12, 12, 200_001)
    density = np.exp(-grid * grid / 2) / np.sqrt(2 * np.pi)
    phi = np.interp(x, grid, np.cumsum(density) * (grid[1] - grid[0]))
    np.testing.assert_allclose(gelu(x.copy()), x * phi, atol=2e-4)

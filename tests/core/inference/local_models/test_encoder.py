from __future__ import annotations

import numpy as np

from core.inference.local_models.encoder import BATCH_TOKENS, batches, pad


def test_batches_hold_every_text_once_and_stay_within_the_limit() -> None:
    lengths = [3, 200, 17, 256, 256, 4, 4, 90] * 9
    found = batches(lengths)
    assert sorted(at for batch in found for at in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[at] for at in batch) <= BATCH_TOKENS for batch in found)


def test_padding_makes_a_rectangle_and_marks_the_tokens() -> None:
    ids, present = pad([[5, 6, 7], [8]])
    np.testing.assert_array_equal(ids, [[5, 6, 7], [8, 0, 0]])
    np.testing.assert_array_equal(present, [[True, True, True], [True, False, False]])

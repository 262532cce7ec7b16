from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search import filters

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=40)


@given(SCORES, st.integers(1, 12), st.booleans())
def test_an_arm_names_its_best_and_of_equals_the_first(scores: list[float], most: int, fitting: bool) -> None:
    places = np.arange(len(scores)) * 3
    expected = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:most]
    if fitting:
        expected = [at for at in expected if scores[at] > 0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(filters, "ARM_LIMIT", most)
        named = filters._top(places, np.array(scores, dtype=np.float32), fitting=fitting)
    assert sorted(named.tolist()) == sorted(3 * at for at in expected)

"""Digests that are stored as they are, and held in memory under a secret of the process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.covering import LONG, SHORT, Cover, number

SHOWN = """
import numpy as np
from core.covering import LONG, number

def lifted(said: str) -> int:
    return int(LONG.lifted(np.array([number(said)], dtype=np.uint64))[0])

print(number("tea"), lifted("tea"))
"""
TYPES = {LONG.size: np.uint64, SHORT.size: np.uint32}


@pytest.mark.parametrize("cover", [LONG, SHORT])
@given(data=st.data())
def test_what_is_covered_can_be_lifted_alone_and_as_an_array(cover: Cover, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, 2 ** (8 * cover.size) - 1), max_size=20))
    array = np.array(numbers, dtype=TYPES[cover.size])
    covered = cover.of(array)
    assert covered.dtype == array.dtype
    assert covered.tolist() == [cover.of_number(plain) for plain in numbers]
    assert cover.lifted(covered).tolist() == numbers


def test_each_secret_covers_differently() -> None:
    assert Cover.made(8).of_number(7) != Cover.made(8).of_number(7)


def test_a_number_is_another_one_in_each_process_and_the_stored_one_is_not() -> None:
    run = [sys.executable, "-c", SHOWN]
    told = [subprocess.run(run, capture_output=True, check=True).stdout.split() for _ in range(2)]
    assert told[0][0] != told[1][0]
    assert told[0][1] == told[1][1] == str(LONG.lifted(np.array([number("tea")], dtype=np.uint64))[0]).encode()


def test_texts_beside_each_other_are_not_one_text() -> None:
    assert len({number("ab", "c"), number("a", "bc"), number("abc"), number("abc", "")}) == 4

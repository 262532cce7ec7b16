from __future__ import annotations

from pathlib import Path

import pytest

from core import heap

SMALL = 50_000
COUNT = 2_000


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists() or heap._trim is None, reason="the memory of glibc on Linux")
def test_free_memory_goes_back_to_the_operating_system() -> None:
    kept, freed = [], []
    for number in range(COUNT):  # What stays lies between what is freed, so that the heap cannot shrink at its end.
        (kept if number % 50 == 0 else freed).append(bytearray(b"x" * SMALL))
    freed.clear()
    before = resident()
    heap.trim()
    assert before - resident() > COUNT * SMALL // 2
    assert kept

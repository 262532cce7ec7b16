from __future__ import annotations

from core.index.resident.segments import Interner


def test_a_text_keeps_the_number_that_it_got_first() -> None:
    register = Interner()
    assert register.of(["a", "b", "a"]).tolist() == [0, 1, 0]
    assert register.of(["c", "b"]).tolist() == [2, 1]
    assert register.of([]).tolist() == []

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.entities import written
from core.errors import Invalid


def pointers(names: Mapping[str, str]) -> list[str]:
    with pytest.raises(Invalid) as refused:
        written.different(names)
    return [problem.pointer for problem in refused.value.problems]


def test_names_are_read_each_once() -> None:
    assert written.different({"/a": "my mother", "/b": "Evelyn", "/c": "Mum"}) == ["/mother", "Evelyn"]


def test_what_says_nothing_is_refused_at_its_place() -> None:
    assert pointers({"/name": " ", "/others/0": "Tom", "/others/1": "/"}) == ["/name", "/others/1"]
    assert pointers({"/name": "Mum", "/others/0": "my mother"}) == ["/others/0"]

"""Memories of other services are statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.transfer.records import Statement
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, read, written


@pytest.mark.parametrize(
    ("value", "number", "first"),
    [
        (vendors.mem0_page(), NUMBER, "Has 0 bicycles"),
        (vendors.mem0_page()["results"], NUMBER, "Has 0 bicycles"),
        (vendors.langgraph(), NUMBER + 1, "Owns boat 0"),
        ([vendors.hindsight(n) for n in range(NUMBER)], NUMBER, "Ada visited city 0."),
    ],
)
def test_memories_of_other_services_are_statements(tmp_path: Path, value: object, number: int, first: str) -> None:
    found = [one for one in read(written(tmp_path / "x.json", value)) if isinstance(one, Statement)]
    assert (len(found), found[0].content) == (number, first)
    assert len({one.id for one in found}) == number
    assert found[0].at is not None

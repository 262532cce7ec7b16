from __future__ import annotations

from tests.rules.document.documents import problems_of
from tests.rules.samples import a_document


def test_an_unknown_agent_is_refused_with_the_known_ones() -> None:
    found = problems_of(a_document(), ["memory_extracter", "notifier"])
    assert "did you mean `memory_extracter`?" in found["/actions/0/target"]
    assert "memory_extracter, notifier" in found["/actions/0/target"]

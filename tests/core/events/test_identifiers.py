from __future__ import annotations

import pytest

from core.events.identifiers import fault_of_name, fault_of_place


@pytest.mark.parametrize("name", ["ada", "user:7", "王芳", "a.b", "A B"])
def test_what_can_be_seen_and_reached_is_a_name(name: str) -> None:
    assert fault_of_name(name) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a/b", "divides addresses"),
        ("a\\b", "divides addresses"),
        ("a\u200bb", "U+200B"),
        ("\u3164", "U+3164"),
        ("   ", "nothing to see"),
        ("..", "addresses leave out"),
    ],
)
def test_what_cannot_be_seen_or_reached_is_no_name(name: str, says: str) -> None:
    assert says in str(fault_of_name(name))


def test_a_session_may_be_divided_by_slashes_but_not_hold_a_route() -> None:
    assert fault_of_place("project/session-3") is None
    assert fault_of_place("messages") is None
    assert "`messages`" in str(fault_of_place("project/messages"))
    assert "empty part" in str(fault_of_place("project//3"))
    assert "addresses leave out" in str(fault_of_place("project/../3"))

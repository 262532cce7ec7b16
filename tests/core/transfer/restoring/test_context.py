from __future__ import annotations

from datetime import timedelta

from core.transfer.restoring.context import Tally, is_erased
from tests.factories import NOON


def test_lines_are_counted_by_what_became_of_them_and_the_count_survives_a_restart() -> None:
    tally = Tally({"messages": 4})
    for fate in ("restored", "known", "of another", "was erased for this user"):
        tally.count("messages", fate)
    again = Tally.of(tally.as_json())
    assert (again.lines, again.restored, again.known) == ({"messages": 4}, {"messages": 1}, {"messages": 1})
    assert again.left_out == {
        "messages: its session or its id belongs to another user of the tenant": 1,
        "messages: was erased for this user": 1,
    }


def test_what_was_said_until_an_erasure_is_erased() -> None:
    assert is_erased(NOON, NOON)
    assert not is_erased(NOON, NOON - timedelta(seconds=1))
    assert not is_erased(NOON, None)

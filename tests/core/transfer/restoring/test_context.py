from __future__ import annotations

from datetime import timedelta

from core.transfer.restoring.context import ErasedUntil, LineTally
from tests.factories import NOON


def test_lines_are_counted_by_what_became_of_them_and_the_count_survives_a_restart() -> None:
    tally = LineTally({"messages": 4})
    for fate in ("restored", "known", "of another", "was erased for this user"):
        tally.count("messages", fate)
    again = LineTally.of(tally.as_json())
    assert (again.lines, again.restored, again.known) == ({"messages": 4}, {"messages": 1}, {"messages": 1})
    assert again.left_out == {
        "messages: its session or its id belongs to another user of the tenant": 1,
        "messages: was erased for this user": 1,
    }


def test_what_was_said_until_an_erasure_is_erased() -> None:
    assert ErasedUntil(NOON, {}).covers(NOON, None)
    assert not ErasedUntil(NOON - timedelta(seconds=1), {}).covers(NOON, None)
    assert not ErasedUntil(None, {}).covers(NOON, "crew")


def test_what_was_said_to_a_group_until_it_was_erased_is_erased() -> None:
    until = ErasedUntil(NOON - timedelta(days=1), {"crew": NOON})
    assert until.covers(NOON, "crew")
    assert not until.covers(NOON, "club")
    assert not until.covers(NOON, None)
    assert not until.covers(NOON + timedelta(seconds=1), "crew")

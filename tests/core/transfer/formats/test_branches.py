"""The branch that was kept of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime

from core.transfer.formats import branches

PARENTS = {"a": None, "b": "a", "c": "a", "d": "c"}

EARLY, LATE = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 1, 2, tzinfo=UTC)


def test_the_branch_of_the_current_message_was_kept() -> None:
    assert branches.current_branch(PARENTS, "b", {}) == ["a", "b"]
    assert branches.current_branch(PARENTS, "d", {}) == ["a", "c", "d"]


def test_without_a_current_message_the_newest_one_counts_and_then_the_last() -> None:
    assert branches.current_branch(PARENTS, None, {"a": EARLY, "b": LATE, "c": EARLY, "d": EARLY}) == ["a", "b"]
    assert branches.current_branch(PARENTS, "gone", dict.fromkeys(PARENTS)) == ["a", "c", "d"]
    assert branches.current_branch({}, None, {}) == []


def test_a_circle_ends_where_it_closes() -> None:
    assert branches.current_branch({"a": "b", "b": "a"}, "a", {}) == ["b", "a"]
    assert branches.current_branch({"a": "b", "b": ["x"]}, None, {"a": None, "b": None}) == ["b", "a"]

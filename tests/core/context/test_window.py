"""The window of recent messages begins seldom anew, and holds no more than it may."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context.window import fit_window
from core.types import Message

AT = datetime(2026, 5, 1, tzinfo=UTC)

costs = st.lists(st.integers(1, 60), max_size=120)
allowances = st.integers(1, 600)


def talk(lengths: list[int]) -> list[Message]:
    return [
        Message("s1", f"m{at}", at, f"e{at}", "ada", "user", "x" * length, AT) for at, length in enumerate(lengths, 1)
    ]


def cost(message: Message) -> int:
    return len(message.content)


def seen(lengths: list[int], allowed: int) -> list[int]:
    """Positions that are shown of messages of these lengths."""
    shown = fit_window(talk(lengths), lambda: list(accumulate(lengths)), allowed, cost)
    return [message.position for message in shown]


@given(costs, allowances)
def test_what_is_shown_is_the_end_of_the_talk_and_fits(lengths: list[int], allowed: int) -> None:
    positions = seen(lengths, allowed)
    assert positions == list(range(len(lengths) - len(positions) + 1, len(lengths) + 1))
    assert sum(lengths[at - 1] for at in positions) <= allowed


@given(costs, allowances, allowances)
def test_more_room_never_shows_less(lengths: list[int], allowed: int, more: int) -> None:
    assert len(seen(lengths, allowed + more)) >= len(seen(lengths, allowed))


@given(costs, allowances)
def test_everything_is_shown_where_it_fits(lengths: list[int], allowed: int) -> None:
    if sum(lengths) <= allowed:
        assert len(seen(lengths, allowed)) == len(lengths)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=120))
def test_small_messages_fill_a_third_of_the_window_at_the_least(lengths: list[int]) -> None:
    shown_tokens = sum(lengths[at - 1] for at in seen(lengths, 120))
    assert shown_tokens >= min(sum(lengths), 40 - 20)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=150))
def test_the_window_moves_once_a_block_at_the_most(lengths: list[int]) -> None:
    starts = [seen(lengths[:end], 120)[0] for end in range(1, len(lengths) + 1)]
    assert starts == sorted(starts), "it never goes back"
    moves = sum(one != other for one, other in pairwise(starts))
    assert moves <= sum(lengths) // 32, "blocks of 32 tokens are at most half of the room"


@pytest.mark.parametrize("less", [1, 5, 11])
def test_a_little_more_or_less_room_does_not_move_the_beginning(less: int) -> None:
    lengths = [10] * 35
    assert seen(lengths, 120 - less)[0] == seen(lengths, 109)[0]


def test_a_last_message_that_does_not_fit_leaves_nothing() -> None:
    assert seen([5, 500], 100) == []


def test_where_one_block_is_longer_than_all_there_is_what_fits_is_shown() -> None:
    assert seen([1, 1, 1, 12], 14) == [2, 3, 4]

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.extraction import windows
from core.extraction.windows import Sizes
from core.types import Message
from tests.core.extraction.windows_of import messages

SIZES = st.builds(Sizes, st.integers(1, 12), st.integers(0, 9))


def cut(before: int, fresh: int, sizes: Sizes) -> list[tuple[list[int], list[int]]]:
    """The positions in each window, where so many messages were said before and so many are new."""
    said = messages(1, before), messages(before + 1, before + fresh)
    return [(at(w.before), at(w.fresh)) for w in windows.cut(*said, sizes)]


def at(some: Sequence[Message]) -> list[int]:
    return [message.position for message in some]


def test_each_window_begins_with_the_end_of_the_one_before() -> None:
    assert cut(0, 7, Sizes(3, 2)) == [([], [1, 2, 3]), ([2, 3], [4, 5, 6]), ([5, 6], [7])]


def test_from_the_cursor_the_first_window_begins_with_what_was_said_before_it() -> None:
    assert cut(9, 1, Sizes(3, 2)) == [([8, 9], [10])]
    assert cut(1, 2, Sizes(3, 2)) == [([1], [2, 3])]


def test_forty_messages_are_one_window() -> None:
    assert [len(new) for _, new in cut(0, 85, windows.USUAL)] == [40, 40, 5]


def test_where_nothing_is_new_there_is_no_window() -> None:
    assert cut(5, 0, windows.USUAL) == []


def test_long_messages_are_fewer_to_a_window_and_each_is_read() -> None:
    sizes = Sizes(characters=100)
    said = [replace(message, content="x" * 40) for message in messages(1, 4)]
    assert [at(window.fresh) for window in windows.cut([], said, sizes)] == [[1, 2], [3, 4]]
    too_long = [replace(message, content="x" * 400) for message in messages(1, 2)]
    assert [at(window.fresh) for window in windows.cut([], too_long, sizes)] == [[1], [2]]


@given(before=st.integers(0, 15), fresh=st.integers(0, 60), sizes=SIZES)
def test_each_new_message_is_fresh_in_exactly_one_window_and_in_order(before: int, fresh: int, sizes: Sizes) -> None:
    cuts = cut(before, fresh, sizes)
    assert [n for _, new in cuts for n in new] == list(range(before + 1, before + fresh + 1))
    for old, new in cuts:
        assert 0 < len(new) <= sizes.fresh
        assert old + new == list(range((old + new)[0], new[-1] + 1)), "a window is one piece of the talk"
        assert len(old) == min(sizes.before, new[0] - 1), "it begins as early as it may"

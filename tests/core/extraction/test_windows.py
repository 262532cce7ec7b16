from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.extraction import windows
from core.extraction.windows import AT_ONCE, Sizes
from core.types import Message
from tests.core.extraction.windows_of import messages

SIZES = st.builds(Sizes, st.integers(1, 12), st.integers(1, 14))


def cut(before: int, fresh: int, sizes: Sizes | None = None) -> list[tuple[list[int], list[int]]]:
    """The positions in each window, where so many messages were said before and so many are new."""
    said = messages(1, before), messages(before + 1, before + fresh)
    return [(at(w.before), at(w.fresh)) for w in windows.cut(*said, sizes or Sizes())]


def at(some: Sequence[Message]) -> list[int]:
    return [message.position for message in some]


def test_from_the_beginning_the_first_window_is_all_new_and_each_next_one_half() -> None:
    assert cut(0, 17) == [
        ([], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ([6, 7, 8, 9, 10], [11, 12, 13, 14, 15]),
        ([11, 12, 13, 14, 15], [16, 17]),
    ]


def test_from_the_cursor_the_first_window_begins_with_what_was_said_before_it() -> None:
    assert cut(5, 7) == [([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), ([6, 7, 8, 9, 10], [11, 12])]
    assert cut(2, 3) == [([1, 2], [3, 4, 5])]


def test_of_more_than_the_overlap_that_was_said_before_only_the_end_is_shown() -> None:
    assert cut(9, 1) == [([5, 6, 7, 8, 9], [10])]


def test_a_stride_longer_than_a_window_leaves_no_message_out() -> None:
    assert cut(0, 5, Sizes(2, 9)) == [([], [1, 2]), ([], [3, 4]), ([], [5])]


def test_where_nothing_is_new_there_is_no_window() -> None:
    assert cut(5, 0) == []


@given(before=st.integers(0, 15), fresh=st.integers(0, 60), sizes=SIZES)
def test_each_new_message_is_fresh_in_exactly_one_window_and_in_order(before: int, fresh: int, sizes: Sizes) -> None:
    found = cut(before, fresh, sizes)
    assert [n for _, new in found for n in new] == list(range(before + 1, before + fresh + 1))
    for old, new in found:
        assert len(old) + len(new) <= sizes.messages
        assert old + new == list(range((old + new)[0], new[-1] + 1)), "a window is one piece of the talk"
        assert len(old) == min(sizes.overlap, new[0] - 1), "it begins as early as it may"


@given(sizes=SIZES)
def test_what_is_read_at_once_fits_into_so_many_windows(sizes: Sizes) -> None:
    assert len(cut(0, sizes.at_once, sizes)) == AT_ONCE
    assert len(cut(0, sizes.at_once + 1, sizes)) == AT_ONCE + 1

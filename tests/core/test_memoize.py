"""What is kept of what was worked out: no text, no word, and not for long."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import memoize
from core.memoize import KEPT_SECONDS, DigestCache, digest, memo_scope, memoized_in_scope

SAID = st.one_of(st.text(), st.none(), st.booleans(), st.integers(), st.binary())


class Clock:
    """Stands where time stands."""

    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(memoize, "time", clock)
    return clock


@given(st.lists(SAID, max_size=3), st.lists(SAID, max_size=3))
def test_the_same_has_one_digest_and_nothing_else_has_it(one: list[object], other: list[object]) -> None:
    same = [(type(a), a) for a in one] == [(type(b), b) for b in other]
    assert (digest(*one) == digest(*other)) == same


def test_what_stands_beside_each_other_is_not_what_stands_together() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("a", "b", "c"), digest("a", None)}) == 5


def test_a_digest_is_another_one_in_each_process() -> None:
    """So it proves nothing of a text to whoever finds it."""
    program = "from core.memoize import digest; print(digest('I live in Lisbon.').hex())"
    told = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(told) == 2


def test_half_a_pair_of_surrogates_has_a_digest_too() -> None:
    assert digest("\ud800") != digest("\udfff")


def test_a_function_is_asked_once_for_each_text() -> None:
    asked: list[str] = []

    @memoize.memoized(10)
    def length(text: str, extra: int = 0) -> int:
        asked.append(text)
        return len(text) + extra

    assert [length("a"), length("bb"), length("a"), length("a", extra=1), length("a", extra=1)] == [1, 2, 1, 2, 2]
    assert asked == ["a", "bb", "a"]


def test_that_it_came_to_nothing_is_remembered_too() -> None:
    asked: list[str] = []

    @memoize.memoized(10)
    def nothing(text: str) -> None:
        asked.append(text)

    assert [nothing("a"), nothing("a")] == [None, None]
    assert asked == ["a"]


def test_what_failed_is_tried_again() -> None:
    asked: list[str] = []

    @memoize.memoized(10)
    def fails(text: str) -> int:
        asked.append(text)
        raise ValueError(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            fails("a")
    assert asked == ["a", "a"]


def test_the_longest_unasked_goes_first_and_no_more_are_kept_than_allowed() -> None:
    kept = DigestCache[int](2)
    for key, value in ((b"a", 1), (b"b", 2)):
        kept.put(key, value)
    assert kept.get(b"a", 0) == 1
    kept.put(b"c", 3)
    assert [kept.get(key, 0) for key in (b"a", b"b", b"c")] == [1, 0, 3]


def test_what_one_call_needs_together_is_kept_together() -> None:
    kept = DigestCache[int](2)
    for key in range(4):
        kept.put(bytes([key]), key, least=4)
    assert len(kept) == 4
    kept.put(b"e", 5)
    assert len(kept) == 2


def test_what_nobody_asks_for_goes_with_the_clock_and_what_is_asked_for_stays(clock: Clock) -> None:
    kept = DigestCache[int](10)
    kept.put(b"a", 1)
    kept.put(b"b", 2)
    clock.now += KEPT_SECONDS - 1
    assert kept.get(b"b", 0) == 2
    clock.now += 1
    memoize.sweep()
    assert [value for _, value in kept.items()] == [2]
    clock.now += KEPT_SECONDS
    memoize.sweep()
    assert len(kept) == 0


def test_all_that_is_kept_can_be_looked_at() -> None:
    mine = DigestCache[int](10)
    assert mine in memoize.all_caches()


def test_many_threads_get_their_own_answers() -> None:
    @memoize.memoized(50)
    def doubled(text: str) -> int:
        return 2 * int(text)

    def ask(start: int) -> bool:
        return all(doubled(str(n % 200)) == 2 * (n % 200) for n in range(start, start + 4_000))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(4)))
    assert len(doubled.kept) <= 50


def test_a_piece_of_work_does_a_thing_once_and_the_next_one_anew() -> None:
    asked: list[str] = []

    @memoized_in_scope
    def read(text: str) -> list[str]:
        asked.append(text)
        return text.split()

    with memo_scope():
        assert read("a b") is read("a b")
        with memo_scope():
            read("a b")
        read("a b")
        assert asked == ["a b"]
    with memo_scope():
        read("a b")
    assert asked == ["a b"] * 2
    read("a b")
    read("a b")
    assert asked == ["a b"] * 4


def test_a_piece_of_work_that_fails_leaves_nothing() -> None:
    @memoized_in_scope
    def read(text: str) -> list[str]:
        return [text]

    @memo_scope()
    def fail() -> None:
        read("a")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert read("a") is not read("a")


def test_two_functions_of_one_text_are_not_mixed_up() -> None:
    one, other = memoized_in_scope(len), memoized_in_scope(str.upper)
    with memo_scope():
        assert (one("abc"), other("abc")) == (3, "ABC")


def test_threads_at_work_share_nothing() -> None:
    found: list[object] = []

    @memoized_in_scope
    def read(_text: str) -> object:
        return object()

    def work() -> None:
        with memo_scope():
            found.append(read("a"))

    with memo_scope():
        mine = read("a")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[0] is not mine

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.inference.embedders import HashEmbedder
from core.summaries import segmentation
from core.summaries.segmentation import FEWEST, MOST, Boundary, Opening, SegmentTurn, Slice
from tests.core.summaries.conversations import BEIJING, HIKE, SOUP, TAXES

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
GAP = timedelta(minutes=30)


def turns_of(said: Sequence[str], minutes: Sequence[float] = (), quiet: Sequence[int] = ()) -> list[SegmentTurn]:
    at = [NOON + timedelta(minutes=m) for m in (minutes or range(len(said)))]
    return [segmentation.turn(one, at[n], spoken=n not in quiet) for n, one in enumerate(said)]


def cut(said: Sequence[str], minutes: Sequence[float] = (), quiet: Sequence[int] = ()) -> list[Slice]:
    return segmentation.cut(turns_of(said, minutes, quiet), HashEmbedder().embed(said), GAP)


def shape(found: Sequence[Slice]) -> list[tuple[int, str]]:
    return [(one.start, one.boundary.value) for one in found]


@pytest.mark.parametrize(("first", "second"), [(HIKE, TAXES), (TAXES, HIKE), (BEIJING, SOUP), (SOUP, BEIJING)])
def test_a_talk_that_turns_to_something_else_is_cut_there(first: Sequence[str], second: Sequence[str]) -> None:
    assert shape(cut([*first, *second])) == [(0, "start"), (6, "shift")]


@pytest.mark.parametrize("said", [HIKE, TAXES, BEIJING, SOUP])
def test_a_talk_on_one_thing_is_one_unit(said: Sequence[str]) -> None:
    assert shape(cut(said)) == [(0, "start")]


@pytest.mark.parametrize("said", [HIKE, BEIJING])
def test_words_alone_tell_as_well_where_vectors_say_nothing(said: Sequence[str]) -> None:
    other = TAXES if said is HIKE else SOUP
    both = turns_of([*said, *other])
    weak = np.full((len(both), 8), 8**-0.5, dtype=np.float32)
    assert [one.start for one in segmentation.cut(both, weak, GAP)] == [0, 6]


def test_vectors_alone_tell_where_no_two_messages_share_a_word() -> None:
    both = [SegmentTurn(NOON, {f"w{n}x{k}": 1 for k in range(7)}) for n in range(12)]
    vectors = np.array([[1, 0]] * 6 + [[0, 1]] * 6, dtype=np.float32)
    assert shape(segmentation.cut(both, vectors, GAP)) == [(0, "start"), (6, "shift")]


@pytest.mark.parametrize(
    "opening",
    [
        "By the way, did you pay the rent?",
        "Oh, btw the rent is due.",
        "Anyway, the rent is due on Friday.",
        "OK, let's talk about the rent.",
        "Let’s move on. The rent is due.",
        "New topic: the rent.",
        "Moving on to the rent.",
        "Thanks! One more thing, the rent is due.",
        "对了，房租交了吗？",
        "换个话题吧，房租交了吗？",
        "好的，另外我想问一下房租。",
        "我们聊聊房租吧。",
        "顺便问一下，房租交了吗？",
    ],
)
def test_who_says_that_it_is_about_something_else_is_believed(opening: str) -> None:
    assert shape(cut([*HIKE[:3], opening])) == [(0, "start"), (3, "marker")]


@pytest.mark.parametrize(
    "opening",
    [
        "The way by the river is steep.",
        "Let's go on a hike with tents.",
        "A new topic is hard to find.",
        "Any way you like, the trail is steep.",
        "另外一个人带了帐篷。",
        "答对了吗？",
        "你好像忘了帐篷。",
        "我们聊得很开心。",
    ],
)
def test_words_that_only_look_so_do_not_cut(opening: str) -> None:
    assert segmentation.opening_of(opening) is None


def test_a_greeting_begins_something_else_and_a_round_of_greetings_does_it_once() -> None:
    greetings = ["Hi all!", "Hello Ada!", "Hey, good morning!", "Hi there.", "Hello!", "嗨，大家好！"]
    assert shape(cut([*HIKE, *greetings])) == [(0, "start"), (6, "marker")]
    assert shape(cut(greetings)) == [(0, "start")]


def test_nothing_crumbles_however_often_someone_says_by_the_way() -> None:
    found = cut([f"By the way, number {n}." for n in range(9)])
    assert [one.stop - one.start for one in found[:-1]] == [2, 2, 2, 2]


def test_a_silence_cuts_even_two_messages() -> None:
    assert shape(cut(HIKE[:2], [0, 31])) == [(0, "start"), (1, "gap")]
    assert shape(cut(HIKE[:2], [0, 30])) == [(0, "start")]


def test_what_comes_late_from_another_day_is_a_talk_of_its_own() -> None:
    assert shape(cut(HIKE[:3], [0, -1440, -1439])) == [(0, "start"), (1, "gap")]


def test_a_unit_that_never_turns_is_cut_where_it_holds_together_least() -> None:
    found = cut([f"{HIKE[n % 6]} Part {n}." for n in range(3 * MOST)])
    assert {one.boundary for one in found[1:]} == {Boundary.LENGTH}
    assert all(MOST // 2 <= one.stop - one.start <= MOST for one in found[:-1])


def test_what_tools_say_in_between_neither_cuts_nor_keeps_together() -> None:
    said = [*HIKE[:3], "tool: rent invoice 17", *HIKE[3:], "By the way, a tool", *TAXES]
    found = cut(said, quiet=[3, 7])
    assert shape(found) == [(0, "start"), (8, "shift")]
    assert shape(cut(["a tool ran", "a tool ran"], quiet=[0, 1])) == [(0, "start")]


def test_blank_and_tiny_messages_are_taken_as_they_are() -> None:
    assert cut([]) == []
    assert shape(cut(["", "  ", "\n", "?", "ok", "嗯", "👍", "!!!", "no", "yes"])) == [(0, "start")]
    assert shape(cut(["x" * 100_000, "y " * 50_000])) == [(0, "start")]


MARKS = st.sampled_from([None] * 14 + [Opening.TOPIC, Opening.GREETING])
MINUTES = st.sampled_from([1] * 20 + [0, 30, 31, -40])
SHARED = st.lists(st.integers(0, 9), min_size=1, max_size=8)
LINES = st.tuples(SHARED, MARKS, MINUTES, st.sampled_from([True] * 6 + [False]))
RUNS = st.lists(st.tuples(st.integers(0, 2), st.lists(LINES, min_size=1, max_size=9)), max_size=9)
Talk = tuple[list[SegmentTurn], segmentation.Vectors]


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    """Runs of turns on three topics, each with ten words of its own and a direction of its own."""
    at, turns, rows = NOON, [], []
    for topic, lines in draw(RUNS):
        for said, marked, minutes, spoken in lines:
            at += timedelta(minutes=minutes)
            words = Counter(f"{topic}-{word}" for word in said)
            turns.append(SegmentTurn(at, words if spoken else {}, marked if spoken else None, spoken))
            rows.append(
                np.eye(13, dtype=np.float32)[topic] + sum(np.eye(13, dtype=np.float32)[3 + w] for w in said) / 9
            )
    vectors = np.array(rows, dtype=np.float32).reshape(len(turns), 13)
    return turns, vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


def cut_of(talk: Talk, upto: int | None = None, start: int = 0, opened: Boundary = Boundary.START) -> list[Slice]:
    turns, vectors = talk
    found = segmentation.cut(turns[start:upto], vectors[start:upto], GAP, opened)
    return [Slice(one.start + start, one.stop + start, one.boundary) for one in found]


@settings(max_examples=200, deadline=None)
@given(talks())
def test_every_message_is_in_one_unit_in_order(talk: Talk) -> None:
    found = cut_of(talk)
    assert [place for one in found for place in range(one.start, one.stop)] == list(range(len(talk[0])))
    assert [one.boundary for one in found[:1]] == [Boundary.START] * bool(talk[0])
    assert Boundary.START not in [one.boundary for one in found[1:]]
    assert found == cut_of(talk)


@settings(max_examples=200, deadline=None)
@given(talks())
def test_a_silence_always_cuts_and_is_the_reason_where_it_does(talk: Talk) -> None:
    turns = talk[0]
    silent = {n for n in range(1, len(turns)) if abs(turns[n].sent_at - turns[n - 1].sent_at) > GAP}
    assert {one.start for one in cut_of(talk) if one.boundary is Boundary.GAP} == silent


@settings(max_examples=100, deadline=None)
@given(talks())
def test_what_is_said_later_changes_no_unit_but_the_last(talk: Talk) -> None:
    whole = cut_of(talk)
    for upto in range(1, len(talk[0])):
        *final, last = cut_of(talk, upto)
        assert whole[: len(final)] == final
        assert (whole[len(final)].start, whole[len(final)].boundary) == (last.start, last.boundary)


@settings(max_examples=100, deadline=None)
@given(talks(), st.lists(st.integers(1, 20), max_size=8))
def test_cut_as_it_grows_a_talk_is_cut_as_it_is_at_once(talk: Talk, pages: list[int]) -> None:
    grown: list[Slice] = []
    upto = 0
    for page in [*pages, len(talk[0])]:
        upto = min(upto + page, len(talk[0]))
        last = grown.pop() if grown else Slice(0, 0, Boundary.START)
        grown += cut_of(talk, upto, last.start, last.boundary)
    assert grown == cut_of(talk)


@settings(max_examples=100, deadline=None)
@given(talks())
def test_no_unit_is_too_long_and_none_crumbles(talk: Talk) -> None:
    found = cut_of(talk)
    spoken = [sum(turn.spoken for turn in talk[0][one.start : one.stop]) for one in found]
    assert max(spoken, default=0) <= MOST + LOOKED_AHEAD
    for place, one in enumerate(found[1:], 1):
        before, least = spoken[place - 1], {Boundary.SHIFT: FEWEST, Boundary.MARKER: segmentation.FEWEST_MARKED}
        assert least.get(one.boundary, 0) <= before <= MOST
        if one.boundary is Boundary.SHIFT:
            assert spoken[place] >= FEWEST


LOOKED_AHEAD = segmentation.REACH + segmentation.BLOCK_MOST
"""Messages that an open unit may hold beyond the longest, until it is decided where it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reflection import recurrence
from core.reflection.recurrence import DatedStatement
from tests.core.reflection.said import each, found, on, said


def test_it_says_on_how_many_days_and_from_when_to_when() -> None:
    (one,) = found(each(["Ada went camping."] * 5))
    assert one.content == "Ada, often: camping (on 5 days from 2026-03-02 to 2026-03-18)."
    assert one.theme == "camp"


@pytest.mark.parametrize(
    ("days", "rate"),
    [
        (range(10), "most days"),
        (range(0, 64, 6), "most weeks"),
        (range(0, 200, 29), "most months"),
        ((0, 1, 2, 100), "often"),
    ],
)
def test_how_often_is_said_as_far_as_it_is_true(days: Sequence[int], rate: str) -> None:
    (one,) = said([on("Ada is all for adoption.", day, at=day) for day in days])
    assert rate in one


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (
            ["小明和同事去打羽毛球了。", "小明打羽毛球扭了脚。", "小明晚上打羽毛球。", "小明又打羽毛球了。"],
            "小明经常：羽毛球",
        ),
        (["小明去公园了。", "小明带狗去公园。", "小明去公园跑步。", "小明又去公园了。"], "小明经常：公园"),
        (["小明在准备领养。", "小明的领养申请交了。", "领养手续很慢。", "小明问了领养的事。"], "小明经常：领养"),
    ],
)
def test_chinese_needs_no_spaces(contents: list[str], sentence: str) -> None:
    assert said(each(contents), "小明", ["小明"])[0] == sentence


@pytest.mark.parametrize(
    "contents",
    [
        ["Ada went camping."] * 3,
        ["Ada talked with Bob at 19:55 UTC.", "Ada said hello to Bob.", "Ada talked on Monday.", "Ada told Bob."],
        [
            "Ada was there and it was so much.",
            "Ada is the one who is it.",
            "Ada has been very so.",
            "It is what it is.",
        ],
        ["Hello Ada, good morning!", "Hi Ada, good morning!", "Hey Ada, good evening!", "Good morning, Ada."],
        ["Ada has 1234.", "Ada needs 1234.", "Ada got 1234 of 1234.", "Ada paid 1234."],
        [f"Ada looked at https://example.org/camping/{n}." for n in range(5)],
        [f"Ada sent `camping --all {n}`." for n in range(5)],
        [f"Ada heard “I went camping {n} times”." for n in range(5)],
        [f'Ada heard "they all love the camping" from {n}.' for n in range(5)],
        [f"Ada does not go camping on day {n}." for n in range(5)],
        [f"Ada might go camping on day {n}." for n in range(5)],
        [f"Ada used to go camping in year {n}." for n in range(5)],
        ["Ada met Mel.", "Ada is with Mel.", "Ada cooked for Mel.", "Ada likes Mel.", "Ada asked Melanie."],
        ["小明说了。", "小明觉得很好。", "小明昨天谢谢大家。", "小明说今天可以。"],
        ["小明不打羽毛球。", "小明没有打羽毛球。", "小明从来不打羽毛球。", "小明不想打羽毛球。"],
    ],
)
def test_without_a_clear_theme_nothing_is_said(contents: list[str]) -> None:
    assert found(each(contents), "小明" if "小明" in contents[0] else "Ada", ["melanie", "bob"]) == []


def test_a_hundred_messages_of_one_day_are_one_day() -> None:
    assert found([on("Ada went camping.", at / 1000, at=at) for at in range(100)]) == []


def test_four_days_of_one_journey_are_no_habit() -> None:
    assert found(each(["Ada went hiking."] * 4, every=1)) == []


def test_what_is_over_is_no_habit_any_more() -> None:
    past = each(["Ada went running."] * 5)
    assert said(past) == ["Ada, often: running"]
    assert found([*past, on("Ada does not run any more.", 30, at=9)]) == []
    assert found([*past, on("Ada doesn't go running.", 30, at=9)]) == []
    assert said([*past, on("Ada did not go running.", -5, at=9)]) == ["Ada, often: running"]


def test_chinese_that_is_over_is_no_habit_any_more() -> None:
    past = each(["小明去游泳。"] * 5)
    assert found(past, "小明")
    assert found([*past, on("小明不再游泳了。", 30, at=9)], "小明") == []


def test_a_line_that_an_assistant_repeats_counts_once() -> None:
    days = [4 * day for day in range(6)]
    assert found([on("Ada goes running.", *days, role="assistant")]) == []
    assert said([on("Ada goes running.", *days)]) == ["Ada, often: running"]
    assert said(each([f"Ada went running in {place}." for place in ("Rome", "Oslo", "Bonn", "Lima")], role="assistant"))


def test_what_tools_print_counts_never() -> None:
    assert found(each(["Ada went running."] * 6, role="tool")) == []


def test_others_may_tell_what_someone_does_and_not_what_they_speak_of() -> None:
    spoken = [
        "adoption is what Ada thinks of",
        "Ada is for adoption",
        "Ada knows of adoption",
        "Ada asks about adoption",
    ]
    assert found([on(one, 4 * at, at=at, own=False) for at, one in enumerate(spoken)]) == []
    assert said([on("Ada went running.", 4 * at, at=at, own=False) for at in range(4)]) == ["Ada, often: running"]


def test_what_comes_on_few_of_many_days_is_not_called_often() -> None:
    others = [on(f"Ada is tired of {at}.", 260 + at, at=50 + at) for at in range(30)]
    assert said([*each(["Ada went camping."] * 4, every=80), *others]) == ["Ada, now and then: camping"]
    more = [on(f"Ada is tired of {at}.", 300 + at, at=100 + at) for at in range(30)]
    assert said([*each(["Ada went camping."] * 4, every=80), *others, *more]) == []


def test_few_are_cited_from_the_first_day_to_the_last() -> None:
    (one,) = found(each([f"Ada went camping near {'x' * at}." for at in range(30)]))
    assert one.cited_count == recurrence.CITED
    assert one.members[0] == UUID(int=0)
    assert one.members[one.cited_count - 1] == UUID(int=29)
    assert len(set(one.members)) == 30


def test_a_day_that_is_told_later_counts_as_the_day_on_which_it_was() -> None:
    told = [on("Ada went camping.", 7 * at + 3, at=at) for at in range(5)]
    happened = [DatedStatement(one.id, one.content, one.occurred_at - timedelta(days=3), one.occasions) for one in told]
    assert "mostly on Thursdays" in found(told)[0].content
    assert "mostly on Mondays" in found(happened)[0].content


WORDS = st.sampled_from(
    "Ada went camping painted a the of in café 跑步 去 不 never 12 https://x.y “ ” 小明 running store".split()
)


@given(st.lists(st.tuples(st.lists(WORDS, max_size=8).map(" ".join), st.integers(0, 60)), max_size=25), st.randoms())
def test_order_does_not_matter_and_every_pattern_rests_on_days(rows: list[tuple[str, int]], chance: object) -> None:
    statements = [on(content, day, at=at) for at, (content, day) in enumerate(rows)]
    turned = list(statements)
    chance.shuffle(turned)  # type: ignore[attr-defined]
    once = found(statements)
    assert found(turned) == once
    for one in once:
        assert len(one.days) >= recurrence.DAYS
        assert one.days[-1] - one.days[0] >= recurrence.SPAN
        assert 0 < one.cited_count <= min(recurrence.CITED, len(one.members))


@pytest.mark.parametrize(
    ("contents", "theme"),
    [
        ([f"Ada went camping {where}." for where in ("by the lake", "again", "with Bob", "in Wales")], "camping"),
        (["Ada painted a cat.", "Ada paints.", "Ada painted.", "Ada has been painting a tree."], "painting"),
        (
            [
                "Ada reads about adoption.",
                "Ada is sure of adoption.",
                "Ada has papers for adoption.",
                "Ada asks for adoption.",
            ],
            "adoption",
        ),
        (
            [
                "Ada opened their store.",
                "Ada's store is doing well.",
                "Ada got lamps for the store.",
                "Ada has a store.",
            ],
            "store",
        ),
        (
            ["Ada finished a novel.", "Ada sold a novel.", "Ada lost their novel.", "Ada has some novels."],
            "novel",
        ),
    ],
)
def test_what_comes_again_is_named_as_people_name_it(contents: list[str], theme: str) -> None:
    assert said(each(contents)) == [f"Ada, often: {theme}"]


def test_what_is_said_each_monday_has_its_day() -> None:
    (one,) = found([on(f"Ada has the standup at nine in room {at}.", 7 * at, at=at) for at in range(5)])
    assert one.content == "Ada, most weeks, mostly on Mondays: standup (on 5 days from 2026-03-02 to 2026-03-30)."


def test_chinese_has_its_weekday_too() -> None:
    (one,) = found([on("小明晚上去游泳。", 7 * at, at=at) for at in range(5)], "小明")
    assert one.content == "小明几乎每周，多在周一：游泳（2026-03-02至2026-03-30共5天）。"


def test_when_is_also_told_as_values() -> None:
    days = [week * 7 + day for week in range(5) for day in (1, 3)]
    (one,) = found([on("Ada goes swimming at 7 pm.", day, at=day) for day in days])
    assert one.times == {
        "activity": "swimming",
        "often": "week",
        "days_of_week": ["tuesday", "thursday"],
        "hours": [19],
    }


def test_without_usual_days_or_hours_none_are_told() -> None:
    told = [on("Ada went camping." if day else "Ada went camping at 6 pm.", day, at=day) for day in range(14)]
    (one,) = found(told)
    assert (one.times["days_of_week"], one.times["hours"], one.times["often"]) == ([], [], "day")

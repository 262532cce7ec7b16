from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import clock_times


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("Ada swims at 7 pm.", {19}),
        ("Ada swims at 7:30pm and runs at 6 a.m.", {6, 19}),
        ("The choir meets at 19:30 and ends at 21:00.", {19, 21}),
        ("Ada gets up at 12 am, or 12 pm.", {0, 12}),
        ("Lunch is at noon, never at midnight.", {0, 12}),
        ("At seven o'clock in the evening, or 8 o’clock.", {8, 19}),
        ("At eleven o'clock at night.", {23}),
        ("小明晚上七点半游泳。", {19}),
        ("小明早上6点跑步，下午3点开会。", {6, 15}),
        ("小明中午十二点吃饭，中午一点午睡。", {12, 13}),
        ("会议在二十点，二十一点结束。", {20, 21}),
        ("小明晚上十二点睡觉。", {0}),
        ("小明下午一点上课。", {13}),
        ("一点半见。", {1}),
    ],
)
def test_hours_are_read(text: str, hours: set[int]) -> None:
    assert clock_times.hours(text) == hours


@pytest.mark.parametrize(
    "text",
    [
        "Ada has 7 cats.", "The score was 3:2.", "See chapter 12.30.", "It costs 7.50 per month.", "At 10:20:30.",
        "快一点。", "有一点儿累。", "Ada is 7 mm taller.", "At 25:00.", "三十点", "",
    ],
)  # fmt: skip
def test_other_numbers_are_no_hours(text: str) -> None:
    assert clock_times.hours(text) == set()


@given(st.text(alphabet="0123456789:apm. 点一二三十晚上下午noclk'", max_size=60))
def test_whatever_the_text_hours_are_hours(text: str) -> None:
    assert all(0 <= hour < 24 for hour in clock_times.hours(text))

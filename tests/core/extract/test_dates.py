"""Dates as people say them, and as they stay true."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extract import dates

SAID_AT = datetime(2026, 5, 20, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "written", "day", "precision"),
    [
        ("I went there last Friday", "I went there on Friday, 15 May 2026", "2026-05-15", "day"),
        ("I moved two weeks ago", "I moved in the week of 4 May 2026", "2026-05-04", "week"),
        ("I moved in March", "I moved in March 2026", "2026-03-01", "month"),
        ("I moved in November", "I moved in November 2025", "2025-11-01", "month"),
        ("I will fly in October", "I will fly in October 2026", "2026-10-01", "month"),
        ("We fly next month", "We fly in June 2026", "2026-06-01", "month"),
        ("Yesterday I ran", "On 19 May 2026 I ran", "2026-05-19", "day"),
        ("I have run since last year", "I have run since 2025", "2025-01-01", "year"),
        ("I was born on May 5th, 1990", "I was born on 5 May 1990", "1990-05-05", "day"),
        ("Last weekend I hiked", "On the weekend of 16 May 2026 I hiked", "2026-05-16", "week"),
        ("A couple of months ago I quit", "In March 2026 I quit", "2026-03-01", "month"),
        ("Today was great", "20 May 2026 was great", "2026-05-20", "day"),
        ("Last summer I sailed", "In summer 2025 I sailed", "2025-07-01", "season"),
    ],
)
def test_english_dates_are_resolved_from_the_time_of_speaking(
    text: str, written: str, day: str, precision: str
) -> None:
    (found,) = dates.find(text, SAID_AT)
    assert dates.written_out(text, [found]) == written
    assert (found.when.date().isoformat(), found.precision.value) == (day, precision)


@pytest.mark.parametrize(
    ("text", "written", "day"),
    [
        ("我上周五去了", "我2026年5月15日去了", "2026-05-15"),
        ("三个月前搬到上海", "2026年2月搬到上海", "2026-02-01"),
        ("我昨晚跑了步", "我2026年5月19日晚上跑了步", "2026-05-19"),
        ("下个月我要去日本", "2026年6月我要去日本", "2026-06-01"),
        ("去年三月我结婚了", "2025年3月我结婚了", "2025-03-01"),
        ("半年前我辞职了", "2025年11月我辞职了", "2025-11-01"),
        ("周六要开会", "2026年5月23日要开会", "2026-05-23"),
    ],
)
def test_chinese_dates_are_resolved_from_the_time_of_speaking(text: str, written: str, day: str) -> None:
    (found,) = dates.find(text, SAID_AT, chinese=True)
    assert dates.written_out(text, [found]) == written
    assert found.when.date().isoformat() == day


@pytest.mark.parametrize("text", ["I may go", "We march on", "I sat there", "I have two months of leave", "Chapter 12"])
def test_words_that_only_look_like_dates_are_left_alone(text: str) -> None:
    assert dates.find(text, SAID_AT) == []


def test_a_day_that_does_not_exist_stays_as_written() -> None:
    assert dates.find("我2月30日去", SAID_AT, chinese=True) == []


def test_a_resolved_date_keeps_the_time_zone_of_the_message() -> None:
    (found,) = dates.find("I left on 3 March 2025", SAID_AT)
    assert found.when.tzinfo is UTC


@pytest.mark.parametrize("text", ["生日是农历四月初四", "阴历八月十五回家"])
def test_a_date_of_the_lunar_calendar_is_not_taken_for_one_of_the_solar(text: str) -> None:
    assert dates.find(text, SAID_AT, chinese=True) == []

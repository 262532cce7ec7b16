"""Dates as people say them, and as they stay true."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.language import dates
from core.language.en.language import ENGLISH
from core.language.zh.language import CHINESE

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
    (found,) = dates.find(text, SAID_AT, ENGLISH.dates)
    assert dates.written_out(text, [found]) == written
    assert (found.when.date().isoformat(), found.precision.value) == (day, precision)


FEBRUARY = datetime(2026, 2, 21, 9, tzinfo=UTC)  # a Saturday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I signed up for the half marathon on 16 May", "2026-05-16"),
        ("I booked a flight to Chengdu on 18 December", "2026-12-18"),
        ("I have tickets for the concert on 3 March", "2026-03-03"),
        ("I planned a trip for 3 January", "2027-01-03"),
        ("My exam is on 12 June", "2026-06-12"),
        ("My lease ends in August", "2026-08-01"),
        ("I registered for a pottery class in April", "2026-04-01"),
        ("My flight leaves on Tuesday", "2026-02-24"),
        ("I work until Friday", "2026-02-27"),
        ("My exam is in two weeks", "2026-03-02"),
        ("I signed up for a pottery class on 14 February", "2026-02-14"),
    ],
)
def test_what_is_arranged_or_in_the_present_lies_ahead(text: str, day: str) -> None:
    (found,) = dates.find(text, FEBRUARY, ENGLISH.dates)
    assert found.when.date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I ran a marathon on 10 October", "2025-10-10"),
        ("I put my flat on the market in November", "2025-11-01"),
        ("I am reading a book I bought in December", "2025-12-01"),
        ("I have been vegan since December", "2025-12-01"),
        ("We live here now, since Monday", "2026-02-16"),
        ("I was going to fly on 10 January but I got sick", "2026-01-10"),
    ],
)
def test_what_has_happened_lies_behind(text: str, day: str) -> None:
    (found,) = dates.find(text, FEBRUARY, ENGLISH.dates)
    assert found.when.date().isoformat() == day


def test_each_date_goes_by_the_verb_of_its_own_clause() -> None:
    found = dates.find("I met Priya on 3 January and we will run in May", FEBRUARY, ENGLISH.dates)
    assert [one.when.date().isoformat() for one in found] == ["2026-01-03", "2026-05-01"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I handed in my notice and from March 2nd I'll be working at Siemens.", "2026-03-02"),
        ("I got the job, I start on March 2nd.", "2026-03-02"),
        ("I signed the lease, the flat is ours from April 1st.", "2026-04-01"),
        ("They offered me the role starting March 9th.", "2026-03-09"),
        ("I found a flat and move in on March 15th.", "2026-03-15"),
        ("I bought a car on March 2nd.", "2025-03-02"),
        ("I was promoted on March 2nd.", "2025-03-02"),
    ],
)
def test_what_lies_ahead_stays_ahead_whatever_happened_before(text: str, day: str) -> None:
    (mention,) = dates.find(text, datetime(2026, 2, 20, 10, tzinfo=UTC), ENGLISH.dates)
    assert mention.when.date().isoformat() == day


def test_since_a_weekday_is_written_out() -> None:
    (found,) = dates.find("I live in Porto now, since Monday", SAID_AT, ENGLISH.dates)
    assert dates.written_out("I live in Porto now, since Monday", [found]).endswith("since Monday, 18 May 2026")


@pytest.mark.parametrize(
    "text",
    [
        "My dad's birthday is 3 May",
        "3 May is my dad's birthday",
        "My son was born on 3 May",
        "On 3 May, my birthday, I rest",
    ],
)
def test_a_day_that_comes_every_year_has_no_year(text: str) -> None:
    assert dates.find(text, SAID_AT, ENGLISH.dates) == []


@pytest.mark.parametrize("text", ["外婆的生日是五月二十号", "五月二十号是外婆的生日", "我妈五月二十号过生日"])
def test_a_chinese_birthday_has_no_year(text: str) -> None:
    assert dates.find(text, SAID_AT, CHINESE.dates) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("我报名了5月16日的半马", "我报名了2026年5月16日的半马"),
        ("我订了十二月五号的机票", "我订了2026年12月5日的机票"),
        ("我十月五号跑了马拉松", "我2025年10月5日跑了马拉松"),
        ("我三月搬到上海", "我2026年3月搬到上海"),
        ("我下个月二十号飞成都", "我2026年3月20日飞成都"),
    ],
)
def test_chinese_plans_lie_ahead_and_what_is_done_behind(text: str, written: str) -> None:
    assert dates.written_out(text, dates.find(text, FEBRUARY, CHINESE.dates)) == written


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
    (found,) = dates.find(text, SAID_AT, CHINESE.dates)
    assert dates.written_out(text, [found]) == written
    assert found.when.date().isoformat() == day


@pytest.mark.parametrize("text", ["I may go", "We march on", "I sat there", "I have two months of leave", "Chapter 12"])
def test_words_that_only_look_like_dates_are_left_alone(text: str) -> None:
    assert dates.find(text, SAID_AT, ENGLISH.dates) == []


def test_a_day_that_does_not_exist_stays_as_written() -> None:
    assert dates.find("我2月30日去", SAID_AT, CHINESE.dates) == []


def test_a_resolved_date_keeps_the_time_zone_of_the_message() -> None:
    (found,) = dates.find("I left on 3 March 2025", SAID_AT, ENGLISH.dates)
    assert found.when.tzinfo is UTC


@pytest.mark.parametrize("text", ["生日是农历四月初四", "阴历八月十五回家"])
def test_a_date_of_the_lunar_calendar_is_not_taken_for_one_of_the_solar(text: str) -> None:
    assert dates.find(text, SAID_AT, CHINESE.dates) == []

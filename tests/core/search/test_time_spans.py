from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.time_spans import LONGEST, MOST, OPEN, YEARS, TimeSpan, fit, spans

NOW = datetime(2023, 5, 30, 21, 0, tzinfo=UTC)  # a Tuesday


def _days(question: str) -> list[tuple[str, str]]:
    """First and last day of each span, without the same days of earlier years."""
    named = (span for span in spans(question, NOW) if span.sure in {1, OPEN})
    return [(span.since.date().isoformat(), span.until.date().isoformat()) for span in named]


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("Who did I have lunch with last Tuesday?", "2023-05-23", "2023-05-24"),
        ("Which game did I watch on Sunday?", "2023-05-28", "2023-05-29"),
        ("Where was I two Saturdays ago?", "2023-05-20", "2023-05-21"),
        ("Where was I on the Friday before last?", "2023-05-19", "2023-05-20"),
        ("What did I eat yesterday?", "2023-05-29", "2023-05-30"),
        ("What did I buy 10 days ago?", "2023-05-20", "2023-05-21"),
        ("What did Ann do on 1 February, 2022?", "2022-02-01", "2022-02-02"),
        ("What did Ann do on Feb. 1st 2022?", "2022-02-01", "2022-02-02"),
        ("What did Ann do on 2022-02-01?", "2022-02-01", "2022-02-02"),
        ("What did I do on the 15th of March?", "2023-03-15", "2023-03-16"),
        ("When did Ann travel on 5 June?", "2022-06-05", "2022-06-06"),
        ("What did I do on Valentine’s Day?", "2023-02-14", "2023-02-15"),
        ("What did I do at Christmas 2021?", "2021-12-25", "2021-12-26"),
        ("昨天我吃了什么？", "2023-05-29", "2023-05-30"),
        ("国庆节我去了哪里？", "2022-10-01", "2022-10-02"),
    ],
)
def test_a_day_is_that_day(question: str, since: str, until: str) -> None:
    assert _days(question) == [(since, until)]


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did Ann do in May 2022?", "2022-05-01", "2022-06-01"),
        ("Where did I go in March?", "2023-03-01", "2023-04-01"),
        ("Where did I go in early October?", "2022-10-01", "2022-11-01"),
        ("What have I bought in the past two months?", "2023-03-31", "2023-05-30"),
        ("What have I bought in the last 3 weeks?", "2023-05-09", "2023-05-30"),
        ("What have I bought over the past week?", "2023-05-23", "2023-05-30"),
        ("What did I buy two weeks ago?", "2023-05-13", "2023-05-20"),
        ("What did I buy about a month ago?", "2023-04-15", "2023-05-15"),
        ("Where did I go last week?", "2023-05-22", "2023-05-29"),
        ("Where did I live in 2020?", "2020-01-01", "2021-01-01"),
        ("两个星期前我买了什么？", "2023-05-13", "2023-05-20"),
        ("两周前的周六我买了什么？", "2023-05-13", "2023-05-20"),
        ("最近两个月我读了哪些书？", "2023-03-31", "2023-05-30"),
        ("三月份我去了哪里？", "2023-03-01", "2023-04-01"),
    ],
)
def test_a_stretch_of_time_is_all_of_it(question: str, since: str, until: str) -> None:
    [(first, last)] = _days(question)
    assert first == since
    assert abs(datetime.fromisoformat(last) - datetime.fromisoformat(until)) <= timedelta(days=1)


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("Where was I between May 3 and May 9?", "2023-05-03", "2023-05-10"),
        ("Where was Ann between August 11 and August 15 2021?", "2021-08-11", "2021-08-16"),
        ("Where was I from May to August?", "2022-05-01", "2022-09-01"),
        ("从三月到四月我在哪里？", "2023-03-01", "2023-05-02"),
    ],
)
def test_two_ends_are_one_span(question: str, since: str, until: str) -> None:
    assert _days(question) == [(since, until)]


@pytest.mark.parametrize(
    "question", ["What did we talk about on 27 April?", "在4月27号我们聊了什么？", "我4月27日告诉你什么？"]
)
def test_a_day_without_a_year_is_that_of_any_year_and_most_of_all_of_the_last(question: str) -> None:
    found = spans(question, NOW)
    assert [span.since.date().isoformat() for span in found] == [f"{year}-04-27" for year in range(2023, 2018, -1)]
    assert [span.sure for span in found] == sorted((span.sure for span in found), reverse=True)
    assert len({span.sure for span in found}) == YEARS


def test_a_day_that_few_years_have_falls_on_the_day_before() -> None:
    assert {span.since.day for span in spans("Where was I on 29 February?", datetime(2024, 3, 5, tzinfo=UTC))} <= {
        28,
        29,
    }


@pytest.mark.parametrize(
    "question", ["What did I do on 27 April 2021?", "2021年4月27日我做了什么？", "What did I do yesterday?"]
)
def test_a_year_that_is_named_is_the_only_one(question: str) -> None:
    assert len(spans(question, NOW)) == 1


def test_two_times_that_are_compared_stay_two() -> None:
    assert _days("How many days passed from my race on 3 April to my exam on 2 May?") == [
        ("2023-04-03", "2023-04-04"),
        ("2023-05-02", "2023-05-03"),
    ]


@pytest.mark.parametrize("question", ["What have I read since 5 May?", "5月5日以来我读了什么？"])
def test_since_is_open_to_now_and_less_sure(question: str) -> None:
    [span] = spans(question, NOW)
    assert span.since.date().isoformat() == "2023-05-05"
    assert span.until == NOW
    assert span.sure < 1


@pytest.mark.parametrize("question", ["Where did I live before May?", "五月之前我住在哪里？"])
def test_before_reaches_back_and_is_less_sure(question: str) -> None:
    [span] = spans(question, NOW)
    assert span.since < datetime(2023, 3, 1, tzinfo=UTC)
    assert span.until.date().isoformat() == "2023-06-01"
    assert span.sure < 1


def test_so_long_before_a_day_is_from_there_to_that_day() -> None:
    assert _days("Which puppy did John get two weeks before August 11, 2022?") == [("2022-07-28", "2022-08-12")]
    assert _days("What did I do the week after 11 August 2022?") == [("2022-08-11", "2022-08-19")]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How many weeks ago did I meet my aunt?",
        "When did I move?",
        "And may I ask who you are?",
        "May we meet?",
        "What did I say about the march for peace?",
        "Which of the 31 June recipes was it?",
        "What happened 2023年2月30日?",
        "什么时候搬家？",
        "我几岁了？",
    ],
)
def test_what_names_no_time_has_no_span(question: str) -> None:
    assert spans(question, NOW) == []


def test_nothing_was_said_in_a_time_to_come() -> None:
    assert spans("What is on my calendar for 3 July 2024?", NOW) == []


def test_a_pasted_calendar_is_read_in_bounds() -> None:
    calendar = " ".join(f"{day} March 2021;" for day in range(1, 31)) * 1_000
    assert len(spans(calendar, NOW)) == MOST
    assert spans("x" * LONGEST + " on 1 March 2021", NOW) == []


@given(st.text(alphabet="0123456789 agofromdyskwetbMayJune,去年前天周个月半几-:.'", max_size=60))
def test_no_text_breaks_it_and_each_span_has_two_ends_in_order(question: str) -> None:
    found = spans(question, NOW)
    assert all(span.since <= min(span.until, NOW) and 0 < span.sure <= 1 for span in found)
    fits = fit(found, np.array([0.0, 1.7e9]))
    assert fits.min() >= 0
    assert fits.max() <= 1


def _at(*moments: datetime) -> np.ndarray:
    return np.array([moment.timestamp() for moment in moments])


def test_what_was_said_within_fits_fully_and_then_ever_less() -> None:
    span = TimeSpan(NOW - timedelta(days=40), NOW - timedelta(days=30))
    inside, *later = fit([span], _at(*(NOW - timedelta(days=days) for days in (35, 29, 20, 10, 0)))).tolist()
    assert inside == 1
    assert all(nearer > farther for nearer, farther in pairwise([inside, *later]))


def test_a_day_is_told_of_after_it_rather_than_before() -> None:
    span = TimeSpan(NOW - timedelta(days=11), NOW - timedelta(days=10))
    before, after = fit([span], _at(span.since - timedelta(days=4), span.until + timedelta(days=4)))
    assert after > before


def test_the_best_of_several_spans_counts() -> None:
    first, second = TimeSpan(NOW - timedelta(days=11), NOW - timedelta(days=10)), TimeSpan(NOW, NOW, 0.5)
    assert fit([first, second], _at(NOW, NOW - timedelta(days=10))).tolist() == [0.5, 1.0]


def test_without_a_span_nothing_fits() -> None:
    assert fit([], _at(NOW)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("Was habe ich gestern gegessen?", "2023-05-29", "2023-05-30"),
        ("Wo war ich vorgestern mit Ada?", "2023-05-28", "2023-05-29"),
        ("Was habe ich letzte Woche gekauft?", "2023-05-22", "2023-05-29"),
        ("Mit wem war ich am Samstag essen?", "2023-05-27", "2023-05-28"),
        ("Wo war ich am 3. März und mit wem?", "2023-03-03", "2023-03-04"),
        ("Wo war ich im März und mit wem?", "2023-03-01", "2023-04-01"),
        ("Was habe ich vor zwei Wochen gekauft?", "2023-05-13", "2023-05-20"),
        ("Was habe ich in den letzten drei Wochen gekauft?", "2023-05-09", "2023-05-30"),
        ("Was habe ich an Weihnachten 2021 gekocht?", "2021-12-25", "2021-12-26"),
        ("Was habe ich seit Januar 2023 gelesen?", "2023-01-01", "2023-05-30"),
    ],
)
def test_german_times_are_read(question: str, since: str, until: str) -> None:
    assert _days(question) == [(since, until)]

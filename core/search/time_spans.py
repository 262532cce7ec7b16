"""Time spans in the query.

Pure. A span has soft ends, the later one softer, because people mention a day on that day or soon after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from core.language import dates
from core.language.dates import MONTHS, NUMBERS, NUMBERS_ZH, WEEKDAYS, Precision
from core.language.terms import has_han

LONGEST = 600
"""Characters of a question that are read; longer texts do not ask for a day."""

MOST = 8
"""Spans of one question that are used: a pasted calendar names no time."""

BLUR = timedelta(days=3)
"""Distance from a span at which its fit has fallen to 1/e, plus `BLUR_SHARE` of its length."""

BLUR_SHARE = 0.2

LATER = 3.0
"""Factor by which a message may be later than a span rather than earlier, and fit as well."""

REACH = timedelta(days=90)
"""Length of the span of "before May"."""

OPEN = 0.5
"""Certainty of a span of which the question names one end alone."""

YEARS = 5
"""Last years whose day is meant by a date without a year."""

YEAR_BEFORE = 0.8
"""Certainty of such a day against that of the year after it."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span; `sure` (0 … 1): how strongly it suggests when the answer was said; `yearly`: no year is named."""

    since: datetime
    until: datetime
    sure: float = 1.0
    yearly: bool = False

    def years_before(self, count: int) -> TimeSpan:
        """Return the same days of an earlier year."""
        since = _in_year(self.since, self.since.year - count)
        return TimeSpan(since, since + (self.until - self.since), self.sure * YEAR_BEFORE**count)


@dataclass(frozen=True, slots=True)
class _NamedSpan:
    """A span and its position in the question."""

    start: int
    end: int
    span: TimeSpan


def spans(question: str, now: datetime) -> list[TimeSpan]:
    """Return the times that a question asked at `now` names, without those in the future."""
    text = question[:LONGEST].replace("’", "'")
    readers, bounds, chinese = (_READERS_ZH, _BOUNDS_ZH, True) if has_han(text) else (_READERS, _BOUNDS, False)
    named_spans = sorted(_find_spans(text, now, readers, chinese=chinese), key=lambda named: named.start)
    bounded = (_apply_bound(text, named, now, bounds) for named in _merge_ranges(text, named_spans))
    begun = list(islice((span for span in bounded if span.since <= now), MOST))
    return begun + [span.years_before(count) for span in begun if span.yearly for count in range(1, YEARS)]


def fit(spans: Sequence[TimeSpan], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fit (0 … 1) of each time (epoch seconds) to the best of these spans; 0 without spans."""
    best = np.zeros(len(times))
    for span in spans:
        since, until = span.since.timestamp(), span.until.timestamp()
        gap = np.maximum(np.maximum(since - times, (times - until) / LATER), 0.0)
        blur = BLUR.total_seconds() + BLUR_SHARE * (until - since)
        best = np.maximum(best, span.sure * np.exp(-gap / blur))
    return best


_Reader = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], TimeSpan]]
_DAY = timedelta(days=1)
_NEXT_TO = 40  # characters before a date in which "three weeks before the" stands
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25, "天": 1.0, "日": 1.0}
_DAYS |= {"周": 7.0, "星期": 7.0, "礼拜": 7.0, "月": 30.4, "年": 365.25}
_LENGTH = {Precision.DAY: 1, Precision.WEEK: 7, Precision.MONTH: 31, Precision.SEASON: 92, Precision.YEAR: 366}


def _find_spans(text: str, now: datetime, readers: Sequence[_Reader], *, chinese: bool) -> Iterator[_NamedSpan]:
    """Yield spans: forms of questions first; the rest is read as dates in statements are."""
    for regex, read in readers:
        for match in regex.finditer(text):
            text = f"{text[: match.start('what')]}{' ' * len(match['what'])}{text[match.end('what') :]}"
            try:
                span = read(match, now)
            except (ValueError, OverflowError):  # 31 June, 999 years ago: no such day
                continue
            yield _NamedSpan(match.start("what"), match.end(), span)
    for dated in dates.find(text, now, chinese=chinese):
        lead = _LEAD.match(text, dated.start, dated.end)
        yearly = bool(_YEARLESS.match(text[dated.start : dated.end]))
        when = dated.when.replace(tzinfo=now.tzinfo)
        since = _last(when, now) if yearly else when
        span = TimeSpan(since, since + _LENGTH[dated.precision] * _DAY, yearly=yearly)
        yield _NamedSpan(lead.end() if lead else dated.start, dated.end, span)


def _merge_ranges(text: str, named_spans: Sequence[_NamedSpan]) -> list[_NamedSpan]:
    """Merge two spans joined by "and", "to" or 到 after "between", "from" or 从."""
    joined: list[_NamedSpan] = []
    for named in named_spans:
        last = joined[-1] if joined else None
        if (
            last
            and _OPENS.search(text[max(0, last.start - _NEXT_TO) : last.start])
            and _LINKS.fullmatch(text[last.end : named.start])
        ):
            since = last.span.since
            if not re.search(r"\d{4}", text[last.start : last.end]):  # "from May 3 to May 9, 2023": of the same year
                since = _last(since, named.span.since)
            span = TimeSpan(since, named.span.until, yearly=last.span.yearly and named.span.yearly)
            joined[-1] = _NamedSpan(last.start, named.end, span)
        else:
            joined.append(named)
    return joined


def _apply_bound(
    text: str, named: _NamedSpan, now: datetime, bounds: tuple[re.Pattern[str], re.Pattern[str]]
) -> TimeSpan:
    """Return the span meant by a date with "since" or "before"; both include the day itself."""
    match = bounds[0].search(text[max(0, named.start - _NEXT_TO) : named.start]) or bounds[1].match(text[named.end :])
    if match is None:
        return named.span
    if match.groupdict().get("unit"):
        away = _count(match["n"])[0] * _DAYS[match["unit"].lower()] * _DAY
        back = bool(match["back"])
        return TimeSpan(named.span.since - away * back, named.span.until + away * (not back))
    if match["back"]:
        return TimeSpan(named.span.since - REACH, named.span.until, OPEN)
    return TimeSpan(named.span.since, max(now, named.span.until), OPEN)


def _ago(match: re.Match[str], now: datetime) -> TimeSpan:
    """Return a span around that day, wider if the wording is vague."""
    count, vague = _count(match["n"])
    unit = _DAYS[match["unit"].lower()]
    away = (now - timedelta(days=count * unit)).replace(hour=12)
    around = timedelta(days=unit * max(0.5, count * vague))
    return TimeSpan(away - around, away + around)


def _past(match: re.Match[str], now: datetime) -> TimeSpan:
    count, vague = _count(match["n"] or "one")
    return TimeSpan(now - timedelta(days=count * (1 + vague) * _DAYS[match["unit"].lower()]), now)


def _weekday(match: re.Match[str], now: datetime) -> TimeSpan:
    """Return the last such weekday before today, or one some weeks before it."""
    weeks = 1.0 if match["on"] else _count(match["n"] or "two")[0]
    days = (now.weekday() - _place(match["weekday"], WEEKDAYS)) % 7 or 7
    since = _midnight(now) - timedelta(days=days + 7 * (int(weeks) - 1))
    return TimeSpan(since, since + _DAY)


def _date(match: re.Match[str], now: datetime) -> TimeSpan:
    """Return a day or a month; without a year the last one."""
    month, day = _place(match["month"], MONTHS) + 1, match.groupdict().get("day")
    return _of_year(match["year"], month, int(day) if day else None, now)


def _feast(match: re.Match[str], now: datetime) -> TimeSpan:
    return _of_year(match["year"], *_FEASTS[match["feast"].lower()], now)


def _numeric_date(match: re.Match[str], now: datetime) -> TimeSpan:
    """Read 2023-05-01; and 五月之前, which is "before May" and not five months ago."""
    month, day = match["month"], match.groupdict().get("day")
    number = int(month) if month.isdigit() else _count_zh(month)
    return _of_year(match["year"], number, int(day) if day else None, now)


def _of_year(year: str | None, month: int, day: int | None, now: datetime) -> TimeSpan:
    first = _midnight(now).replace(day=1)
    since = first.replace(year=int(year) if year else now.year, month=month, day=day or 1)
    since = since if year else _last(since, now)
    return TimeSpan(since, since + (1 if day else 31) * _DAY, yearly=not year)


def _last(day: datetime, until: datetime) -> datetime:
    """Return the last such day of the year before `until`."""
    this = _in_year(day, until.year)
    return this if this <= until else _in_year(day, until.year - 1)


def _in_year(day: datetime, year: int) -> datetime:
    """Return that day of a year; 29 February falls on the 28th."""
    return day.replace(year=year, day=min(day.day, 28) if day.month == 2 else day.day)  # noqa: PLR2004


def _count(phrase: str) -> tuple[float, float]:
    """Return a number and its relative error: "a few" are 3, or 5."""
    quantity = re.sub(r"\s+", " ", phrase.lower()).removesuffix(" of").removeprefix("a ")
    if quantity in _VAGUE:
        return _VAGUE[quantity]
    if quantity.isdigit():
        return float(quantity), 0.0
    return float(NUMBERS.get(quantity, 0) or _count_zh(quantity)), 0.0


def _count_zh(numeral: str) -> int:
    tens, ten, ones = numeral.rpartition("十")
    return (NUMBERS_ZH.get(tens, 1) * 10 if ten else 0) + (NUMBERS_ZH.get(ones, 0) if ones else 0)


def _midnight(when: datetime) -> datetime:
    return when.replace(hour=0, minute=0, second=0, microsecond=0)


def _place(name: str, names: Sequence[str]) -> int:
    return next(index for index, full in enumerate(names) if full.lower().startswith(name.lower()[:3]))


_VAGUE = {"couple": (2.0, 0.4), "the": (1.0, 0.0)}
_VAGUE |= dict.fromkeys(("few", "several", "几"), (3.0, 0.6)) | dict.fromkeys(("half", "half a", "半"), (0.5, 0.5))
_FEASTS = {
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "valentine's day": (2, 14),
    "patrick's day": (3, 17),
    "independence day": (7, 4),
    "4th of july": (7, 4),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "元旦": (1, 1),
    "情人节": (2, 14),
    "劳动节": (5, 1),
    "五一": (5, 1),
    "国庆节": (10, 1),
    "国庆": (10, 1),
    "平安夜": (12, 24),
    "圣诞节": (12, 25),
    "圣诞": (12, 25),
}
"""Days that recur on the same date every year; movable feasts are not among them."""

_N = (
    r"(?P<n>\d{1,3}|(?:a\s+)?(?:few|couple)(?:\s+of)?|several|half\s+a|an?|the|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve)"
)
_UNIT = r"(?P<unit>day|week|month|year)s?"
_UNIT_ONLY = r"(?:days|weeks|months|years)"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))"
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_BEFORE_MONTH = r"in|of|during|since|until|till|by|before|after|between|from|to|and|through|early|late|mid"


def _reader(form: str, read: Callable[[re.Match[str], datetime], TimeSpan]) -> _Reader:
    return re.compile(rf"(?<![\w-]){form}(?!\w)", re.IGNORECASE), read


_READERS = (
    _reader(rf"(?P<what>{_N}\s+{_UNIT}\s+(?:ago|back))", _ago),
    _reader(rf"(?P<what>(?:(?:past|previous)|last(?=\s+\S+\s+(?:of\s+)?{_UNIT_ONLY}))\s+(?:{_N}\s+)?{_UNIT})", _past),
    _reader(rf"(?P<what>{_N}\s+{_WEEKDAY}s?\s+ago)(?P<on>)", _weekday),
    _reader(rf"(?P<what>{_WEEKDAY}\s+before\s+last)(?P<on>)(?P<n>)", _weekday),
    _reader(rf"(?P<on>on|this\s+past)\s+(?P<what>{_WEEKDAY})(?P<n>)", _weekday),
    _reader(rf"(?P<what>{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR}?)", _date),
    _reader(rf"(?P<what>(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}{_YEAR}?)", _date),
    _reader(r"(?P<what>(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d))", _numeric_date),
    _reader(rf"(?P<what>{_MONTH}{_YEAR})", _date),
    _reader(rf"(?:{_BEFORE_MONTH})[\s-]+(?P<what>{_MONTH})(?P<year>)(?!\s+(?:i|we|you|he|she|they|it|be)\b)", _date),
    _reader(rf"(?P<what>(?P<feast>{'|'.join(f for f in _FEASTS if f.isascii())}){_YEAR}?)", _feast),
)

_N_ZH = r"(?<!\d)(?P<n>\d{1,3}|[半几一两二三四五六七八九十]{1,3})"
_UNIT_ZH = r"(?P<unit>天|日|周|星期|礼拜|(?<=个)月|年)"  # 五月 is May, 五个月 are five months

_YEAR_ZH = r"(?:(?P<year>(?:19|20)\d\d)年)?"
_MONTH_ZH = r"(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
_WEEKDAY_ZH = r"(?:的?(?:周|星期|礼拜)[一二三四五六日天])?"

_READERS_ZH = (
    (re.compile(rf"(?P<what>{_N_ZH}多?个?{_UNIT_ZH}(?:以|之)?前{_WEEKDAY_ZH})"), _ago),
    (re.compile(rf"(?P<what>{_YEAR_ZH}{_MONTH_ZH})(?=(?:以|之)前)"), _numeric_date),
    (re.compile(rf"(?P<what>(?:过去|最近|近|前|这)的?{_N_ZH}个?{_UNIT_ZH})"), _past),
    (re.compile(rf"(?P<what>{_YEAR_ZH}(?P<feast>{'|'.join(f for f in _FEASTS if not f.isascii())}))"), _feast),
)

_LEAD = re.compile(
    r"(?:(?:since|from|until|till|by|before|after|for|of|during|about|roughly|around|over|on|in|at|through|to|back)\s+)+"
    r"(?=\S)",
    re.IGNORECASE,
)
_YEARLESS = re.compile(rf"(?!.*\d{{4}})(?=.*(?:\b(?:{'|'.join(MONTHS)})\b|月\s*\d{{1,2}}))", re.IGNORECASE)
"""A date by its month."""

_OPENS = re.compile(r"(?:\b(?:between|from)\s+(?:the\s+)?|[从自])$", re.IGNORECASE)
_LINKS = re.compile(r"\s*(?:and|to|until|till|through|-|–|到|至|和)\s*(?:the\s+)?", re.IGNORECASE)
_BOUNDS = (
    re.compile(
        rf"(?:(?:(?<!\w){_N}\s+{_UNIT}\s+)?(?:(?P<back>before|until|till|by|prior\s+to)|since|after|following))\s+(?:the\s+)?$",
        re.IGNORECASE,
    ),
    re.compile(r"(?!)"),
)
_BOUNDS_ZH = (re.compile(r"(?P<back>(?!))|自从?$"), re.compile(r"(?P<back>(?:以|之)前)|(?:以|之)[来后]"))
"""Words before and behind a date that make it one end of a span; `back`: its last one."""

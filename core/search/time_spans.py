"""Time spans in the query.

Pure. A span has soft ends, the later one softer, because people mention a day on that day or soon after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from core.language import dates, languages
from core.language.calendar import Precision, midnight, number_of
from core.language.language import Language
from core.language.parts import TimeForm, TimeSpans

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
    language = languages.by_script(text)
    forms = language.time_spans
    if forms is None:
        return []
    named_spans = sorted(_find_spans(text, now, language, forms), key=lambda named: named.start)
    bounded = (_apply_bound(text, named, now, forms) for named in _merge_ranges(text, named_spans, forms))
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


_DAY = timedelta(days=1)
_NEXT_TO = 40  # characters before a date in which "three weeks before the" stands
_LENGTH = {Precision.DAY: 1, Precision.WEEK: 7, Precision.MONTH: 31, Precision.SEASON: 92, Precision.YEAR: 366}


def _find_spans(text: str, now: datetime, language: Language, forms: TimeSpans) -> Iterator[_NamedSpan]:
    """Yield spans: forms of questions first; the rest is read as dates in statements are."""
    for regex, form in forms.forms:
        for match in regex.finditer(text):
            text = f"{text[: match.start('what')]}{' ' * len(match['what'])}{text[match.end('what') :]}"
            try:
                span = _READ[form](match, now, forms)
            except (ValueError, OverflowError):  # 31 June, 999 years ago: no such day
                continue
            yield _NamedSpan(match.start("what"), match.end(), span)
    for dated in dates.find(text, now, language.dates):
        lead = forms.lead.match(text, dated.start, dated.end) if forms.lead else None
        yearly = bool(forms.yearless.match(text[dated.start : dated.end]))
        when = dated.when.replace(tzinfo=now.tzinfo)
        since = _last(when, now) if yearly else when
        span = TimeSpan(since, since + _LENGTH[dated.precision] * _DAY, yearly=yearly)
        yield _NamedSpan(lead.end() if lead else dated.start, dated.end, span)


def _merge_ranges(text: str, named_spans: Sequence[_NamedSpan], forms: TimeSpans) -> list[_NamedSpan]:
    """Merge two spans that are the ends of one: between … and …, from … to …."""
    joined: list[_NamedSpan] = []
    for named in named_spans:
        last = joined[-1] if joined else None
        if (
            last
            and forms.opens.search(text[max(0, last.start - _NEXT_TO) : last.start])
            and forms.links.fullmatch(text[last.end : named.start])
        ):
            since = last.span.since
            if not re.search(r"\d{4}", text[last.start : last.end]):  # "from May 3 to May 9, 2023": of the same year
                since = _last(since, named.span.since)
            span = TimeSpan(since, named.span.until, yearly=last.span.yearly and named.span.yearly)
            joined[-1] = _NamedSpan(last.start, named.end, span)
        else:
            joined.append(named)
    return joined


def _apply_bound(text: str, named: _NamedSpan, now: datetime, forms: TimeSpans) -> TimeSpan:
    """Return the span meant by a date with "since" or "before"; both include the day itself."""
    match = forms.before.search(text[max(0, named.start - _NEXT_TO) : named.start]) if forms.before else None
    if match is None and forms.behind:
        match = forms.behind.match(text[named.end :])
    if match is None:
        return named.span
    if match.groupdict().get("unit"):
        away = forms.count(match["n"])[0] * forms.days[match["unit"].lower()] * _DAY
        back = bool(match["back"])
        return TimeSpan(named.span.since - away * back, named.span.until + away * (not back))
    if match["back"]:
        return TimeSpan(named.span.since - REACH, named.span.until, OPEN)
    return TimeSpan(named.span.since, max(now, named.span.until), OPEN)


def _ago(match: re.Match[str], now: datetime, forms: TimeSpans) -> TimeSpan:
    """Return a span around that day, wider if the wording is vague."""
    count, vague = forms.count(match["n"])
    unit = forms.days[match["unit"].lower()]
    away = (now - timedelta(days=count * unit)).replace(hour=12)
    around = timedelta(days=unit * max(0.5, count * vague))
    return TimeSpan(away - around, away + around)


def _past(match: re.Match[str], now: datetime, forms: TimeSpans) -> TimeSpan:
    count, vague = forms.count(match["n"]) if match["n"] else (1.0, 0.0)
    return TimeSpan(now - timedelta(days=count * (1 + vague) * forms.days[match["unit"].lower()]), now)


def _weekday(match: re.Match[str], now: datetime, forms: TimeSpans) -> TimeSpan:
    """Return the last such weekday before today, or one some weeks before it."""
    weeks = 1.0 if match["on"] else forms.count(match["n"])[0] if match["n"] else 2.0
    days = (now.weekday() - number_of(match["weekday"], forms.weekdays)) % 7 or 7
    since = midnight(now) - timedelta(days=days + 7 * (int(weeks) - 1))
    return TimeSpan(since, since + _DAY)


def _date(match: re.Match[str], now: datetime, forms: TimeSpans) -> TimeSpan:
    """Return a day or a month; without a year the last one."""
    name, day = match["month"], match.groupdict().get("day")
    named = not name.isdigit() and forms.months
    month = number_of(name, forms.months) + 1 if named else int(forms.count(name)[0])
    return _of_year(match["year"], month, int(day) if day else None, now)


def _feast(match: re.Match[str], now: datetime, forms: TimeSpans) -> TimeSpan:
    return _of_year(match["year"], *forms.feasts[match["feast"].lower()], now)


def _of_year(year: str | None, month: int, day: int | None, now: datetime) -> TimeSpan:
    first = midnight(now).replace(day=1)
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


_READ: Mapping[TimeForm, Callable[[re.Match[str], datetime, TimeSpans], TimeSpan]] = {
    "ago": _ago,
    "past": _past,
    "weekday": _weekday,
    "date": _date,
    "feast": _feast,
}

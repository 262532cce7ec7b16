"""Days, weeks, months and years, as the dates of every language count them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

BESIDE: Final = 2
"""Characters beside a date from which its clause says something of it."""

JUST_PAST = timedelta(days=14)
"""Time after a day during which its arrangement may be mentioned without any other sign of the past."""


class Precision(StrEnum):
    """Precision of a date."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text: its position, its value, and an absolute form."""

    start: int
    end: int
    when: datetime
    precision: Precision
    text: str


Resolved = tuple[datetime, Precision, str]
"""A date, and its absolute form."""


def midnight(when: datetime) -> datetime:
    """Return the beginning of a day."""
    return when.replace(hour=0, minute=0, second=0, microsecond=0)


def weekday(base: datetime, day: int, sign: int) -> datetime:
    """Return the next such weekday, or the last one where `sign` is negative; never the day itself."""
    gap = (base.weekday() - day) % 7 if sign < 0 else (day - base.weekday()) % 7
    return midnight(base) + timedelta(days=sign * (gap or 7))


def month_near(month: int, base: datetime, *, future: bool) -> datetime:
    """Return the beginning of the next or the last such month, which may be the present one."""
    when = midnight(base).replace(month=month, day=1)
    if future and month < base.month:
        return when.replace(year=when.year + 1)
    if not future and month > base.month:
        return when.replace(year=when.year - 1)
    return when


def first_of_year(base: datetime, year: int) -> datetime:
    """Return the first day of a year, or of the nearest that has one."""
    return midnight(base).replace(year=min(max(year, 1), 9999), month=1, day=1)


def number_of(name: str, names: Sequence[str]) -> int:
    """Return the position of a month or a weekday, which may be written by its first three letters."""
    return next(i for i, full in enumerate(names) if full.lower().startswith(name.lower()[:3]))


def shift(base: datetime, count: int, unit: str) -> tuple[datetime, Precision]:
    """Return the day, week, month or year that many of them later: its beginning."""
    day = midnight(base)
    if unit == "day":
        return day + timedelta(days=count), Precision.DAY
    if unit == "week":
        return day + timedelta(weeks=count) - timedelta(days=day.weekday()), Precision.WEEK
    if unit == "month":
        months = day.year * 12 + day.month - 1 + count
        return day.replace(year=months // 12, month=months % 12 + 1, day=1), Precision.MONTH
    return first_of_year(base, base.year + count), Precision.YEAR


def clause(text: str, start: int, end: int, boundary: re.Pattern[str]) -> tuple[int, int]:
    """Return the place of the clause in which a date stands, or of the whole text if that clause is the date alone."""
    ends = [(match.start(), match.end()) for match in boundary.finditer(text)]
    begins = max((after for _, after in ends if after <= start), default=0)
    stops = min((before for before, _ in ends if before >= end), default=len(text))
    beside = len(text[begins:start].strip()) + len(text[end:stops].strip())
    return (begins, stops) if beside >= BESIDE else (0, len(text))

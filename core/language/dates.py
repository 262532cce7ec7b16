"""Date expressions in English and Chinese, resolved against the message time.

Relative forms are read by the tables here (a microsecond each); written-out dates ("May 5th, 2026") go to dateparser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import dateparser

from core.language.lazy_regex import lazy_regex
from core.memoize import memoized

PARSED = 2_048
"""Parsed dates cached by text and reference day: the parser takes a millisecond."""

MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SEASONS = {"winter": 1, "spring": 4, "summer": 7, "fall": 10, "autumn": 10}
NUMBERS = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
) | {"a": 1, "an": 1, "couple": 2}
NUMBERS_ZH = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0}


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


_NUM = r"(?P<n>\d{1,3}|a couple(?: of)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_DAYNAMES = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_MONTHNAMES = "|".join(MONTHS)
_MONTH_SHORT = _MONTHNAMES + "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"

_ENGLISH = lazy_regex(
    r"(?<![\w-])(?P<lead>(?:since|from|until|till|by|before|after|for|of|during|about|roughly|around|"
    r"over|on|in|at|through|"
    r"to)\s+)?(?:"
    r"(?P<day>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday(?: morning| afternoon| evening|"
    r" night)?|"
    r"last night|tonight|today|this (?:morning|afternoon|evening)|tomorrow(?: morning| afternoon| evening| night)?)"
    rf"|(?P<which>last|this past|past|this coming|coming|this|next) (?P<weekday>{_DAYNAMES})(?! best)"
    rf"|(?P<which2>last|this past|this|next) (?P<span>week(?:end)?|month|year|{'|'.join(SEASONS)})"
    rf"|(?P<which3>last|this|next) (?P<month>{_MONTHNAMES})"
    rf"|{_NUM} {_UNIT} (?P<dir>ago|back|from now)"
    rf"|(?P<a_ago>(?:the|a) (?P<unit2>week|month|year) before last)"
    r"|(?P<iso>\d{4}-\d{2}-\d{2})"
    rf"|(?P<dmy>(?:(?:{_MONTH_SHORT})\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH_SHORT})\b(?:,? \d{{4}})?))"
    rf"|(?P<my>(?:{_MONTHNAMES}),? \d{{4}})"
    r")(?![\w-])",
    re.IGNORECASE,
)
_IN_MONTH = lazy_regex(
    rf"(?<![\w-])(?P<lead>in|since|until|till|by|during|early in|late in|back in) (?P<bare>(?:early |mid-?|"
    rf"late )?(?P<name>{'|'.join(m for m in MONTHS)}))\b(?!,? \d)",
)
_ON_DAY = lazy_regex(rf"(?<![\w-])(?P<lead>on|since|until|till|by) (?P<name>{_DAYNAMES})(?!\w|s\b)", re.IGNORECASE)
_IN_UNITS = lazy_regex(rf"(?<![\w-])in {_NUM} (?P<unit>day|week|month|year)s?(?!\w| of\b)", re.IGNORECASE)
_IN_YEAR = lazy_regex(r"(?<![\w-])(?:in|since|until|back in|by|around) (?P<year>(?:19[3-9]\d|20[0-4]\d))(?!\w)")

_PAST_HINT = lazy_regex(
    r"\b(?:was|were|had|did|went|got|came|saw|met|made|took|gave|bought|"
    r"won|lost|began|left|became|ran|found|told|felt|"
    r"put|cut|hit|quit|sold|built|flew|broke|fell|grew|held|hurt|kept|"
    r"knew|paid|sang|sent|spent|spoke|taught|threw|woke|wrote|drove|"
    r"ate|drank|slept|stood|swam|chose|rode|caught|brought|heard|since|ago|been|done|gone|seen|written|taken|given|"
    r"spoken|broken|chosen|was going to|"
    r"(?!need|speed|shed|indeed|excited|thrilled|stoked|tired|named|called|based|married|supposed|scheduled|planned|"
    r"prepared|interested|worried)\w{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE_HINT = lazy_regex(
    r"\b(?:will|(?<!was )(?<!were )going to|plan(?:s|ning)?|hop(?:e|es|ing) to|want(?:s)? to|looking forward|"
    r"upcoming|am \w+ing|"
    r"are \w+ing|"
    r"is \w+ing|would like|intend|shall|about to|due|deadline)\b",
    re.IGNORECASE,
)
_ARRANGED = lazy_regex(
    r"\b(?:signed (?:\w+ )?up (?:for|to)|(?:booked|reserved|scheduled)|registered (?:for|to)|enrolled (?:in|on|for)|"
    r"planned|(?:tickets?|flights?|invitation|invited|appointment|reservation|entry|place) (?:for|to|at|on|in)|"
    r"arranged|having (?:\w+ ){1,3}(?:done|out|[a-z]{3,}ed)|postponed|rescheduled|delayed|(?:got|been|was) bumped|"
    r"slipped|"
    r"(?:moved|pushed|put|bumped|knocked|brought|shifted) (?:\w+ ){0,3}?(?:back|forward|off)|"
    r"(?:moved|changed|shifted|switched|pushed|put|bumped|brought)(?= (?:\w+ ){0,4}?(?:to|until|till) (?:the )?(?:\d|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:January|February|March|April|May|June|July|August|September|"
    r"October|November|December)\b))|"
    r"agreed to|decided to|promised to)\b",
    re.IGNORECASE,
)
"""Verbs of arranging, done already, for a day that is still to come."""
_STANDS_AHEAD = lazy_regex(
    r"\b(?:is|are|have|has|starts?|begins?|leaves?|fly|flies|arrives?|opens?|ends?|returns?|needs?)\b", re.IGNORECASE
)
"""Verbs that with a day of the week, and in the present, speak of the coming one ("my exam is on Monday")."""
_PRESENT = lazy_regex(
    r"\b(?:is|are|am|starts|begins|leaves|moves|flies|opens|ends)\b|"
    r"\b(?:I|we|they|and) (?:start|begin|leave|move|fly|open|end|get the keys)\b|"
    r"\b(?:job|role|position|offer|lease|contract|course|term) (?:starting|beginning|from)\b",
    re.IGNORECASE,
)
"""Verbs in the present, which with a date speak of one to come, whatever happened before ("I got it, I start on …")."""
_FUTURE_AFTER = lazy_regex(
    r"^,? (?:the |my |our )?(?!and\b|but\b|so\b|then\b|or\b)\w+(?:['’]ll| will| (?:am|is|are) going to)\b",
    re.IGNORECASE,
)
"""A clause in the future that opens with the date: "from 2 March I'll be …"."""
_RECURS = lazy_regex(
    r"\b(?:birthday|anniversary|name day)(?: always)? (?:is|falls|comes)(?: always)?(?: on| in)?$|"
    r"\bbirthday[,:]$|"
    r"\b(?:birthday|anniversary) \(?(?:on|in)$|\bborn(?: on| in)?$|\bevery(?: year)?(?: on| in)?$",
    re.IGNORECASE,
)
_RECURS_AFTER = lazy_regex(
    r"^(?: is [^.;!?]{0,30}|, (?:my|his|her|our|their) (?:\w+'s )?)\b(?:birthday|"
    r"anniversary|name day)\b",
    re.IGNORECASE,
)
_YEAR_SAID = lazy_regex(r"\d{4}")
LONGEST_READ = 4_000
"""Characters searched for dates: each match scans all of them, so the cost is quadratic."""
JUST_PAST = timedelta(days=14)
"""Time after a day during which its arrangement may be mentioned without any other sign of the past."""


def find(text: str, said_at: datetime, *, chinese: bool = False) -> list[DateMention]:
    """Return the dates in the first LONGEST_READ characters of `text`, in order, without overlaps."""
    text, base = text[:LONGEST_READ], wall_clock(said_at)
    found = sorted(_chinese(text, base) if chinese else _english(text, base), key=lambda f: (f.start, -f.end))
    kept: list[DateMention] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def wall_clock(moment: datetime) -> datetime:
    """Return what the clock of a moment's time zone shows, as a time in UTC: a day is stored as its midnight in UTC."""
    return moment.replace(tzinfo=UTC)


def day(when: datetime, language: str) -> str:
    """Return a day as `language` ("en" or "zh") writes it: "4 February 2026"."""
    return _day_zh(when) if language == "zh" else _day_name(when)


def written_out(text: str, found: list[DateMention]) -> str:
    """Return `text` with each date in a form that does not depend on when it was said."""
    for one in reversed(found):
        text = text[: one.start] + one.text + text[one.end :]
    return text


def _english(text: str, base: datetime) -> Iterator[DateMention]:
    for match in _ENGLISH.finditer(text):
        resolved = _resolve(match, base)
        if resolved:
            yield _date_at(match, text, *resolved)
    for match in _IN_MONTH.finditer(text):
        if _recurs(match):
            continue
        when = _month_near(MONTHS.index(match["name"]) + 1, base, future=_looks_ahead(match))
        shown = f"{match['lead']} {match['bare']} {when.year}"
        yield DateMention(match.start(), match.end(), when, Precision.MONTH, shown)
    for match in _ON_DAY.finditer(text):
        future = _looks_ahead(match)
        bound = match["lead"].lower() in {"until", "till", "by"}
        if not future or bound or any(sign.search(text) for sign in (_FUTURE_HINT, _ARRANGED, _STANDS_AHEAD)):
            when = _weekday(base, _index(match["name"], WEEKDAYS), 1 if future else -1)
            shown = f"{match['lead']} {_weekday_name(when)}"
            yield DateMention(match.start(), match.end(), when, Precision.DAY, shown)
    for match in _IN_UNITS.finditer(text):
        if _FUTURE_HINT.search(text) or _STANDS_AHEAD.search(text[: match.start()].rsplit(" ", 2)[-2:][0]):
            when, precision, shown = _shift(base, _count(match["n"]), match["unit"])
            yield DateMention(match.start(), match.end(), when, precision, shown)
    for match in _IN_YEAR.finditer(text):
        yield DateMention(match.start(), match.end(), _year(base, int(match["year"])), Precision.YEAR, match.group())


Resolved = tuple[datetime, Precision, str]


def _date_at(match: re.Match[str], text: str, when: datetime, precision: Precision, shown: str) -> DateMention:
    """Build a date; its preposition is dropped after another, before a possessive and in a subject."""
    lead, start = match["lead"], match.start()
    bare = re.sub(r"^(?:on|in) ", "", shown)
    if precision is Precision.WEEK and text[match.end() :].startswith(("'s", "’s")):
        return DateMention(start, match.end(), when, precision, match.group())
    if lead and lead.strip().lower() == "over" and precision is Precision.DAY:
        shown = f"{lead}{shown}"  # "come over tomorrow"
    elif lead and lead.strip().lower() not in {"on", "in", "at"}:
        shown = f"{lead}{bare}"
    elif re.match(r"['’]s\b| (?:was|is|will be|has been)\b", text[match.end() :]) and not lead:
        shown = bare
    if start == 0:
        shown = shown[0].upper() + shown[1:]
    return DateMention(start, match.end(), when, precision, shown)


def _resolve(match: re.Match[str], base: datetime) -> Resolved | None:
    for group, read in _READERS:
        if match[group]:
            return read(match, base)
    return None


def _day(match: re.Match[str], base: datetime) -> Resolved:
    phrase = match["day"].lower()
    shift = -2 if "before" in phrase else 2 if "after tomorrow" in phrase else 0
    if not shift:
        shift = -1 if phrase.startswith(("yesterday", "last")) else 1 if phrase.startswith("tomorrow") else 0
    part = next((p for p in ("morning", "afternoon", "evening", "night") if p in phrase and p != "noon"), None)
    when = _midnight(base) + timedelta(days=shift)
    name = _day_name(when)
    return when, Precision.DAY, f"on the {part} of {name}" if part else f"on {name}"


def _named_weekday(match: re.Match[str], base: datetime) -> Resolved:
    which, day = match["which"].lower(), _index(match["weekday"], WEEKDAYS)
    back = which in {"last", "this past", "past"}
    if which == "this":
        when = _midnight(base) + timedelta(days=day - base.weekday())
    else:
        when = _weekday(base, day, -1 if back else 1)
    return when, Precision.DAY, f"on {_weekday_name(when)}"


def _span(match: re.Match[str], base: datetime) -> Resolved:
    which, span = match["which2"].lower(), match["span"].lower()
    step = {"last": -1, "this past": -1, "this": 0, "next": 1}[which]
    if span in SEASONS:
        return _season(base, span, step)
    if span == "weekend":
        saturday = _midnight(base) + timedelta(days=5 - base.weekday() + 7 * (step if step >= 0 else -1))
        return saturday, Precision.WEEK, f"on the weekend of {_day_name(saturday)}"
    return _shift(base, step, span)


def _season(base: datetime, season: str, step: int) -> Resolved:
    when = _midnight(base).replace(month=SEASONS[season], day=1)
    if step < 0 and when > base - timedelta(days=60):
        when = when.replace(year=when.year - 1)
    elif step > 0 and when <= base:
        when = when.replace(year=when.year + 1)
    return when, Precision.SEASON, f"in {season} {when.year}"


def _named_month(match: re.Match[str], base: datetime) -> Resolved:
    number, which = _index(match["month"], MONTHS) + 1, match["which3"].lower()
    when = _midnight(base).replace(month=number, day=1)
    if which != "this":
        when = _month_near(number, base, future=which == "next")
    return when, Precision.MONTH, f"in {_month_name(when)}"


def _ago(match: re.Match[str], base: datetime) -> Resolved:
    sign = 1 if match["dir"].lower() == "from now" else -1
    return _shift(base, sign * _count(match["n"]), match["unit"])


def _before_last(match: re.Match[str], base: datetime) -> Resolved:
    return _shift(base, -2, match["unit2"])


def _shift(base: datetime, count: int, unit: str) -> Resolved:
    unit, day = unit.lower(), _midnight(base)
    if unit == "day":
        when = day + timedelta(days=count)
        return when, Precision.DAY, f"on {_day_name(when)}"
    if unit == "week":
        when = day + timedelta(weeks=count) - timedelta(days=day.weekday())
        return when, Precision.WEEK, f"in the week of {_day_name(when)}"
    if unit == "month":
        months = day.year * 12 + day.month - 1 + count
        when = day.replace(year=months // 12, month=months % 12 + 1, day=1)
        return when, Precision.MONTH, f"in {_month_name(when)}"
    when = _year(base, base.year + count)
    return when, Precision.YEAR, f"in {when.year}"


def _iso(match: re.Match[str], base: datetime) -> Resolved | None:
    when = _parse(match["iso"], base.date().isoformat(), future=False)
    return (when.replace(tzinfo=base.tzinfo), Precision.DAY, f"on {_day_name(when)}") if when else None


def _written_date(match: re.Match[str], base: datetime) -> Resolved | None:
    phrase = re.sub(r"^the | of\b|(?<=\d)(?:st|nd|rd|th)\b", "", match["dmy"], flags=re.IGNORECASE)
    if _recurs(match) and not _YEAR_SAID.search(phrase):
        return None
    when = _parse(phrase, base.date().isoformat(), future=_looks_ahead(match))
    if when and not _YEAR_SAID.search(phrase) and not _FUTURE_HINT.search(match.string):
        last = _parse(phrase, base.date().isoformat(), future=False)
        when = last if last and base.replace(tzinfo=None) - last <= JUST_PAST else when
    return (when.replace(tzinfo=base.tzinfo), Precision.DAY, f"on {_day_name(when)}") if when else None


def _month_year(match: re.Match[str], base: datetime) -> Resolved:
    name, year = re.split(r",? (?=\d)", match["my"])
    when = _midnight(base).replace(year=int(year), month=_index(name, MONTHS) + 1, day=1)
    return when, Precision.MONTH, f"in {_month_name(when)}"


_READERS: tuple[tuple[str, Callable[[re.Match[str], datetime], Resolved | None]], ...] = (
    ("day", _day),
    ("weekday", _named_weekday),
    ("span", _span),
    ("month", _named_month),
    ("dir", _ago),
    ("a_ago", _before_last),
    ("iso", _iso),
    ("dmy", _written_date),
    ("my", _month_year),
)


@memoized(PARSED)
def _parse(phrase: str, base_day: str, *, future: bool) -> datetime | None:
    return dateparser.parse(
        phrase,
        languages=["en"],
        settings={
            "RELATIVE_BASE": datetime.fromisoformat(base_day),
            "PREFER_DATES_FROM": "future" if future else "past",
            "STRICT_PARSING": False,
        },
    )


_CLAUSE_END = lazy_regex(r"[,;:]| (?:and|but|so|because|then) (?=I\b|we\b|my\b|it\b|he\b|she\b|they\b)|[-–—] ")


def _looks_ahead(match: re.Match[str]) -> bool:
    """Return whether the date lies ahead, by its own clause, else by the sentence; without a sign it does."""
    if re.match(r"(?:since|back in)\b", match["lead"] or "", re.IGNORECASE):
        return False
    text, at = match.string, match.start()
    if _FUTURE_AFTER.match(text[match.end() :]):
        return True
    start = max((m.end() for m in _CLAUSE_END.finditer(text, 0, at)), default=0)
    end = _CLAUSE_END.search(text, match.end())
    signs = (_sign(text[start : end.start() if end else None], at - start), _sign(text, at))
    return next((sign for sign in signs if sign is not None), True)


def _sign(said: str, at: int) -> bool | None:
    """Return whether the last sign before `at`, or else the first after it, points ahead; None without a sign."""
    regexes = ((_PAST_HINT, False), (_FUTURE_HINT, True), (_ARRANGED, True), (_PRESENT, True))
    signs = [(found.end(), ahead) for regex, ahead in regexes for found in regex.finditer(said)]
    before = [sign for sign in signs if sign[0] <= at]
    return max(before)[1] if before else min(signs)[1] if signs else None


def _recurs(match: re.Match[str]) -> bool:
    """Return whether the date recurs every year, as a birthday does, and so gets no year."""
    lead, before = match["lead"] or "", match.string[: match.start()]
    return bool(_RECURS.search(f"{before}{lead}".rstrip()) or _RECURS_AFTER.search(match.string[match.end() :]))


def _midnight(when: datetime) -> datetime:
    return when.replace(hour=0, minute=0, second=0, microsecond=0)


def _weekday(base: datetime, day: int, sign: int) -> datetime:
    gap = (base.weekday() - day) % 7 if sign < 0 else (day - base.weekday()) % 7
    return _midnight(base) + timedelta(days=sign * (gap or 7))


def _month_near(month: int, base: datetime, *, future: bool) -> datetime:
    when = _midnight(base).replace(month=month, day=1)
    if future and month < base.month:
        return when.replace(year=when.year + 1)
    if not future and month > base.month:
        return when.replace(year=when.year - 1)
    return when


def _year(base: datetime, year: int) -> datetime:
    return _midnight(base).replace(year=min(max(year, 1), 9999), month=1, day=1)


def _index(name: str, names: list[str]) -> int:
    return next(i for i, full in enumerate(names) if full.lower().startswith(name.lower()[:3]))


def _count(phrase: str) -> int:
    word = phrase.lower().removesuffix(" of").removeprefix("a ")
    return int(word) if word.isdigit() else NUMBERS.get(word, 1)


def _day_name(when: datetime) -> str:
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


def _weekday_name(when: datetime) -> str:
    return f"{WEEKDAYS[when.weekday()]}, {_day_name(when)}"


def _month_name(when: datetime) -> str:
    return f"{MONTHS[when.month - 1]} {when.year}"


_DAYS_ZH = {
    "大前天": -3,
    "前天": -2,
    "前晚": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "今天": 0,
    "今日": 0,
    "今早": 0,
    "今晚": 0,
    "明天": 1,
    "明早": 1,
    "明晚": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
}
_PARTS_ZH = {"昨晚": "晚上", "今早": "早上", "今晚": "晚上", "明早": "早上", "明晚": "晚上", "前晚": "晚上"}
_STEP_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS_ZH = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_UNITS_ZH = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}

_CHINESE = lazy_regex(
    r"(?P<day>大前天|大后天|前天|前晚|昨天|昨日|昨晚|今天|今日|今早|今晚|明天|明早|明晚|明日|"
    r"(?<!以)后天(?!天))(?:的)?(?P<part>早上|上午|中午|下午|晚上)?"
    r"|(?P<step>上上|下下|上|这|本|下)(?:个)?(?P<span>周末|(?:周|星期|"
    r"礼拜)(?P<weekday>[一二三四五六日]|天(?!天))?|月(?!球|亮)(?:(?P<sday>\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})[日号])?)"
    r"|(?P<year>大前年|前年|去年|今年(?!满?[0-9一二三四五六七八九十]{1,3}(?:岁|了|[，。！]|$))|明年|"
    r"后年)(?:的)?(?:(?P<ymonth>\d{1,2}|十[一二]?|"
    r"[一二三四五六七八九])月份?(?:(?P<yday>\d{1,2})[日号])?)?"
    r"|(?P<n>\d{1,3}|半|[一两二三四五六七八九十]{1,3})(?:个)?(?P<unit>天|"
    r"日|周|星期|礼拜|月|年)(?:以|之)?(?P<dir>前|后)"
    r"|(?P<ayear>(?:19|20)\d{2})年(?:(?P<amonth>\d{1,2})月份?(?:(?P<aday>\d{1,2})[日号])?)?"
    r"|(?<![农阴]历)(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份|"
    r"(?P<mday>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]|(?P<mday2>\d{1,2})(?![\d日号个天年月岁点:：%.，、]\d|"
    r"[\d个天年月岁点:：%万千百]))?"
    r"|(?<![上下这本每个])(?:周|星期|礼拜)(?P<bareday>[一二三四五六日]|天(?!天))(?![到至]|[诺鸣涵轩然帆凡宁琪瑶])"
    r"|(?:(?<!\w)|(?<![\d第])(?=[\d一二三四五六七八九十]{1,3}[日号]之?前))(?P<lone>\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})[日号]"
    r"(?=之?前|去|回|到|就|要|开始|交|还|面试|考|走|飞|出发|返|搬|上午|下午|晚上|中午|早上)"
)
_HABITUAL_ZH = lazy_regex(
    r"每|隔|只有(?=周|星期|礼拜)|(?:周|星期|礼拜)[一二三四五六日天](?:老|总|得|才|没空|固定|照常)|[课班球操琴团会](?:时间)?[^，]{0,4}(?:换|改|挪|调)(?:成|到|在)?(?=周|星期|礼拜)|通常|一般|平时|经常|常常|总是|习惯|固定|[逢都]|往常|老是|不再|"
    r"(?:周|星期|礼拜)[一二三四五六日天](?:(?:[上下]午|早上|晚上)?[、和跟与]|"
    r"[到至])?(?:周|星期|礼拜)?[一二三四五六日天](?!天)|"
    r"(?:周|星期|礼拜)[一二三四五六日天]的[^，。]{1,8}(?:停了|停掉|不[去做跑打上练]了|换成)|"
    r"(?:周|星期|礼拜)[一二三四五六日天]是(?!不是)|[我他她们都]是(?=(?:周|星期|礼拜)[一二三四五六日天])|(?:改成|改为|改到了?|都?是)(?:周|星期|礼拜)[一二三四五六日天](?:[上下]午|"
    r"早上|晚上|中午)?(?:去|做|打|跑|练|上|游|学)"
)
"""Signs that a weekday recurs: “每周二和周四”, “通常在周一”."""
_AHEAD_ZH = lazy_regex(
    r"[订定约]好了|(?:婚期|日子|时间)?定了|要|会(?!议)|将|打算|计划|准备|想|即将|马上|快[到要]|报名|[订预约]了|"
    r"预[订约定]|机票|车票|门票|的票|约好|安排|截止|到期|改成|改到|[挪推换调延]到|推迟|延期|提前|交稿|预产期"
)
_PAST_ZH = lazy_regex(r"了|过(?!年|节|生日)|刚|已经|曾|以前|当时|那年|[从自]")
_RECURS_ZH = lazy_regex(r"(?:生日|纪念日|忌日)(?:都|就|总)?(?:是|在|：|:)?$|每年(?:的)?$")
_RECURS_AFTER_ZH = lazy_regex(r"^(?:是|就是)?[^，。！？；]{0,8}(?:生日|纪念日|忌日)|^(?:出生|生的|生人)")


_QUOTED_ZH = lazy_regex(r"《[^《》]{0,80}》|〈[^〈〉]{0,80}〉|“[^“”]{0,400}”|「[^「」]{0,400}」|『[^『』]{0,400}』")
"""Titles and quotations, of which nothing is rewritten: 《八月炮火》 is no month."""


def _chinese(text: str, base: datetime) -> Iterator[DateMention]:
    text = _QUOTED_ZH.sub(lambda quoted: "\ue000" * len(quoted.group()), text)
    ahead = True if _AHEAD_ZH.search(text) else False if _PAST_ZH.search(text) else None
    habitual = _HABITUAL_ZH.search(text)
    named: datetime | None = None
    for match in _CHINESE.finditer(text):
        if match["bareday"] and habitual and habitual.start() <= match.start():
            continue
        if match["month"] and (
            _RECURS_ZH.search(text[: match.start()]) or _RECURS_AFTER_ZH.search(text[match.end() :])
        ):
            continue
        resolved = _resolve_zh(match, named or base if match["lone"] else base, ahead=ahead)
        if resolved:
            when, precision, shown = resolved
            named = when
            yield DateMention(match.start(), match.end(), when, precision, shown)


def _resolve_zh(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved | None:
    try:
        return _relative_zh(match, base) or _absolute_zh(match, base, ahead=ahead)
    except ValueError:  # 2月30日: no such day, so it stays as written
        return None


def _relative_zh(match: re.Match[str], base: datetime) -> Resolved | None:
    if match["day"]:
        when = _midnight(base) + timedelta(days=_DAYS_ZH[match["day"]])
        return when, Precision.DAY, _day_zh(when) + (match["part"] or _PARTS_ZH.get(match["day"], ""))
    if match["span"]:
        return _span_zh(match, base)
    if match["dir"]:
        sign = -1 if match["dir"] == "前" else 1
        unit = _UNITS_ZH[match["unit"]]
        if match["n"] == "半":
            return _shown_zh(_shift(base, sign * 6, "month"), "month") if unit == "year" else None
        return _shown_zh(_shift(base, sign * _count_zh(match["n"]), unit), unit)
    return None


def _span_zh(match: re.Match[str], base: datetime) -> Resolved:
    step, span, day = _STEP_ZH[match["step"]], match["span"], match["weekday"]
    monday = _midnight(base) - timedelta(days=base.weekday()) + timedelta(weeks=step)
    if day:
        when = monday + timedelta(days="一二三四五六日".index(day.replace("天", "日")))
        return when, Precision.DAY, _day_zh(when)
    if span == "周末":
        when = monday + timedelta(days=5)
        return when, Precision.WEEK, f"{_day_zh(when)}那个周末"
    unit = "month" if span.startswith("月") else "week"
    if match["sday"]:
        when = _shift(base, step, unit)[0].replace(day=_count_zh(match["sday"]))
        return when, Precision.DAY, _day_zh(when)
    return _shown_zh(_shift(base, step, unit), unit)


def _absolute_zh(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved | None:
    start = _midnight(base).replace(day=1)
    if match["year"]:
        start = start.replace(year=base.year + _YEARS_ZH[match["year"]])
        return _dated_zh(start, match["ymonth"], match["yday"])
    if match["ayear"]:
        return _dated_zh(start.replace(year=int(match["ayear"])), match["amonth"], match["aday"])
    if match["month"]:
        return _of_year_zh(match, base, ahead=ahead)
    if match["lone"]:
        return _of_month_zh(_count_zh(match["lone"]), base, ahead=ahead)
    if match["bareday"]:
        when = _weekday(base, "一二三四五六日".index(match["bareday"].replace("天", "日")), -1 if ahead is False else 1)
        return when, Precision.DAY, _day_zh(when)
    return None


def _of_month_zh(day: int, base: datetime, *, ahead: bool | None) -> Resolved:
    """Resolve a day without month: in this month, or in the next if it is over and nothing marks the past."""
    start = _midnight(base).replace(day=1)
    when = start.replace(day=day)
    if when.date() < base.date() and ahead is not False:
        when = _shift(start, 1, "month")[0].replace(day=day)
    return when, Precision.DAY, _day_zh(when)


def _of_year_zh(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved:
    """Resolve a month or day without year: the nearest one unless 了 or 要 marks the tense."""
    start = _midnight(base).replace(day=1)
    day = match["mday"] or match["mday2"]
    years = [_dated_zh(start.replace(year=base.year + step), match["month"], day) for step in (-1, 0, 1)]
    if ahead is None:
        return min(years, key=lambda dated: abs(dated[0] - start))
    soonest = start if years[0][1] is Precision.MONTH else base - JUST_PAST
    if ahead:
        return next((dated for dated in years if dated[0] >= soonest), years[-1])
    return next((dated for dated in reversed(years) if dated[0] <= base), years[0])


def _dated_zh(start: datetime, month: str | None, day: str | None) -> Resolved:
    if not month:
        return start.replace(month=1, day=1), Precision.YEAR, f"{start.year}年"
    when = start.replace(month=_count_zh(month), day=_count_zh(day) if day else 1)
    return (when, Precision.DAY, _day_zh(when)) if day else (when, Precision.MONTH, f"{when.year}年{when.month}月")


def _shown_zh(resolved: Resolved, unit: str) -> Resolved:
    when, precision, _ = resolved
    forms = {
        "day": _day_zh(when),
        "week": f"{_day_zh(when)}那一周",
        "month": f"{when.year}年{when.month}月",
        "year": f"{when.year}年",
    }
    return when, precision, forms[unit]


def _day_zh(when: datetime) -> str:
    return f"{when.year}年{when.month}月{when.day}日"


def _count_zh(phrase: str) -> int:
    if phrase.isdigit():
        return int(phrase)
    tens, _, ones = phrase.rpartition("十")
    if "十" in phrase:
        return (NUMBERS_ZH[tens] if tens else 1) * 10 + (NUMBERS_ZH[ones] if ones else 0)
    return NUMBERS_ZH[phrase[-1]]

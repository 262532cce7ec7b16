"""English date expressions, resolved against the message time.

Relative forms are read by the tables here (a microsecond each); written-out dates ("May 5th, 2026") go to dateparser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import dateparser

from core.language.calendar import (
    JUST_PAST,
    DateMention,
    Precision,
    Resolved,
    clause,
    first_of_year,
    midnight,
    month_near,
    number_of,
    shift,
    weekday,
)
from core.language.lazy_regex import lazy_regex
from core.language.parts import Dates
from core.memoize import memoized

PARSED = 2_048
"""Parsed dates cached by text and reference day: the parser takes a millisecond."""

MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SEASONS = {"winter": 1, "spring": 4, "summer": 7, "fall": 10, "autumn": 10}
NUMBERS = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
) | {"a": 1, "an": 1, "couple": 2}


_NUM = r"(?P<n>\d{1,3}|a couple(?: of)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_DAYNAMES = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_MONTHNAMES = "|".join(MONTHS)
_MONTH_SHORT = _MONTHNAMES + "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"

_DATE = lazy_regex(
    r"(?<![\w-])(?P<lead>(?:since|from|until|till|by|before|after|for|of|during|about|roughly|around|"
    r"over|on|in|at|through|"
    r"to)\s+)?(?:"
    r"(?P<day>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday(?: morning| afternoon| evening|"
    r" night)?|"
    r"last night|tonight|today|this (?:morning|afternoon|evening)|tomorrow(?: morning| afternoon| evening| night)?)"
    rf"|(?P<which>last|this past|past|this coming|coming|this|next) (?P<weekday>{_DAYNAMES})(?! best)"
    rf"|(?P<which2>last|this past|this|next) (?P<span>week(?:end)?|month|year|{'|'.join(SEASONS)})"
    rf"|(?P<which3>last|this|next) (?P<month>{_MONTHNAMES})"
    rf"|{_NUM} {_UNIT} (?P<dir>ago|back|from now|from today)(?: today)?"
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
_SUBJECT = lazy_regex(
    r"\b(?:I|we|you|he|she|it|they|there|this|that)\b|\b(?:the|my|our|his|her|their|your|a|an) \w+ \w+", re.IGNORECASE
)
"""Subjects, with which a part of a sentence is a clause of its own."""
_FUTURE_AFTER = lazy_regex(
    r"^,? (?:the |my |our )?(?!and\b|but\b|so\b|then\b|or\b)\w+(?:['’]ll| will| (?:am|is|are) going to)\b",
    re.IGNORECASE,
)
"""A clause in the future that opens with the date: "from 2 March I'll be …"."""
_RECURS = lazy_regex(
    r"\b(?:birthday|anniversary|name day)(?: always)?(?: is|['’]s| falls| comes)(?: always)?(?: on| in)?$|"
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


def find(text: str, base: datetime) -> Iterator[DateMention]:
    for match in _DATE.finditer(text):
        resolved = _resolve(match, base)
        if resolved:
            yield _date_at(match, text, *resolved)
    for match in _IN_MONTH.finditer(text):
        if _recurs(match):
            continue
        when = month_near(MONTHS.index(match["name"]) + 1, base, future=_looks_ahead(match))
        shown = f"{match['lead']} {match['bare']} {when.year}"
        yield DateMention(match.start(), match.end(), when, Precision.MONTH, shown)
    for match in _ON_DAY.finditer(text):
        future = _looks_ahead(match)
        bound = match["lead"].lower() in {"until", "till", "by"}
        if not future or bound or any(sign.search(text) for sign in (_FUTURE_HINT, _ARRANGED, _STANDS_AHEAD)):
            when = weekday(base, number_of(match["name"], WEEKDAYS), 1 if future else -1)
            shown = f"{match['lead']} {_weekday_name(when)}"
            yield DateMention(match.start(), match.end(), when, Precision.DAY, shown)
    for match in _IN_UNITS.finditer(text):
        if _FUTURE_HINT.search(text) or _STANDS_AHEAD.search(text[: match.start()].rsplit(" ", 2)[-2:][0]):
            when, precision, shown = _shifted(base, _count(match["n"]), match["unit"])
            yield DateMention(match.start(), match.end(), when, precision, shown)
    for match in _IN_YEAR.finditer(text):
        yield DateMention(
            match.start(), match.end(), first_of_year(base, int(match["year"])), Precision.YEAR, match.group()
        )


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
    days = -2 if "before" in phrase else 2 if "after tomorrow" in phrase else 0
    if not days:
        days = -1 if phrase.startswith(("yesterday", "last")) else 1 if phrase.startswith("tomorrow") else 0
    part = next((p for p in ("morning", "afternoon", "evening", "night") if p in phrase and p != "noon"), None)
    when = midnight(base) + timedelta(days=days)
    name = _day_name(when)
    return when, Precision.DAY, f"on the {part} of {name}" if part else f"on {name}"


def _named_weekday(match: re.Match[str], base: datetime) -> Resolved:
    which, day = match["which"].lower(), number_of(match["weekday"], WEEKDAYS)
    back = which in {"last", "this past", "past"}
    if which == "this":
        when = midnight(base) + timedelta(days=day - base.weekday())
    else:
        when = weekday(base, day, -1 if back else 1)
        # Of a day so near nobody says "next".
        when += timedelta(weeks=which == "next" and when - midnight(base) < timedelta(days=3))
    return when, Precision.DAY, f"on {_weekday_name(when)}"


def _span(match: re.Match[str], base: datetime) -> Resolved:
    which, span = match["which2"].lower(), match["span"].lower()
    step = {"last": -1, "this past": -1, "this": 0, "next": 1}[which]
    if span in SEASONS:
        return _season(base, span, step)
    if span == "weekend":
        saturday = midnight(base) + timedelta(days=5 - base.weekday() + 7 * (step if step >= 0 else -1))
        return saturday, Precision.WEEK, f"on the weekend of {_day_name(saturday)}"
    return _shifted(base, step, span)


def _season(base: datetime, season: str, step: int) -> Resolved:
    when = midnight(base).replace(month=SEASONS[season], day=1)
    if step < 0 and when > base - timedelta(days=60):
        when = when.replace(year=when.year - 1)
    elif step > 0 and when <= base:
        when = when.replace(year=when.year + 1)
    return when, Precision.SEASON, f"in {season} {when.year}"


def _named_month(match: re.Match[str], base: datetime) -> Resolved:
    number, which = number_of(match["month"], MONTHS) + 1, match["which3"].lower()
    when = midnight(base).replace(month=number, day=1)
    if which != "this":
        when = month_near(number, base, future=which == "next")
    return when, Precision.MONTH, f"in {_month_name(when)}"


def _ago(match: re.Match[str], base: datetime) -> Resolved:
    sign = 1 if match["dir"].lower().startswith("from") else -1
    count, unit = sign * _count(match["n"]), match["unit"].lower()
    if unit == "week" and match.group().endswith("today"):
        count, unit = 7 * count, "day"
    return _shifted(base, count, unit)


def _before_last(match: re.Match[str], base: datetime) -> Resolved:
    return _shifted(base, -2, match["unit2"])


def _shifted(base: datetime, count: int, unit: str) -> Resolved:
    when, precision = shift(base, count, unit.lower())
    shown = {
        Precision.DAY: f"on {_day_name(when)}",
        Precision.WEEK: f"in the week of {_day_name(when)}",
        Precision.MONTH: f"in {_month_name(when)}",
    }
    return when, precision, shown.get(precision, f"in {when.year}")


def _iso(match: re.Match[str], base: datetime) -> Resolved | None:
    when = _parse(match["iso"], base.date().isoformat(), future=False)
    return (when.replace(tzinfo=base.tzinfo), Precision.DAY, f"on {_day_name(when)}") if when else None


def _written_date(match: re.Match[str], base: datetime) -> Resolved | None:
    phrase = re.sub(r"^the | of\b|(?<=\d)(?:st|nd|rd|th)\b", "", match["dmy"], flags=re.IGNORECASE)
    if _recurs(match) and not _YEAR_SAID.search(phrase):
        return None
    when = _parse(phrase, base.date().isoformat(), future=_looks_ahead(match))
    is_limit = (match["lead"] or "").strip().lower() in {"until", "till", "by"}
    if when and not _YEAR_SAID.search(phrase) and not (is_limit or _FUTURE_HINT.search(match.string)):
        last = _parse(phrase, base.date().isoformat(), future=False)
        when = last if last and base.replace(tzinfo=None) - last <= JUST_PAST else when
    return (when.replace(tzinfo=base.tzinfo), Precision.DAY, f"on {_day_name(when)}") if when else None


def _month_year(match: re.Match[str], base: datetime) -> Resolved:
    name, year = re.split(r",? (?=\d)", match["my"])
    when = midnight(base).replace(year=int(year), month=number_of(name, MONTHS) + 1, day=1)
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


_CLAUSE_END = lazy_regex(
    r"[,;:]|[.!?](?= )| (?:and|but|so|because|then) (?=I\b|we\b|my\b|it\b|he\b|she\b|they\b)|[-–—] "
)


def _looks_ahead(match: re.Match[str]) -> bool:
    """Return whether the date lies ahead, by its own clause; without a sign it does: "I got it, the movers come on …".

    What is no clause of its own ("… and Carla on 3 March") is read with the rest of the sentence.
    """
    if re.match(r"(?:since|back in)\b", match["lead"] or "", re.IGNORECASE):
        return False
    text, at = match.string, match.start()
    if _FUTURE_AFTER.match(text[match.end() :]):
        return True
    start, end = clause(text, at, match.end(), _CLAUSE_END)
    sign = _sign(text[start:end], at - start)
    if sign is None and not (_SUBJECT.search(text[start:at]) or _SUBJECT.search(text[match.end() : end])):
        sign = _sign(text, at)
    return True if sign is None else sign


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


def _count(phrase: str) -> int:
    word = phrase.lower().removesuffix(" of").removeprefix("a ")
    return int(word) if word.isdigit() else NUMBERS.get(word, 1)


def _day_name(when: datetime) -> str:
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


def _weekday_name(when: datetime) -> str:
    return f"{WEEKDAYS[when.weekday()]}, {_day_name(when)}"


def _month_name(when: datetime) -> str:
    return f"{MONTHS[when.month - 1]} {when.year}"


DATES = Dates(find, _day_name)

"""German date expressions, resolved against the message time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

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

MONTHS: Final = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
WEEKDAYS: Final = "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()
NUMBERS: Final = dict(
    zip("ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), range(1, 13), strict=True), vierzehn=14
) | dict.fromkeys(("eine", "einem", "einer", "einen"), 1)
UNITS: Final = {"tag": "day", "woche": "week", "monat": "month", "jahr": "year"}
SEASONS: Final = {"winter": 1, "frühling": 4, "frühjahr": 4, "sommer": 7, "herbst": 10}

MONTH = rf"(?:{'|'.join(MONTHS)}|(?:Jan|Feb|Mär|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\b\.?)"
WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
NUMBER = rf"(?:\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
UNIT = r"(?P<unit>tag|woche|monat|jahr)(?:e[ns]?|n)?"

_DAYS = {"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2}
_STEPS = {"letzt": -1, "vorig": -1, "vergangen": -1, "dies": 0, "nächst": 1, "kommend": 1}
_DATE = lazy_regex(
    rf"(?<![\w-])(?:(?P<lead>seit|bis|ab|vor|nach|am|im|in|von|vom|zum)\s+)?(?:de[mnr]\s+)?(?:"
    r"(?P<day>vorgestern|gestern|heute|(?<!Guten )(?<!guten )(?-i:morgen)|übermorgen)"
    r"(?P<part> (?:früh|(?-i:Morgen|Vormittag|Mittag|Nachmittag|Abend)))?"
    rf"|(?P<which>{'|'.join(_STEPS)})e[mnrs]?\s+(?P<span>Wochenendes?|Woche|Monats?|Jahre?s?|"
    rf"{'|'.join(SEASONS)}|{WEEKDAY}|{MONTH})"
    rf"|(?:(?<=vor )|(?<=in ))(?P<n>{NUMBER})\s+{UNIT}"
    rf"|(?:{WEEKDAY},?\s+(?:de[mn]\s+)?)?(?P<mday>\d{{1,2}})\.\s*(?P<month>{MONTH})(?:\s+(?P<year>\d{{4}}))?"
    r"|(?P<mday2>\d{1,2})\.\s?(?P<month2>\d{1,2})\.\s?(?P<year2>\d{4})"
    r"|(?P<iso>\d{4}-\d{2}-\d{2})"
    rf"|(?<=am )(?P<weekday>{WEEKDAY})"
    rf"|(?P<month3>{MONTH})\s+(?P<year3>\d{{4}})"
    rf"|(?:(?<=im )|(?<=seit )|(?<=ab )|(?<=bis ))(?P<month4>{MONTH})"
    r"|(?:(?<=im )Jahre? |(?<=seit )|(?<=bis )|(?<=ab ))(?P<year4>(?:19|20)\d\d)"
    r")(?![\w-])",
    re.IGNORECASE,
)
_PAST = lazy_regex(
    r"\b(?:war|waren|hatten?|wurden?|ging|kam|kaufte|machte|ge[a-zäöü]{3,}(?:t|en)|"
    r"(?:habe?|hast|hat|haben|habt)\b.{0,80}\b[a-zäöü]+iert|"
    r"(?:an|auf|aus|ein|ab|mit|um|vor|zu)ge[a-zäöü]{3,}(?:t|en))\b"
)
_CLAUSE_END: Final = lazy_regex(r"[,;!?]|(?<=[a-zäöüß])\.(?= [A-ZÄÖÜ])| und (?=\w)| aber ")
_OWN: Final = lazy_regex(
    r"^\s*(?!(?:am|im|in|mit|bei|nach|auf|um|zu|von|für|aus|an|und|oder)\b)[a-zäöü]|\b(?i:ich|wir|du|ihr|er|sie|es|man)\b|"
    r"\b(?i:das|der|die|den|mein\w*|unser\w*|sein\w*|ihr\w*) \w+ \w+"
)
"""Signs that a part of a sentence is a clause of its own: it opens with a verb, or has a subject."""
_AHEAD = lazy_regex(r"\b(?:werden?|wird|wirst|will|wollen|möchten?|planen?|plant|bald|demnächst)\b", re.IGNORECASE)
_RECURS = lazy_regex(r"\b(?:Geburtstag|Jahrestag|Namenstag|geboren|jedes Jahr)\b")

_ARTICLES = {Precision.DAY: "dem ", Precision.WEEK: "der Woche vom "}
_ALONE = {
    Precision.DAY: "am ",
    Precision.WEEK: "in der Woche vom ",
    Precision.MONTH: "im ",
    Precision.SEASON: "im ",
    Precision.YEAR: "im Jahr ",
}


def find(text: str, base: datetime) -> Iterator[DateMention]:
    """Yield the dates in a text, those without a year in the future unless a verb of their clause is in the past."""
    recurs = bool(_RECURS.search(text))
    for match in _DATE.finditer(text):
        start, end = clause(text, match.start(), match.end(), _CLAUSE_END)
        beside = text[start : match.start()], text[match.end() : end]
        clause_text = text[start:end] if any(map(_OWN.search, beside)) else text
        ahead = bool(_AHEAD.search(clause_text)) or not (_PAST.search(clause_text) or _since(match))
        try:
            resolved = _relative(match, base) or _absolute(match, base, ahead=ahead, recurs=recurs)
        except ValueError:  # 30. Februar: no such day, so it stays as written
            continue
        if resolved:
            when, precision, name = resolved
            shown = _with_lead((match["lead"] or "").lower(), precision, name)
            shown = shown[0].upper() + shown[1:] if match.start() == 0 else shown
            yield DateMention(match.start(), match.end(), when, precision, shown)


def _since(match: re.Match[str]) -> bool:
    return (match["lead"] or "").lower() == "seit"


def _relative(match: re.Match[str], base: datetime) -> Resolved | None:
    """Return a date by its distance from the message, its precision, and its name without a preposition."""
    if match["day"]:
        when = midnight(base) + timedelta(days=_DAYS[match["day"].lower()])
        part = (match["part"] or "").strip().replace("früh", "Morgen")
        return when, Precision.DAY, f"{part} des {_day(when)}" if part else _day(when)
    if match["which"]:
        return _span(match["span"], _STEPS[match["which"].lower()], base)
    if match["n"]:
        sign = -1 if (match["lead"] or "").lower() == "vor" else 1
        return _named(*shift(base, sign * _count(match["n"]), UNITS[match["unit"].lower()]))
    return None


def _absolute(match: re.Match[str], base: datetime, *, ahead: bool, recurs: bool) -> Resolved | None:
    today = midnight(base)
    if match["iso"]:
        return _named(datetime.fromisoformat(match["iso"]).replace(tzinfo=base.tzinfo), Precision.DAY)
    if match["mday2"]:
        day, month, year = int(match["mday2"]), int(match["month2"]), int(match["year2"])
        return _named(today.replace(year=year, month=month, day=day), Precision.DAY)
    if match["weekday"]:
        return _weekday(weekday(base, number_of(match["weekday"], WEEKDAYS), 1 if ahead else -1))
    if match["year4"]:
        return _named(first_of_year(base, int(match["year4"])), Precision.YEAR)
    return None if recurs and not (match["year"] or match["year3"]) else _of_month(match, base, ahead=ahead)


def _of_month(match: re.Match[str], base: datetime, *, ahead: bool) -> Resolved:
    month = number_of(match["month"] or match["month3"] or match["month4"], MONTHS) + 1
    year, day = match["year"] or match["year3"], match["mday"]
    start = midnight(base).replace(day=1, month=month)
    if not day:
        return _named(start.replace(year=int(year)) if year else month_near(month, base, future=ahead), Precision.MONTH)
    if year:
        return _named(start.replace(year=int(year), day=int(day)), Precision.DAY)
    when = start.replace(day=int(day))
    if ahead and when < base - JUST_PAST:
        when = when.replace(year=when.year + 1)
    elif not ahead and when > base:
        when = when.replace(year=when.year - 1)
    return _named(when, Precision.DAY)


def _span(span: str, step: int, base: datetime) -> Resolved:
    """Return the week, weekend, month, season, year or weekday before, of or after the present one."""
    name = span.lower()
    unit = next((unit for word, unit in UNITS.items() if name.startswith(word)), None)
    if name.startswith("wochenende"):
        saturday = midnight(base) + timedelta(days=5 - base.weekday() + 7 * step)
        return saturday, Precision.WEEK, _day(saturday)
    if unit:
        return _named(*shift(base, step, unit))
    if name in SEASONS:
        when = midnight(base).replace(month=SEASONS[name], day=1)
        years = -1 if step < 0 and when > base - timedelta(days=60) else int(step > 0 and when <= base)
        when = when.replace(year=when.year + years)
        return when, Precision.SEASON, f"{span} {when.year}"
    if span.capitalize() in WEEKDAYS:
        day = number_of(span, WEEKDAYS)
        return _weekday(weekday(base, day, step) if step else midnight(base) + timedelta(days=day - base.weekday()))
    month = number_of(span, MONTHS) + 1
    this = midnight(base).replace(month=month, day=1)
    return _named(month_near(month, base, future=step > 0) if step else this, Precision.MONTH)


def _named(when: datetime, precision: Precision) -> Resolved:
    names = {Precision.MONTH: f"{MONTHS[when.month - 1]} {when.year}", Precision.YEAR: str(when.year)}
    return when, precision, names.get(precision, _day(when))


def _weekday(when: datetime) -> Resolved:
    return when, Precision.DAY, f"{WEEKDAYS[when.weekday()]}, {_day(when)}"


def _with_lead(lead: str, precision: Precision, name: str) -> str:
    """Return a date with its preposition: "am 3. März 2026", "seit der Woche vom 4. Mai 2026"."""
    if lead not in {"seit", "bis", "ab", "nach", "von"}:
        return f"{_ALONE[precision]}{name}"
    article = _ARTICLES.get(precision, "")
    if lead == "bis" and article:
        return f"bis {'zum ' if precision is Precision.DAY else 'zur Woche vom '}{name}"
    return f"{lead} {article}{name}"


def _count(number: str) -> int:
    return int(number) if number.isdigit() else NUMBERS[number.lower()]


def _day(when: datetime) -> str:
    return f"{when.day}. {MONTHS[when.month - 1]} {when.year}"


DATES: Final = Dates(find, _day)

"""English times in questions. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.en.dates import MONTHS, NUMBERS, WEEKDAYS
from core.language.parts import TimeSpans

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
_VAGUE = {"couple": (2.0, 0.4), "the": (1.0, 0.0)}
_VAGUE |= dict.fromkeys(("few", "several"), (3.0, 0.6)) | dict.fromkeys(("half", "half a"), (0.5, 0.5))
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
}
"""Days that recur on the same date every year; movable feasts are not among them."""


def _form(regex: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){regex}(?!\w)", re.IGNORECASE)


def _count(phrase: str) -> tuple[float, float]:
    """Return a number and its relative error: "a few" are 3, or 5."""
    quantity = re.sub(r"\s+", " ", phrase.lower()).removesuffix(" of").removeprefix("a ")
    if quantity in _VAGUE:
        return _VAGUE[quantity]
    return float(quantity if quantity.isdigit() else NUMBERS.get(quantity, 0)), 0.0


TIME_SPANS: Final = TimeSpans(
    forms=(
        (_form(rf"(?P<what>{_N}\s+{_UNIT}\s+(?:ago|back))"), "ago"),
        (
            _form(
                rf"(?P<what>(?:(?:past|previous)|last(?=\s+\S+\s+(?:of\s+)?{_UNIT_ONLY}))\s+(?:{_N}\s+)?{_UNIT})",
            ),
            "past",
        ),
        (_form(rf"(?P<what>{_N}\s+{_WEEKDAY}s?\s+ago)(?P<on>)"), "weekday"),
        (_form(rf"(?P<what>{_WEEKDAY}\s+before\s+last)(?P<on>)(?P<n>)"), "weekday"),
        (_form(rf"(?P<on>on|this\s+past)\s+(?P<what>{_WEEKDAY})(?P<n>)"), "weekday"),
        (_form(rf"(?P<what>{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR}?)"), "date"),
        (_form(rf"(?P<what>(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}{_YEAR}?)"), "date"),
        (_form(r"(?P<what>(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d))"), "date"),
        (_form(rf"(?P<what>{_MONTH}{_YEAR})"), "date"),
        (
            _form(
                rf"(?:{_BEFORE_MONTH})[\s-]+(?P<what>{_MONTH})(?P<year>)(?!\s+(?:i|we|you|he|she|they|it|be)\b)",
            ),
            "date",
        ),
        (_form(rf"(?P<what>(?P<feast>{'|'.join(_FEASTS)}){_YEAR}?)"), "feast"),
    ),
    days={"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25},
    count=_count,
    months=MONTHS,
    weekdays=WEEKDAYS,
    feasts=_FEASTS,
    yearless=re.compile(rf"(?!.*\d{{4}})(?=.*\b(?:{'|'.join(MONTHS)})\b)", re.IGNORECASE),
    lead=re.compile(
        r"(?:(?:since|from|until|till|by|before|after|for|of|during|about|roughly|around|over|on|in|at|through|to|back)"
        r"\s+)+(?=\S)",
        re.IGNORECASE,
    ),
    opens=re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE),
    links=re.compile(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the\s+)?", re.IGNORECASE),
    before=re.compile(
        rf"(?:(?:(?<!\w){_N}\s+{_UNIT}\s+)?(?:(?P<back>before|until|till|by|prior\s+to)|since|after|following))\s+"
        r"(?:the\s+)?$",
        re.IGNORECASE,
    ),
    behind=None,
)

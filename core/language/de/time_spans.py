"""German times in questions. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.de.dates import MONTH, MONTHS, NUMBER, NUMBERS, UNIT, WEEKDAY, WEEKDAYS
from core.language.parts import TimeSpans

_N = rf"(?P<n>ein\s+paar|einigen|mehreren|(?:einem|einer)\s+halben|{NUMBER})"
_YEAR = r"(?:\s+(?P<year>(?:19|20)\d\d))"
_VAGUE = dict.fromkeys(("ein paar", "einigen", "mehreren"), (3.0, 0.6))
_VAGUE |= dict.fromkeys(("einem halben", "einer halben"), (0.5, 0.5))
_FEASTS = {
    "neujahr": (1, 1),
    "valentinstag": (2, 14),
    "tag der deutschen einheit": (10, 3),
    "halloween": (10, 31),
    "nikolaus": (12, 6),
    "heiligabend": (12, 24),
    "weihnachten": (12, 25),
    "silvester": (12, 31),
}
"""Days that recur on the same date every year; movable feasts are not among them."""


def _form(regex: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){regex}(?!\w)", re.IGNORECASE)


def _count(phrase: str) -> tuple[float, float]:
    """Return a number and its relative error: "ein paar" are 3, or 5."""
    quantity = re.sub(r"\s+", " ", phrase.lower())
    if quantity in _VAGUE:
        return _VAGUE[quantity]
    return float(quantity if quantity.isdigit() else NUMBERS.get(quantity, 0)), 0.0


TIME_SPANS: Final = TimeSpans(
    forms=(
        (_form(rf"(?P<what>vor\s+{_N}\s+{UNIT})"), "ago"),
        (_form(rf"(?P<what>(?:letzten|vergangenen)\s+{_N}\s+{UNIT})"), "past"),
        (_form(rf"(?P<what>vor\s+{_N}\s+(?P<weekday>{WEEKDAY})e?n?)(?P<on>)"), "weekday"),
        (_form(rf"(?P<on>am(?:\s+(?:letzten|vergangenen))?)\s+(?P<what>(?P<weekday>{WEEKDAY}))(?P<n>)"), "weekday"),
        (_form(rf"(?P<what>(?P<day>\d{{1,2}})\.\s*(?P<month>{MONTH}){_YEAR}?)"), "date"),
        (_form(r"(?P<what>(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d))"), "date"),
        (_form(r"(?P<what>(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d))"), "date"),
        (_form(rf"(?P<what>(?P<month>{MONTH}){_YEAR})"), "date"),
        (
            _form(
                rf"(?:im|seit|bis|vor|nach|ab|zwischen|und|Anfang|Mitte|Ende)\s+(?P<what>(?P<month>{MONTH}))(?P<year>)"
            ),
            "date",
        ),
        (_form(rf"(?P<what>(?P<feast>{'|'.join(_FEASTS)}){_YEAR}?)"), "feast"),
    ),
    days={"tag": 1.0, "woche": 7.0, "monat": 30.4, "jahr": 365.25},
    count=_count,
    months=MONTHS,
    weekdays=WEEKDAYS,
    feasts=_FEASTS,
    yearless=re.compile(rf"(?!.*\d{{4}})(?=.*\b{MONTH})", re.IGNORECASE),
    lead=re.compile(r"(?:(?:seit|bis|ab|vor|nach|am|im|in|von|vom|zum|de[mnr])\s+)+(?=\S)", re.IGNORECASE),
    opens=re.compile(r"\b(?:zwischen|vo[nm])\s+(?:dem\s+)?$", re.IGNORECASE),
    links=re.compile(r"\s*(?:und|bis|-|–)\s*(?:(?:zum|dem)\s+)?", re.IGNORECASE),
    before=re.compile(
        rf"(?:(?<!\w){_N}\s+{UNIT}\s+)?(?:(?P<back>vor|bis)|seit|nach|ab)\s+(?:(?:zum?|dem)\s+)?$", re.IGNORECASE
    ),
    behind=None,
)

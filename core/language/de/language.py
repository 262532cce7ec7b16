"""German, as `core.language.language.Language` asks of it: sentences, dates and questions."""

from __future__ import annotations

import re

from core.language.de.dates import DATES
from core.language.de.people import PEOPLE
from core.language.de.questions import QUESTIONS
from core.language.de.recognition import is_german
from core.language.de.screening import SCREENING
from core.language.de.time_spans import TIME_SPANS
from core.language.language import Language
from core.language.lazy_regex import lazy_regex

_ABBREVIATIONS = frozenset(
    "bzw ca d.h evtl ggf hr fr i.d.r inkl max mind nr o.ä s.o sog str tel u.a usw v.a vgl z.b z.t zzgl".split()
)
_UNENDED = lazy_regex(
    r"(?<!\bI )\b(?:am|vom|zum|dem|den|der|bis|ab|seit)\s+\d{1,2}\.$|(?<=\s)(?:z|d)\.$|\b(?:z\. [BT]|d\. h)\.$"
)
"""A day ("am 12."), and abbreviations of two words ("z. B.")."""

GERMAN = Language(
    code="de",
    is_of=is_german,
    abbreviations=_ABBREVIATIONS,
    unended=_UNENDED,
    dates=DATES,
    questions=QUESTIONS,
    time_spans=TIME_SPANS,
    people=PEOPLE,
    screening=SCREENING,
    joins=lazy_regex(r"\b(?:und|aber|doch|weil|denn|obwohl|deshalb)\b", re.IGNORECASE),
)

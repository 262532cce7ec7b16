"""German forms of questions and answers. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.de.dates import UNIT, WEEKDAYS
from core.language.parts import Questions

_SAID = (
    r"(?:gesagt|erzählt|empfohlen|vorgeschlagen|erwähnt|genannt|aufgelistet|erklärt|beschrieben|geraten|geschrieben|"
    r"gezeigt|geholfen)"
)

QUESTIONS: Final = Questions(
    several=re.compile(
        r"\bwelche (?:[\w-]+ )?[\w-]+\b|\bwas für\b|\bwie (?:viele|oft)\b|\b(?:beide|gemeinsam|insgesamt|alles)\b",
        re.IGNORECASE,
    ),
    told_me=re.compile(
        rf"\b(?:hast|hattest) du (?:[\w-]+ ){{0,5}}{_SAID}\b|\bdu (?:[\w-]+ ){{0,5}}{_SAID} (?:hast|hattest)\b|"
        r"\bunsere?[mnrs]? (?:\w+ )?(?:gespräch|unterhaltung|chat)\w*\b|\bwie du sagtest\b",
        re.IGNORECASE,
    ),
    remind=re.compile(r"\berinnere? mich\b", re.IGNORECASE),
    to_me=re.compile(r"\b(?:sage?|zeige?|gib|hilf|erzähle?) mir\b", re.IGNORECASE),
    of_me=re.compile(r"\b(?:ich|mich|mir|meine?[mnrs]?|wir|unsere?[mnrs]?)\b", re.IGNORECASE),
    asks_time=re.compile(r"\b(?:wann|wie lange|welche[mnrs]? (?:jahr|monat|tag|datum|woche))\b", re.IGNORECASE),
    tells_time=re.compile(
        rf"\b(?:(?:vor)?gestern|heute|übermorgen|(?:letzte|vorige|nächste|vergangene)[mnrs]? {UNIT}|vor \w+ tagen|"
        rf"{'|'.join(WEEKDAYS)}|januar|februar|märz|juni|juli|oktober|dezember)\b",
        re.IGNORECASE,
    ),
)

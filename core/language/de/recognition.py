"""Which texts are German, by their small words."""

from __future__ import annotations

import re

LEAST = 2
"""Small words from which a text is German, if it has fewer of English."""

READ = 2_000
"""Characters of a text that are read."""

_GERMAN = re.compile(
    r"\b(?:ich|und|nicht|ist|das|den|dem|eine[mnrs]?|mein(?:e[mnrs]?)?|dein(?:e[mnrs]?)?|wir|mit|auf|für|zum|zur|im|bei|"
    r"nach|aus|auch|aber|oder|wenn|wie|wer|wann|wo|wohin|woher|warum|welche[mnrs]?|habe|haben|hatte|hast|sind|bist|wurde|"
    r"wird|werde|gestern|vorgestern|heute|letzte[mnrs]?|woche|monat|jahr|seit|vor|schon|noch|sehr|gern|wohn(?:e|t)|"
    r"arbeite[tn]?|heißt?|über|mich|dich|mir|uns|unser(?:e[mnrs]?)?|vom|kein(?:e[mnrs]?)?)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:the|an?|and|or|of|to|on|at|for|with|from|is|are|were|been|have|has|had|do|does|did|i|my|me|you|your|he|she|"
    r"it|we|they|this|that|not|what|when|where|who|which|how|why)\b",
    re.IGNORECASE,
)


def is_german(text: str) -> bool:
    """Return whether a text has small words of German, and fewer of English."""
    text = text[:READ]
    german = _GERMAN.findall(text)
    return len(german) >= LEAST and len(german) > len(_ENGLISH.findall(text))

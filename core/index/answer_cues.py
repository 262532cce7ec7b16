"""Text features stored per row: statements, names, dates, questions."""

from __future__ import annotations

import re

from core.language import languages
from core.language.lazy_regex import either
from core.language.terms import terms

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_QUESTION = ("?", "？")
_FORMS = [language.questions for language in languages.ALL if language.questions]
_TELLS_TIME = either(forms.tells_time for forms in _FORMS)
_ASKS_TIME = either(forms.asks_time for forms in _FORMS)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def count_stated_terms(text: str) -> int:
    """Return the number of terms outside questions."""
    return sum(len(terms(part)) for part in _SENTENCE.findall(text) if not part.rstrip().endswith(_QUESTION))


def has_question(text: str) -> bool:
    """Return whether `text` asks something, which the next message may answer."""
    return any(mark in text for mark in _QUESTION)


def count_names(text: str) -> int:
    """Return the number of names: capitalised words that do not begin a sentence; some scripts show none."""
    return len(_NAME.findall(text))


def tells_time(text: str) -> bool:
    """Return whether `text` names a time: a date, a weekday, "last week"."""
    return _TELLS_TIME.search(text) is not None


def asks_time(question: str) -> bool:
    """Return whether `question` asks for a time."""
    return _ASKS_TIME.search(question) is not None

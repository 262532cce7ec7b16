"""Text features stored per row: statements, names, dates, questions."""

from __future__ import annotations

import re

from core.language.terms import terms

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_QUESTION = ("?", "？")
_TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|week|weekend|months?|years?|morning"
    r"|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:19|20)\d\d\b|\b\d+ days\b"
    r"|[昨今明前后]天|[昨今明]晚|今早|上周|下周|上个月|下个月|[去今明前]年|星期|礼拜|周[一二三四五六日末]|最近|以前"
    r"|\d+\s*[年月日号]|[一二三四五六七八九十][月日号]|[〇零一二三四五六七八九]{2,4}年"
    r"|[\d几半两一二三四五六七八九十]个?(?:天|周|星期|月|年)[以之]?前",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_ASKS_TIME = re.compile(
    r"\b(?:when|how long|how recently|(?:what|which) (?:year|month|day|date|time))\b"
    r"|什么时候|何时|多久|哪[一]?[天年]|[哪几]个?月|几[号点年]",
    re.IGNORECASE,
)


def count_stated_terms(text: str) -> int:
    """Return the number of terms outside questions."""
    return sum(len(terms(part)) for part in _SENTENCE.findall(text) if not part.rstrip().endswith(_QUESTION))


def has_question(text: str) -> bool:
    """Return whether `text` asks something, which the next message may answer."""
    return any(mark in text for mark in _QUESTION)


def count_names(text: str) -> int:
    """Return the number of names: capitalised words that do not begin a sentence. Chinese shows none."""
    return len(_NAME.findall(text))


def tells_time(text: str) -> bool:
    """Return whether `text` names a time: a date, a weekday, "last week", 昨天."""
    return _TELLS_TIME.search(text) is not None


def asks_time(question: str) -> bool:
    """Return whether `question` asks for a time."""
    return _ASKS_TIME.search(question) is not None

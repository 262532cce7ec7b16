"""Hours of the day named in a text, in English and Chinese. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final


def hours(text: str) -> frozenset[int]:
    """Return the hours (0 to 23) that a text names: "at 7 pm", "19:30", "noon", 晚上七点半."""
    return frozenset(hour for hour in (*_english(text), *_chinese(text)) if 0 <= hour < _DAY)


def _english(text: str) -> Iterator[int]:
    for match in _TWELVE.finditer(text):
        yield int(match["hour"]) % _HALF + (_HALF if match["half"].lower() == "p" else 0)
    for match in _CLOCK.finditer(text):
        yield int(match["hour"])
    for match in _OCLOCK.finditer(text):
        named = match["hour"].lower()
        hour = _WORDS.index(named) + 1 if named in _WORDS else int(named)
        late = match["part"] in {"afternoon", "evening"} or match[0].endswith("at night")
        yield hour % _HALF + _HALF if late else hour
    for match in _NAMED.finditer(text):
        yield _HALF if match[0].lower() == "noon" else 0


def _chinese(text: str) -> Iterator[int]:
    for match in _ZH.finditer(text):
        hour, part = _number(match["hour"]), match["part"] or ""
        if hour == 1 and not part and not match["sure"]:
            continue  # 一点 also means "a little".
        if part in _NIGHT and hour == _HALF:
            yield 0
        elif (part in _LATE and hour < _HALF) or (part == "中午" and hour <= _AFTER_NOON):
            yield hour + _HALF
        else:
            yield hour


def _number(written: str) -> int:
    if written.isdigit():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return _DIGITS.index(tens) if len(tens) == 1 else -1
    return (_DIGITS.index(tens) if tens else 1) * 10 + (_DIGITS.index(ones) if ones else 0)


_DAY: Final = 24
_HALF: Final = 12
_AFTER_NOON: Final = 2

_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve".split()

_DIGITS: Final = "〇一二三四五六七八九"

_LATE: Final = frozenset({"下午", "傍晚", "晚上", "夜里", "今晚"})
_NIGHT: Final = frozenset({"晚上", "夜里", "半夜", "凌晨"})

_TWELVE = re.compile(r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])(?::[0-5]\d)?\s?(?P<half>[ap])\.?m\b\.?", re.IGNORECASE)

_CLOCK = re.compile(r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):[0-5]\d(?![\d:])(?!\s?[ap]\.?m\b)", re.IGNORECASE)

_OCLOCK = re.compile(
    rf"\b(?P<hour>1[0-2]|[1-9]|{'|'.join(_WORDS)}) o['’]clock"
    r"(?: in the (?P<part>morning|afternoon|evening)| at night)?",
    re.IGNORECASE,
)

_NAMED = re.compile(r"\b(?:noon|midnight)\b", re.IGNORECASE)

_ZH = re.compile(
    r"(?P<part>凌晨|半夜|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里|今晚)?(?P<hour>\d{1,2}|[一二三四五六七八九]?十?[一二三四五六七八九]?)"
    r"(?<=[\d一二三四五六七八九十])点(?P<sure>半|钟|整|一刻|\d{1,2}分?)?(?![儿%])"
)

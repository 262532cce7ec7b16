"""Hours of the day in Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HALF: Final = 12
_AFTER_NOON: Final = 2

_DIGITS: Final = "〇一二三四五六七八九"

_LATE: Final = frozenset({"下午", "傍晚", "晚上", "夜里", "今晚"})
_NIGHT: Final = frozenset({"晚上", "夜里", "半夜", "凌晨"})

_HOUR = re.compile(
    r"(?P<part>凌晨|半夜|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里|今晚)?(?P<hour>\d{1,2}|[一二三四五六七八九]?十?[一二三四五六七八九]?)"
    r"(?<=[\d一二三四五六七八九十])点(?P<sure>半|钟|整|一刻|\d{1,2}分?)?(?![儿%])"
)


def hours(text: str) -> Iterator[int]:
    """Yield the hours that a text names: 晚上七点半."""
    for match in _HOUR.finditer(text):
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

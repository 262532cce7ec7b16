"""Chinese times in questions. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import TimeSpans
from core.language.zh.dates import NUMBERS

_N = r"(?<!\d)(?P<n>\d{1,3}|[半几一两二三四五六七八九十]{1,3})"
_UNIT = r"(?P<unit>天|日|周|星期|礼拜|(?<=个)月|年)"  # 五月 is May, 五个月 are five months
_YEAR = r"(?:(?P<year>(?:19|20)\d\d)年)?"
_MONTH = r"(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
_WEEKDAY = r"(?:的?(?:周|星期|礼拜)[一二三四五六日天])?"
_VAGUE = {"几": (3.0, 0.6), "半": (0.5, 0.5)}
_FEASTS = {
    "元旦": (1, 1),
    "情人节": (2, 14),
    "劳动节": (5, 1),
    "五一": (5, 1),
    "国庆节": (10, 1),
    "国庆": (10, 1),
    "平安夜": (12, 24),
    "圣诞节": (12, 25),
    "圣诞": (12, 25),
}
"""Days that recur on the same date every year; movable feasts are not among them."""


def _count(numeral: str) -> tuple[float, float]:
    """Return a number and its relative error: 几 are 3, or 5."""
    if numeral in _VAGUE:
        return _VAGUE[numeral]
    if numeral.isdigit():
        return float(numeral), 0.0
    tens, ten, ones = numeral.rpartition("十")
    return float((NUMBERS.get(tens, 1) * 10 if ten else 0) + (NUMBERS.get(ones, 0) if ones else 0)), 0.0


TIME_SPANS: Final = TimeSpans(
    forms=(
        (re.compile(rf"(?P<what>{_N}多?个?{_UNIT}(?:以|之)?前{_WEEKDAY})"), "ago"),
        (re.compile(rf"(?P<what>{_YEAR}{_MONTH})(?=(?:以|之)前)"), "date"),
        (re.compile(rf"(?P<what>(?:过去|最近|近|前|这)的?{_N}个?{_UNIT})"), "past"),
        (re.compile(rf"(?P<what>{_YEAR}(?P<feast>{'|'.join(_FEASTS)}))"), "feast"),
    ),
    days={"天": 1.0, "日": 1.0, "周": 7.0, "星期": 7.0, "礼拜": 7.0, "月": 30.4, "年": 365.25},
    count=_count,
    months=(),
    weekdays=(),
    feasts=_FEASTS,
    yearless=re.compile(r"(?!.*\d{4})(?=.*月\s*\d{1,2})"),
    lead=None,
    opens=re.compile(r"[从自]$"),
    links=re.compile(r"\s*(?:to|-|–|到|至|和)\s*"),
    before=re.compile(r"(?P<back>(?!))|自从?$"),
    behind=re.compile(r"(?P<back>(?:以|之)前)|(?:以|之)[来后]"),
)

"""Chinese date expressions, resolved against the message time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from core.language.calendar import JUST_PAST, DateMention, Precision, Resolved, clause, midnight, shift, weekday
from core.language.lazy_regex import lazy_regex
from core.language.parts import Dates

NUMBERS = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0}


_DAYS = {
    "大前天": -3,
    "前天": -2,
    "前晚": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "今天": 0,
    "今日": 0,
    "今早": 0,
    "今晚": 0,
    "明天": 1,
    "明早": 1,
    "明晚": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
}


_PARTS = {"昨晚": "晚上", "今早": "早上", "今晚": "晚上", "明早": "早上", "明晚": "晚上", "前晚": "晚上"}


_STEP = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}


_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}


_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}


_DATE = lazy_regex(
    r"(?P<day>大前天|大后天|前天|前晚|昨天|昨日|昨晚|今天|今日|今早|今晚|明天|明早|明晚|明日|"
    r"(?<!以)后天(?!天))(?:的)?(?P<part>早上|上午|中午|下午|晚上)?"
    r"|(?P<step>上上|下下|上|这|本|下)(?:个)?(?P<span>周末|(?:周|星期|"
    r"礼拜)(?P<weekday>[一二三四五六日]|天(?!天))?|月(?!球|亮)(?:(?P<sday>\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})[日号])?)"
    r"|(?P<year>大前年|前年|去年|今年(?!满?[0-9一二三四五六七八九十]{1,3}(?:岁|了|[，。！]|$))|明年|"
    r"后年)(?:的)?(?:(?P<ymonth>\d{1,2}|十[一二]?|"
    r"[一二三四五六七八九])月份?(?:(?P<yday>\d{1,2})[日号])?)?"
    r"|(?P<n>\d{1,3}|半|[一两二三四五六七八九十]{1,3})(?:个)?(?P<unit>天|"
    r"日|周|星期|礼拜|月|年)(?:以|之)?(?P<dir>前|后)"
    r"|(?P<ayear>(?:19|20)\d{2})年(?:(?P<amonth>\d{1,2})月份?(?:(?P<aday>\d{1,2})[日号])?)?"
    r"|(?<![农阴]历)(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份|"
    r"(?P<mday>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]|(?P<mday2>\d{1,2})(?![\d日号个天年月岁点:：%.，、]\d|"
    r"[\d个天年月岁点:：%万千百]))?"
    r"|(?<![上下这本每个])(?:周|星期|礼拜)(?P<bareday>[一二三四五六日]|天(?!天))(?![到至]|[诺鸣涵轩然帆凡宁琪瑶])"
    r"|(?:(?<!\w)|(?<![\d第])(?=[\d一二三四五六七八九十]{1,3}[日号]之?前))(?P<lone>\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})[日号]"
    r"(?=之?前|去|回|到|就|要|开始|交|还|面试|考|走|飞|出发|返|搬|上午|下午|晚上|中午|早上)"
)


_HABITUAL = lazy_regex(
    r"每|隔|只有(?=周|星期|礼拜)|(?:周|星期|礼拜)[一二三四五六日天](?:老|总|得|才|没空|固定|照常)|[课班球操琴团会](?:时间)?[^，]{0,4}(?:换|改|挪|调)(?:成|到|在)?(?=周|星期|礼拜)|通常|一般|平时|经常|常常|总是|习惯|固定|[逢都]|往常|老是|不再|"
    r"(?:周|星期|礼拜)[一二三四五六日天](?:(?:[上下]午|早上|晚上)?[、和跟与]|"
    r"[到至])?(?:周|星期|礼拜)?[一二三四五六日天](?!天)|"
    r"(?:周|星期|礼拜)[一二三四五六日天]的[^，。]{1,8}(?:停了|停掉|不[去做跑打上练]了|换成)|"
    r"(?:周|星期|礼拜)[一二三四五六日天]是(?!不是)|[我他她们都]是(?=(?:周|星期|礼拜)[一二三四五六日天])|(?:改成|改为|改到了?|都?是)(?:周|星期|礼拜)[一二三四五六日天](?:[上下]午|"
    r"早上|晚上|中午)?(?:去|做|打|跑|练|上|游|学)"
)
"""Signs that a weekday recurs: “每周二和周四”, “通常在周一”."""


_AHEAD = lazy_regex(
    r"[订定约]好了|(?:婚期|日子|时间)?定了|要|会(?!议)|将|打算|计划|准备|想|即将|马上|快[到要]|报名|[订预约]了|"
    r"预[订约定]|机票|车票|门票|的票|约好|安排|截止|到期|改成|改到|[挪推换调延]到|推迟|延期|提前|交稿|预产期"
)


_CLAUSE_END = lazy_regex(r"[，。！？；]")


_PAST = lazy_regex(r"了|过(?!年|节|生日|去(?!了))|[做去来买结生办动开拿见]的|刚|已经|曾|以前|当时|那年|[从自]")


_RECURS = lazy_regex(r"(?:生日|纪念日|忌日)(?:都|就|总)?(?:是|在|：|:)?$|每年(?:的)?$")


_RECURS_AFTER = lazy_regex(r"^(?:是|就是)?[^，。！？；]{0,8}(?:生日|纪念日|忌日)|^(?:出生|生的|生人)")


_QUOTED = lazy_regex(r"《[^《》]{0,80}》|〈[^〈〉]{0,80}〉|“[^“”]{0,400}”|「[^「」]{0,400}」|『[^『』]{0,400}』")
"""Titles and quotations, of which nothing is rewritten: 《八月炮火》 is no month."""


def find(text: str, base: datetime) -> Iterator[DateMention]:
    text = _QUOTED.sub(lambda quoted: "\ue000" * len(quoted.group()), text)
    habitual = _HABITUAL.search(text)
    named: datetime | None = None
    for match in _DATE.finditer(text):
        if match["bareday"] and habitual and habitual.start() <= match.start():
            continue
        if match["month"] and (_RECURS.search(text[: match.start()]) or _RECURS_AFTER.search(text[match.end() :])):
            continue
        start, end = clause(text, match.start(), match.end(), _CLAUSE_END)
        clause_text = text[start:end]
        ahead = True if _AHEAD.search(clause_text) else False if _PAST.search(clause_text) else None
        resolved = _resolve(match, named or base if match["lone"] else base, ahead=ahead)
        if resolved:
            when, precision, shown = resolved
            named = when
            yield DateMention(match.start(), match.end(), when, precision, shown)


def _resolve(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved | None:
    try:
        return _relative(match, base) or _absolute(match, base, ahead=ahead)
    except ValueError:  # 2月30日: no such day, so it stays as written
        return None


def _relative(match: re.Match[str], base: datetime) -> Resolved | None:
    if match["day"]:
        when = midnight(base) + timedelta(days=_DAYS[match["day"]])
        return when, Precision.DAY, _day(when) + (match["part"] or _PARTS.get(match["day"], ""))
    if match["span"]:
        return _span(match, base)
    if match["dir"]:
        sign = -1 if match["dir"] == "前" else 1
        unit = _UNITS[match["unit"]]
        if match["n"] == "半":
            return _shifted(base, sign * 6, "month") if unit == "year" else None
        return _shifted(base, sign * _count(match["n"]), unit)
    return None


def _span(match: re.Match[str], base: datetime) -> Resolved:
    step, span, day = _STEP[match["step"]], match["span"], match["weekday"]
    monday = midnight(base) - timedelta(days=base.weekday()) + timedelta(weeks=step)
    if day:
        when = monday + timedelta(days="一二三四五六日".index(day.replace("天", "日")))
        return when, Precision.DAY, _day(when)
    if span == "周末":
        when = monday + timedelta(days=5)
        return when, Precision.WEEK, f"{_day(when)}那个周末"
    unit = "month" if span.startswith("月") else "week"
    if match["sday"]:
        when = shift(base, step, unit)[0].replace(day=_count(match["sday"]))
        return when, Precision.DAY, _day(when)
    return _shifted(base, step, unit)


def _absolute(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved | None:
    start = midnight(base).replace(day=1)
    if match["year"]:
        start = start.replace(year=base.year + _YEARS[match["year"]])
        return _dated(start, match["ymonth"], match["yday"])
    if match["ayear"]:
        return _dated(start.replace(year=int(match["ayear"])), match["amonth"], match["aday"])
    if match["month"]:
        return _of_year(match, base, ahead=ahead)
    if match["lone"]:
        return _of_month(_count(match["lone"]), base, ahead=ahead)
    if match["bareday"]:
        when = weekday(base, "一二三四五六日".index(match["bareday"].replace("天", "日")), -1 if ahead is False else 1)
        return when, Precision.DAY, _day(when)
    return None


def _of_month(day: int, base: datetime, *, ahead: bool | None) -> Resolved:
    """Resolve a day without month: in this month, or in the next if it is over and nothing marks the past."""
    start = midnight(base).replace(day=1)
    when = start.replace(day=day)
    if when.date() < base.date() and ahead is not False:
        when = shift(start, 1, "month")[0].replace(day=day)
    return when, Precision.DAY, _day(when)


def _of_year(match: re.Match[str], base: datetime, *, ahead: bool | None) -> Resolved:
    """Resolve a month or day without year: the nearest one unless 了 or 要 marks the tense."""
    start = midnight(base).replace(day=1)
    day = match["mday"] or match["mday2"]
    years = [_dated(start.replace(year=base.year + step), match["month"], day) for step in (-1, 0, 1)]
    if ahead is None:
        return min(years, key=lambda dated: abs(dated[0] - start))
    soonest = start if years[0][1] is Precision.MONTH else base - JUST_PAST
    if ahead:
        return next((dated for dated in years if dated[0] >= soonest), years[-1])
    return next((dated for dated in reversed(years) if dated[0] <= base), years[0])


def _dated(start: datetime, month: str | None, day: str | None) -> Resolved:
    if not month:
        return start.replace(month=1, day=1), Precision.YEAR, f"{start.year}年"
    when = start.replace(month=_count(month), day=_count(day) if day else 1)
    return (when, Precision.DAY, _day(when)) if day else (when, Precision.MONTH, f"{when.year}年{when.month}月")


def _shifted(base: datetime, count: int, unit: str) -> Resolved:
    when, precision = shift(base, count, unit)
    forms = {
        "day": _day(when),
        "week": f"{_day(when)}那一周",
        "month": f"{when.year}年{when.month}月",
        "year": f"{when.year}年",
    }
    return when, precision, forms[unit]


def _day(when: datetime) -> str:
    return f"{when.year}年{when.month}月{when.day}日"


def _count(phrase: str) -> int:
    if phrase.isdigit():
        return int(phrase)
    tens, _, ones = phrase.rpartition("十")
    if "十" in phrase:
        return (NUMBERS[tens] if tens else 1) * 10 + (NUMBERS[ones] if ones else 0)
    return NUMBERS[phrase[-1]]


DATES = Dates(find, _day)

"""Slots of which most people have one: a shared home, a trade, a pregnancy, a rent, a device of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from core.language.chinese_household import KIN
from core.language.lazy_regex import lazy_regex
from core.types import Category, Topic


@dataclass(frozen=True, slots=True)
class Fact:
    """A slot and its value. `over`: the state has ended."""

    attribute: str
    value: str
    category: Category
    topic: Topic
    over: bool = False


_TOGETHER = lazy_regex(
    r"(?P<apart>异地)(?!.{0,6}(?:结束|不用|告别))|(?P<together>(?:跟|和)我一起住|住(?:在|到)?一起|同居|结束异地)"
)
_EXPECTS = lazy_regex(
    r"(?P<yes>怀孕|怀上|怀了|怀[二三]胎|有喜|预产期)|(?P<born>生(?:了|啦)(?!气|病|意|锈|根|活|效)|生下|当(?:妈|爸)了)"
)
_STAGE = lazy_regex(
    r"(?:^|[读念上是])(?P<v>大[一二三四五]|研[一二三]|博[一二三四]|"
    r"高[一二三]|初[一二三]|[一二三四五六]年级|幼儿园[大中小]班)(?:了|的)?$"
)
_RETIRED = lazy_regex(
    r"(?<![快要没])(?P<v>退休|下岗|离职|辞职|失业|被裁)(?:了|$)|(?P<left>辞了|"
    r"裁了|换工作了|换了(?:份|个|家)?(?:新)?(?:工作|公司)|跳槽了)$|提的?(?P<gives>离职|辞职)"
)
_BUSINESS = lazy_regex(
    r"开(?:了)?(?:一)?(?:家|个|间)?(?P<v>[\u4e00-\u9fff]{1,8}(?:店|铺|馆|厂|公司|诊所|超市|民宿|饭馆|餐厅))(?:的)?$"
)
_RENT = lazy_regex(
    r"租[^，\d]{0,8}(?P<v>\d{3,5}|[一二两三四五六七八九]千[一二三四五六七八九]?)|"
    r"^(?:每|一个?)月(?:房租|租金)?(?P<w>\d{3,5})"
)
_DEVICE = lazy_regex(
    r"^我?(?:现在)?(?:的|用的|开的|戴的|现在的?)?(?P<what>手机|电脑|相机|耳机|平板|车|手表|"
    r"自行车|显示器|键盘)(?:是|用的是?|换成了?|换了|改用了?|开的是?|换了?)(?P<v>[^，]{2,16}|了)?$"
)
_SIGHT = lazy_regex(r"近视[^，]{0,4}\d|[左右]眼(?:是|为)?\d{2,4}")
_DIED = lazy_regex(
    r"^(?:[^，]{1,8}(?:说|讲))?(?P<who>[\u4e00-\u9fff]{2})(?:(?:昨[天晚]|前天|今[天早]|上周|上个月)(?:走了|去世了?|死了|没了)|走了|去世了?|没了)$"
)
_OWNED = lazy_regex(
    r"(?:有|养了?|是|共|现在|变成)(?P<v>[\d一二两三四五六七八九十俩仨])(?:只|"
    r"条|个|口)?(?P<what>猫|狗|孩子|娃|女儿|儿子|弟弟|妹妹|哥哥|姐姐|兔子|仓鼠)(?:了|$)"
)
_CLOSED = lazy_regex(
    r"(?:铺子?|店|馆|厂|公司)[^，]{0,4}(?:盘|转让|关了|倒闭|不开了|兑)|(?:盘出|转让|关了)[^，]{0,4}(?:铺|店|馆|厂)"
)
_CRAVES = lazy_regex(r"无(?P<v>[\u4e00-\u9fff])不欢")
_VISITED = lazy_regex(
    r"(?P<never>(?:从来?|一次都|还)?没去过)(?P<v>[\u4e00-\u9fff]{2,6})$|(?:^|我)(?P<been>[\u4e00-\u9fff]{2,6}?)(?:已经|也|终于)?去过了$|"
    r"去过(?P<once>[\u4e00-\u9fff]{2,6}?)了$"
)
_CODED = lazy_regex(
    r"^(?:我(?:的|们)?|现在|新|的)*(?P<what>[\u4e00-\u9fff]{2,4}?)(?:号码?)?(?:现在|其实|已经|应该)*(?:是|在|改成|换成|变成|：)+"
    r"(?P<v>[A-Za-z]{1,4}\d*-?\d{1,6}(?:-\d+)*)$",
    re.ASCII,
)
_CAR = lazy_regex(r"(?:换|买|提|入手)了?(?:一)?辆(?P<v>(?![^，]{0,6}(?:自行|电动|摩托|单车|童))[^，]{2,12})$")
_NO_MORE_HOT = lazy_regex(r"(?:一[点口丁])(?:儿)?(?P<v>辣|酒|糖|肉|甜|油|咖啡|海鲜)(?:都|也)?(?:不|没)(?:吃|喝|沾|碰)")
_GOAL = lazy_regex(r"(?:目标|打算|计划|争取|想|要)[^，]{0,8}?(?P<v>\d+)(?P<unit>本|公里|公斤|斤|篇|个单词)(?:书)?$")
_FAVOURITE_NO_MORE = lazy_regex(
    r"最(?:喜欢|爱)(?:看|听|读)?的(?P<what>电影|书|颜色)(?:现在|也|可能)*(?:得|要|该)?(?:换|变|改)(?:一?[部本个])?了"
)
_KINDS = {"电影": "movie", "书": "book", "颜色": "color"}
_NOT_NOW = lazy_regex(r"想|打算|考虑|准备|可能|以前|之前|曾经")
_NOT_GONE = lazy_regex(r"退休前|没|要是")


def fact(clause: str, thing: str) -> Fact | None:
    """Return the slot that a clause fills; wishes and past states fill none. `thing`: its topic."""
    if goal := _GOAL.search(clause):
        return Fact(f"goal.{goal['unit']}", goal["v"], Category.PLAN, Topic.GOAL)
    if _NOT_NOW.search(clause):
        return None
    read = (made for regex, make in _READ if (found := regex.search(clause)) and (made := make(found, thing)))
    return next(read, None)


def _stage(found: re.Match[str], _thing: str) -> Fact | None:
    """Return the school year of the subject; not that of a relative who is only mentioned."""
    if re.search(rf"有(?:一?个|[两三])?(?:{KIN})", found.string):
        return None
    return Fact("education.stage", found["v"], Category.FACT, Topic.HISTORY)


def _visit_fact(found: re.Match[str], _thing: str) -> Fact:
    place = found["v"] or found["been"] or found["once"]
    return Fact(f"visited.{place}", "没去过" if found["never"] else "去过", Category.FACT, Topic.HISTORY)


def _job_end_fact(found: re.Match[str], _thing: str) -> Fact | None:
    if _NOT_GONE.search(found.string):
        return None
    how = found["v"] if found["v"] in {"退休", "失业"} else "离职"
    return Fact("work.role" if how == "退休" else "work.employer", how, Category.FACT, Topic.WORK, over=True)


def _rent(found: re.Match[str], thing: str) -> Fact | None:
    if "租" not in found.string and "贷" in thing:
        return None
    return Fact("number.房租", found["v"] or found["w"], Category.FACT, Topic.FINANCE)


def _together(found: re.Match[str], _thing: str) -> Fact:
    return Fact("relation.together", "异地" if found["apart"] else "同住", Category.FACT, Topic.RELATIONSHIP)


def _expects(found: re.Match[str], _thing: str) -> Fact:
    return Fact("family.birth", "怀孕" if found["yes"] else "生了", Category.FACT, Topic.RELATIONSHIP)


def _death_fact(found: re.Match[str], _thing: str) -> Fact:
    return Fact(f"have.{found['who']}", "去世", Category.FACT, Topic.RELATIONSHIP, over=True)


_READ: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Fact | None]], ...] = (
    (_VISITED, _visit_fact),
    (
        _FAVOURITE_NO_MORE,
        lambda found, _: Fact(
            f"preference.{_KINDS[found['what']]}", "换了", Category.PREFERENCE, Topic.PREFERENCE, True
        ),
    ),
    (
        _NO_MORE_HOT,
        lambda found, _: Fact(f"habit.{found['v']}", "不再", Category.PREFERENCE, Topic.PREFERENCE, over=True),
    ),
    (_CODED, lambda found, _: Fact(f"number.{found['what']}", found["v"], Category.FACT, Topic.OTHER)),
    (_CAR, lambda found, _: Fact("have.车", found["v"], Category.FACT, Topic.OTHER)),
    (_TOGETHER, _together),
    (_EXPECTS, _expects),
    (_STAGE, _stage),
    (_RETIRED, _job_end_fact),
    (_CLOSED, lambda _found, _: Fact("work.role", "不再开店", Category.FACT, Topic.WORK, over=True)),
    (_BUSINESS, lambda found, _: Fact("work.role", f"开{found['v']}", Category.FACT, Topic.WORK)),
    (_RENT, _rent),
    (_DEVICE, lambda found, _: Fact(f"have.{found['what']}", found["v"] or "换了", Category.FACT, Topic.OTHER)),
    (_SIGHT, lambda found, _: Fact("health.sight", found.string, Category.FACT, Topic.HEALTH)),
    (_CRAVES, lambda found, _: Fact(f"habit.{found['v']}", found.string, Category.PREFERENCE, Topic.PREFERENCE)),
    (_DIED, _death_fact),
    (_OWNED, lambda found, _: Fact(f"count.{found['what']}", found["v"], Category.FACT, Topic.RELATIONSHIP)),
)

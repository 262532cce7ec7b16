"""Chinese clauses that depend on the one before, and values put right by a later clause."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

_N = r"[\d一二两三四五六七八九十百千万半几]+"
_LEANS = lazy_regex(
    rf"^(?:(?:大概|差不多|一共|总共|正式|才|就|都|已经|也|快|最多|至少|"
    rf"每次|平均|首周|净重|刚好|正好|大约|将近)*{_N}(?!月|号|年(?!了|多)|日(?!活)|岁(?:了|半)?$|"
    rf"[:：]\d\d)|"
    r"就是|只是|是(?!我|不是)|[^，我你他她它]{2,}(?:出来|回来|下来|查到|跑出|确诊|得到)的$|(?:拿|得|获)了?[^，]{0,8}(?:名|奖|冠军)|"
    r"[^，]{1,4}到(?:今天|现在|目前|这个月)[\d]+|"
    r"每次|每周末?$|比我|比[\u4e00-\u9fff]{1,6}[大小高矮重早晚多少]|"
    r"跟我|和我|跟(?:他|她)|和[\u4e00-\u9fff]{2,3}一起|小名|取名|起名|大名|英文名|名字|叫(?!我|"
    r"停)|一直|至今|[大小]的|到现在|从小|不过|除了|各|占|连|所以|因此|因为|于是|省得|不然|否则|"
    r"结果|毕竟|"
    rf"(?:用|学|做|干|练|待|当|养|教|坚持|开|戴|谈|等|跑|骑|住)了(?:快|"
    rf"有|差不多|将近|整整|大概)?{_N}|(?:公|母|男|女|雄|雌|黑|白|红|蓝|灰|银|绿|黄|粉|紫|棕)(?:的|"
    rf"色的?)?$|第[\d一二三四五六七八九十]|开在|位于|目标(?=是|\d|[一二三四五六七八九十])|预算|落地|预产期|价格|单价|尾号|牌照|车牌|首周|成绩|"
    r"(?:也|都|全)?是字母|不是(?:数字|字母)|注意|包括|比如|其中|分别|"
    r"主要|顺便|左右|上下|(?:老馆|那边|这边|那|这|其)(?!个?(?:周|月|天))|专门|听得懂|看得懂|不会(?:说|"
    r"讲|写)|会说|只会|"
    r"(?:订单|单|座位|车厢|参赛|房间|准考证|检票)(?:号|口)|(?:必须|要|得|才|就)?(?:上线|提测|交付|截止|到期|开工|完工)|"
    r"在[^，]{2,12}(?:医院|学校|公司|酒店|馆|店|家|区|路|门|广场|公园|中心|大厦|大学)$|住[^，在]{1,8}(?:酒店|"
    r"民宿|门|路|附近|旁边|宿舍)?$(?<!区)|[左右][眼膝耳手腿脚]|(?:走路|骑车|开车|坐车|步行|地铁|"
    r"公交)[^，]{0,4}[\d一二三四五六七八九十]|我?(?:才|已经|刚|都)?(?:写|看|读|做|改|学|练|背)(?:完|"
    r"到)(?:了)?第)"
)
_DATE_ONLY = lazy_regex(
    rf"^(?:(?:20)?\d\d年|明年|后年|今年|去年|下个?月|这个?月|上个?月|"
    rf"{_N}月(?:{_N}(?:号|日)?)?|{_N}[号日]|[上下这]?周[一二三四五六日末]|双十一|双十二|六一八|"
    rf"国庆|五一|春节|年底|月底|[早中晚]上|[上下]午|{_N}点半?|前|之前|底|初|中旬?)+"
    r"(?:才|就|必须|要|得|能)*(?:考|出|上线|提测|交|到期|截止|开始|"
    r"结束|去|回|走|办|入职的?|买的|开的|生的?|入|来的?|毕业的?|结的|搬的|拿的|考的|去\d+回)?$"
)
_VERBLESS = lazy_regex(r"^[^，是在有了我他她它]{1,6}$")
_LEFT = lazy_regex(r"那种$|(?:那|这)(?:个|种)(?:味|人|事|样|地方|东西)|^不(?:打算|准备)[^，]{1,3}了$")
_INTRO = lazy_regex(r"(?:定了|有|做了|立了|设了)[一个两三几]*(?:目标|计划|想法|决定|打算|flag|习惯|规矩|消息|安排)$")


def depends_on_clause_before(masked: str) -> bool:
    """Return whether a clause that names no subject says something only together with the one before."""
    return bool(
        (len(masked) <= 4 and not re.search(r"吃素|吃斋|不[吃喝抽]|戒|单身|已婚|离异|退休|INFJ", masked))
        or _LEANS.search(masked)
        or _DATE_ONLY.search(masked)
        or (_VERBLESS.search(masked) and len(masked) <= 6)
        or _LEFT.search(masked)
    ) and not re.match(r"不(?:报|去|买|考|学|练|做)了$", masked)


_TRIP = lazy_regex(
    r"出差|旅游|旅行|玩[\d一二三四五六七八九十]*天|飞|自驾|开会|考试|[一二三四五六七八九十\d]天$|酒店|民宿"
)


def is_trip(before: str) -> bool:
    """Return whether the clause before tells of a journey, on which one lives somewhere for some days."""
    return bool(_TRIP.search(before))


_NUMBER_ONLY = lazy_regex(
    r"^(?:应该|其实|准确地?说)*(?:是|为|改成|改为)?(?P<v>第?(?:\d[\d.:：]*|"
    r"[一二两三四五六七八九十百千万半]+)(?P<unit>[\u4e00-\u9fffA-Za-z%]{0,3}?))(?:才对|来着|了|"
    r"的)?$"
)
_DATE = lazy_regex(
    r"(?:(?:20)?\d\d年)?(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})(?:号|日)?|(?:[上下这本]个?)?(?:周|星期|礼拜)[一二三四五六日天]|"
    r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})[号日]"
)
_DATE_SAID = lazy_regex(rf"^(?:应该|其实|准确地?说)*(?:是|改成|改为|在)?(?P<v>{_DATE.pattern})(?:才对|来着)?$")


_CODE = lazy_regex(r"[A-Za-z]{1,4}\d*-?\d{1,7}[A-Za-z]?(?:-\d+)*", re.ASCII)
_CODE_ONLY = lazy_regex(rf"(?:应该|其实|准确地?说)*(?:是|为|改成)?(?P<v>{_CODE.pattern})(?:才对|来着)?", re.ASCII)


def replace_value(before: str, right: str) -> str | None:
    """Replace the last date or number of that kind in `before`; None if it has none, or `right` says more."""
    if day := _DATE_SAID.match(right):
        places = list(_DATE.finditer(before))
        ends = (
            ""
            if not places or day["v"][-1] in "号日天" or (day["v"][-1] in "一二三四五六日" and "周" in day["v"])
            else places[-1].group()[-1]
        )
        month = re.match(r"\d{1,2}月", places[-1].group()) if places and re.match(r"\d{1,2}[号日]", day["v"]) else None
        date_text = f"{month.group() if month else ''}{day['v']}{ends if ends in '号日' else ''}"
        return f"{before[: places[-1].start()]}{date_text}{before[places[-1].end() :]}" if places else None
    if _CODE_ONLY.fullmatch(right) and (places := list(_CODE.finditer(before))):
        return f"{before[: places[-1].start()]}{_CODE_ONLY.fullmatch(right)['v']}{before[places[-1].end() :]}"  # type: ignore[index]
    number = _NUMBER_ONLY.match(right)
    if number is None:
        return None
    unit = re.escape(number["unit"])
    places = list(re.finditer(rf"第?(?:\d[\d.:：]*|[一二两三四五六七八九十百千万半]+){unit}", before))
    return f"{before[: places[-1].start()]}{number['v']}{before[places[-1].end() :]}" if places else None


_IS_INSTEAD = lazy_regex(r"(?:应该|其实|准确地?说)*是(?P<v>[^，。是]{1,12}?)(?:才对|来着)?")
_IS_SAID = lazy_regex(r"(?<=[\u4e00-\u9fff])(?:是|叫)(?P<v>[^，。是叫]{1,12})$")


def replace_complement(before: str, right: str) -> str | None:
    """Replace the complement in `before`: that of “最爱吃的菜是回锅肉” by “是蹄花”."""
    instead, complement = _IS_INSTEAD.fullmatch(right), _IS_SAID.search(before)
    if instead is None or complement is None:
        return None
    return f"{before[: complement.start('v')]}{instead['v']}"


def replace_dates(before: str, right: str) -> str | None:
    """Replace the dates in `before` by those in `right`, if both have as many and `right` begins with one."""
    old_dates, meant = list(_DATE.finditer(before)), [found.group() for found in _DATE.finditer(right)]
    if len(old_dates) != len(meant) or len(old_dates) < 2 or not re.match(rf"(?:是|应该|其实)*{_DATE.pattern}", right):
        return None
    for old, new in zip(reversed(old_dates), reversed(meant), strict=True):
        before = f"{before[: old.start()]}{new}{before[old.end() :]}"
    return before


def is_intro(masked: str) -> bool:
    """Return whether a clause only announces the next one (“定了个目标”)."""
    return bool(_INTRO.search(masked))


def join(before: str, text: str) -> str:
    """Join two clauses to one statement."""
    return f"{before}，{text}"

"""Slots of things that change: a habit, a plan, a possession, a day, a place, a number, each by the noun it is about.

`habit.攀岩` holds one value at a time, so that “每周三晚上” takes the place of “每周二和周四晚上”, and “不再” of both.
"""

from __future__ import annotations

import re

from core.extraction.chinese import life
from core.extraction.chinese.durable import FREQUENCY
from core.extraction.chinese.life import Fact
from core.language.chinese_household import KIN
from core.language.lazy_regex import lazy_regex
from core.types import Category, Topic

OPEN = ("habit.", "plan.", "have.", "date.", "place.", "number.", "id.", "count.")
"""Beginnings of the names of such slots."""


_OVER = lazy_regex(
    r"戒(?:了|掉|断|[烟酒糖咖奶])|不再|放弃|停了|停掉|没(?:有)?(?:再|"
    r"在)(?:学|做|练|用|吃|上|跑|喝|去)|没(?:怎么)?(?:学|练|上|去|碰|跑|弹|画|打|写|玩|养|种|钓|游)了(?=$|，)|(?<!从)(?<!还)不(?:去|做|练|学|喝|吃|玩|跑|养|用|骑|开|"
    r"打|弹|拉|画|爬|游|教|抽|上|碰)(?<!不用(?=[抢上再去买担做等来带管排加熬]))[^，]{0,8}了(?=$|，)|"
    r"(?:去|来|做|跑|爬)不了了|(?:喝|吃|跑|爬|拉|弹|背|看|学)不(?:动|下去|起)了|不怎么[^，]{1,4}了"
)
_GONE = lazy_regex(
    r"卖(?:了|掉)|送(?!了?我|完)(?:给)?[^，我]{0,8}(?:了|人)|扔了|丢了|退(?:了|掉)|"
    r"没了|坏了扔|报废|转手|捐了|处理了|出了$|盘(?:出|给)"
)
_CALLED_OFF = lazy_regex(
    r"不(?:报|办|续|参加|打算|准备)[^，]{0,10}(?:了|$)|不(?:买|考|"
    r"订|换|租)[^，]{0,10}了$|没(?:买|报|订)(?!到)[^，票到]{2,8}$|取消|黄了|泡汤|当我没说|作罢|"
    r"撞期|改主意"
)
_PLANS = lazy_regex(r"打算|计划|准备|想(?:报|买|学|换|考|跑|养|去|申请|搬)|决定|要(?:报|买|学|考|参加)|看中")
_OWNS = lazy_regex(
    r"(?:有|买|提|入手|养|用的(?:是)?|订|置办|送(?:了)?我|换了?)(?:了|"
    r"的|到)?(?:是)?(?:一|两|三|\d)?(?:个|台|辆|只|条|套|把|部|本|块|双|间|架|张)(?P<what>[^，]{1,16})|"
    r"(?:用的(?:还)?是|固定柜子)[，]?(?P<used>[^，]{1,16})"
)
_MOVED = lazy_regex(
    r"(?P<what>[^，]{1,10}?)(?:的(?:时间|日期|日子))?(?:现在|已经|"
    r"又|被|就)*(?:定|改|推迟|提前|挪|延期|延|安排|约)(?:在|到|于|成|为|了)+|(?P<is>[^，现]{2,8}?)(?:是|"
    r"在)(?=(?:20\d\d年|\d{1,2}月|\d{1,2}[号日](?!楼|线|门|馆|院)|下周|下个?月|周[一二三四五六日](?![、和跟])))"
)
_LISTED = lazy_regex(
    r"^(?P<date>(?:20\d\d年)?\d{1,2}月\d{1,2}[日号]?(?:[上下]午|早上|"
    r"晚上)?(?:\d{1,2}点半?)?)(?P<what>[\u4e00-\u9fff]{1,6})$"
)
_PLACE = lazy_regex(
    r"(?:改|定|放|挪|换)?(?:到|在)(?P<v>[\u4e00-\u9fff]{2,8}?)(?:办|"
    r"举行|举办|开)(?:了)?$|^改(?:在|到)(?P<w>[\u4e00-\u9fff]{2,6})$"
)
_NUMBER = lazy_regex(
    r"^(?:我(?:的|们)?|现在|目前|今年)*(?P<what>[\u4e00-\u9fff]{2,6}?)(?:现在|"
    r"目前|已经|每月|一个月|大概|差不多|才|只要|要)*(?:是|为|有|涨到|降到|涨了?到|变成|改成|调到|"
    r"到了?|：)*(?:了)?"
    r"(?P<v>(?<!小米)(?<!华为)\d[\d.]*(?:元|块|万|千|公斤|斤|公里|"
    r"米|厘米|度|分钟|分|平米?|k|w)?|[一二两三四五六七八九十百千]+(?:万|千|百|块)[一二三四五六七八九十百千]*)(?:以内|"
    r"左右|上下|多)?(?:一个月|每月)?(?:了)?$"
)
_WEIGHT = lazy_regex(
    r"(?P<v>\d+(?:\.\d+)?)(?:公斤|斤|kg|KG|千克)(?:了)?$|体重(?:是|到了?)?(?P<bare>\d{2,3}(?:\.\d+)?)(?:了)?$"
)
_COUNT = lazy_regex(
    r"(?P<verb>读|看|背|攒|存|写)(?:了|到|完|满)?(?P<v>\d+|[一二三四五六七八九十]+)(?P<unit>本|部|万|篇)(?:了|$)"
)
_ID = lazy_regex(r"^(?P<id>[A-Za-z]{1,6}-?\d{1,6})(?:才|其实|应该)*是(?P<v>[^，]{2,})$")
_GOAL = lazy_regex(r"打算|目标|计划|争取|准备")
_TOPIC_FIRST = lazy_regex(r"^(?P<what>[^，我你他她是在有]{1,12}?)(?:这?事|的话)?(?:我(?!的|们|家)|被我|已经我)")
_TIMES = lazy_regex(
    rf"每?周[一二三四五六日末](?:[、和跟与到]?周?[一二三四五六日])*(?=[上下早晚中午，、\u4e00-\u9fff]|"
    rf"$)|{FREQUENCY}|\d{{4}}年|\d{{1,2}}月份?|[\d一二三四五六七八九十]{{1,3}}[日号点](?:半)?|周[一二三四五六日末](?:[、和跟到]周?[一二三四五六日])*|"
    rf"[上下]午|早上|晚上|中午|傍晚|凌晨|睡前|饭后|[今明昨后前][天年晚]|现在|目前|最近|如今|今年|"
    rf"十[一二]?月|[一二三四五六七八九]月|月底|年底|"
    r"[\d一二两三四五六七八九十半几]+(?:个)?(?:片|颗|粒|碗|瓶|套|小时|"
    r"分钟|公里|次|杯|回|趟|节|天|周|月|年|遍|顿|本|个|斤|页|支|根|包|组|米|半天)|左右|一次|起$"
)
_FUNCTION = lazy_regex(
    r"我(?:们|的)?|看中|续|干脆|暂时|直接|先|早就|早|反正|撞期|这么一来|随便放|离不开|是命|彻底|终于|"
    r"已经|正式|打算|计划|准备|决定|开始|坚持|雷打不动|改成|改为|改到|换成|不再|放弃|没在|取消|"
    r"停了|停掉|戒了|戒掉|戒|不了|一般|通常|平时|经常|习惯|固定|"
    r"还是|就是|其实|基本|大概|差不多|正在|一直|都|还|也|就|才|又|"
    r"再|要|想|会|去|来|做|打|上|练|学|玩|喝|吃|看|报|买|考|养|骑|开|读|弹|背|抽|游(?!泳|戏)|(?<![晨夜])跑(?!步)|"
    r"在|到|是|有|没|不|了|的|得|着|过|那|这|个|把|只|台|辆|条|事|给|跟|和|起(?!床)|当|说|吧|啊|"
    r"呀|呢|嘛|是隔"
)
_SAME = {
    "跑": "跑步",
    "晨跑": "跑步",
    "夜跑": "跑步",
    "看牙": "牙",
    "牙科": "牙",
    "牙医": "牙",
    "洗牙": "牙",
    "单词": "单词",
    "冰美式": "咖啡",
    "美式": "咖啡",
    "拿铁": "咖啡",
    "冰拿铁": "咖啡",
    "游": "游泳",
    "爬": "爬山",
}
_MODEL = lazy_regex(r"[A-Za-z]+-?[A-Za-z]*\d[\w-]*", re.ASCII)
_BRAND = lazy_regex(
    r"^(?:比亚迪|特斯拉|五菱|小米|华为|苹果|索尼|佳能|富士|尼康|理光|"
    r"徕卡|丰田|本田|大众|宝马|奔驰|奥迪|吉利|蔚来|理想|小鹏|小牛|雅迪|爱玛|九号|联想|戴尔|海尔|"
    r"美的|格力|戴森|任天堂)(?=.{2})"
)
_TAIL = lazy_regex(r"(?:课|班|馆|那事|这事|的事|科|号|店|机票|票)$")


def key(text: str) -> str:
    """Return the noun of a clause that identifies its slot; empty if none is left."""
    if model := _MODEL.search(text):
        return model.group()
    left = _FUNCTION.sub(" ", _TIMES.sub(" ", text)).replace("\ue000", " ").replace("\ue001", " ")
    runs = [run for run in re.split(r"[^\u4e00-\u9fffA-Za-z0-9]+", left) if run]
    if not runs:
        bare = re.search(r"跑|游|爬", text)
        return _SAME[bare.group()] if bare else ""
    noun = _BRAND.sub("", _SAME.get(runs[-1], runs[-1]))
    short = _TAIL.sub("", noun) or noun
    return _SAME.get(short, short)


_LIKED = lazy_regex(r"(?:不再|再也不)(?:那么|这么)?(?:喜欢|喜爱|爱|讨厌|反感)(?!上班|上学)")


def fact(clause: str, thing: str, category: Category) -> Fact | None:
    """Return the slot that a masked clause fills for a thing. `thing`: its topic, if it has one."""
    about = _TOPIC_FIRST.match(clause)
    model = _MODEL.search(clause)
    noun = model.group() if model else (key(about["what"]) if about else key(clause)) or key(thing)
    if found := _ID.match(clause):
        return Fact(f"id.{found['id']}", found["v"], Category.FACT, Topic.WORK)
    if common := life.fact(clause, thing):
        return common
    if _CALLED_OFF.search(clause) and noun:
        return Fact(f"plan.{noun}", "取消", Category.FACT, Topic.GOAL, over=True)
    if _GONE.search(clause) and noun:
        return Fact(f"have.{noun}", "没有了", Category.FACT, Topic.OTHER, over=True)
    # What is no longer liked belongs to the list of what was: no habit of its own.
    if _OVER.search(clause) and noun and not _LIKED.search(clause):
        return Fact(f"habit.{noun}", "不再", category, Topic.HABIT, over=True)
    return (
        _number_fact(clause, thing)
        or _plan_fact(clause, noun)
        or _habit_fact(clause, noun, thing)
        or _possession_fact(clause)
    )


def _number_fact(clause: str, thing: str) -> Fact | None:
    if (found := _WEIGHT.search(clause)) and not re.search(r"想|目标|打算|计划|争取|准备", clause):
        return Fact("weight", found["v"] or found["bare"], Category.FACT, Topic.HEALTH)
    if (found := _COUNT.search(clause)) and not _GOAL.search(clause):
        return Fact(f"count.{found['unit']}", found["v"], Category.FACT, Topic.GOAL)
    if (found := _NUMBER.match(clause)) and not re.search(
        r"^(?:每|一|两|三|[上下今明])|[的写答说看在]$|左|右|是|还剩|有|差", found["what"]
    ):
        return Fact(f"number.{key(found['what']) or found['what']}", found["v"], Category.FACT, Topic.OTHER)
    if thing and (found := _PLACE.search(clause)):
        return Fact(f"place.{key(thing)}", found["v"] or found["w"], Category.PLAN, Topic.GOAL)
    return None


def _plan_fact(clause: str, noun: str) -> Fact | None:
    if found := _LISTED.match(clause):
        listed = key(found["what"])
        return Fact(f"date.{listed}", found["date"], Category.PLAN, Topic.GOAL) if listed and len(listed) <= 4 else None
    if (
        (found := _MOVED.search(clause))
        and re.search(r"\d|[一二三四五六七八九十]月|周[一二三四五六日]", clause[found.end() :])
        and not re.search(FREQUENCY, clause[found.end() :])
    ):
        target = found["what"] or found["is"]
        whole = "的" in target and len(key(target)) == 1
        moved = (target if whole else key(target)) or (noun if found["what"] is None else "")
        return Fact(f"date.{moved}", clause[found.end() :], Category.PLAN, Topic.GOAL) if moved else None
    if _PLANS.search(clause) and noun and len(noun) <= 8:
        return Fact(f"plan.{noun}", clause, Category.PLAN, Topic.GOAL)
    return None


_LEARNS = lazy_regex(r"(?:正在|在|开始|刚|自)学(?:习)?(?:了)?(?P<v>(?!校|历|费|生)[\u4e00-\u9fff]{2,5})$")


def _habit_fact(clause: str, noun: str, thing: str) -> Fact | None:
    if learns := _LEARNS.search(clause):
        return Fact(f"habit.{key(learns['v']) or learns['v']}", "在学", Category.FACT, Topic.SKILL)
    often = re.search(FREQUENCY, clause)
    if often is None or re.search(KIN, clause):
        return None
    topic = key(clause) or noun or key(thing)
    if not topic or len(topic) > 6:
        return None
    return Fact(f"habit.{topic}", clause[often.start() :][:30], Category.PATTERN, Topic.HABIT)


def _possession_fact(clause: str) -> Fact | None:
    found = _OWNS.search(clause)
    if found is None:
        return None
    what = found["what"] or found["used"]
    noun_key = key(what)
    return Fact(f"have.{noun_key}", what, Category.FACT, Topic.OTHER) if noun_key and len(noun_key) <= 10 else None

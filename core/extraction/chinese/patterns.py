"""Slots of Chinese sentences, read with the same kind of tables as English ones."""

from __future__ import annotations

import re

from core.extraction.chinese.tables import cues
from core.extraction.chinese.tables.fragments import CITIES, PLACES
from core.extraction.chinese.tables.rows import SLOTS
from core.extraction.pattern_types import Check, Pattern, Slot, Tables
from core.language.chinese_household import KIN
from core.language.lazy_regex import lazy_regex
from core.types import Category

INSTRUCTION = lazy_regex(
    r"以后[^，。！？我他她它]{0,14}(?:请|不要|避开|都要|都用|一律|统一|改用|改成|尽量|只用|别)|"
    r"^(?:你)?以后(?:你)?(?:给|帮|跟|和)我|以后[^，。！？]{0,20}(?:的时候|时)[，]?(?:请|要|都|别|不要|记得|帮我)|"
    r"^(?:[^，。：]{1,8}[：，])?(?:你的?|所有)?(?:回答|回复|答复|答案|语气|措辞|说话|输出|总结|代码示例|示例代码|注释)(?:里|中|时|我)*(?:都|也|请|再|就|可以|能|尽量|一律|统一|还是)*"
    r"(?:要|别|不要|不用|用|改|带|短|长|简|详|精|正式|口语|控制|限|少|多用)|"
    r"(?:^|[，；])(?:请)?(?:别|不要|少)(?:再)?(?:在|用|加|带)[^，。]{0,10}(?:结尾|开头|末尾|句尾|表情|符号|感叹号|emoji|成语|英文|术语|客套|敬语|列表|标题|markdown)|"
    r"以后[^。！？，]{0,12}[，]?都(?:按|"
    r"用|要|写|说)|(?:以后|下次)[^。！？]{0,20}(?:记得|别忘了?)|(?:^|[，。；！？\s那你请])以后(?:都|"
    r"请|就|不要|别|每次|一律|回答|叫)|"
    r"从现在(?:起|开始)|今后|从今以后|每次给我[^。！？]{0,16}(?:用|要|请|别|记得)|每次(?:都)?(?:请|要|"
    r"回答|回复)|^(?:回答|回复|说话|答案|话)(?:要|得|请|可以|能)?(?:再)?(?:短|长|"
    r"简|少|精简|直接|详细|慢)|少废话|别(?:这么|那么)?啰嗦|^请?(?:总是|永远|一直|始终)(?:用|不要|"
    r"别|要|给)"
    r"|^(?:请)?(?:不要|别|请勿|千万别|千万不要)(?:再)?(?:用(?!了|担心)|"
    r"叫我|给我(?:推荐|发|打|整|讲|用)|推荐|提(?!醒|了?(?:$|[，。！]))|问我|"
    r"使用|发(?!呆|愁)|回复|安排|预订|联系(?!不上)|在[^，。你]{1,8}(?:给我|叫我|联系我|提醒我|打))"
    r"|^(?:请)?(?:不要|别)再(?:说|提|问|告诉|跟我|和我)"
    r"|^(?:你)?(?:现在|以后|回头|平时)?(?:能不能|可不可以|可以|最好)?(?:就)?(?:别|不要|不用|甭)(?:再)?(?:发|加|带|用)[^，。]{0,4}表情|(?:表情|emoji|颜文字)[^，。]{0,4}(?:随便|多|少|别|可以|不用|照|接着)[^，。]{0,2}(?:用|发|带|加)"
    r"|^(?:你|另外|还有|麻烦)*(?:回我|回复我?|回答|跟我说话?|说话|说|讲|写|答|解释)(?:得|的|时)?[^，。有]{0,4}?(?:短|长|简单|简洁|详细|慢|直接|通俗|具体|随意|轻松|口语)(?:一?[点些]|一?点儿)|(?:^|，)字(?:数)?(?:少|大|多)(?:一?[点些])"
    r"|(?:^|，)(?:说话|讲话|回复|回答|语气)(?:别|不要)(?:那么|这么|太)|(?:^|，)别(?:一上来|老|总|动不动|没完没了)(?:就|地)?(?:给我|跟我|列|写|发|说|讲|问|提|催)"
    r"|(?:周末|晚上|早上|半夜|中午|上班时间?|休息日|节假日|[一二三四五六七八九十\d]+点(?:以)?[前后])(?:你)?(?:就|都|可|千万)*(?:别|不许|不要|甭)(?:再)?(?:跟|和|给|找|提|聊|发|打|叫)我?"
    r"|(?:每天|每次|每周)?(?:的)?(?:趣题|笑话|段子|谜语|打卡|提醒|早安|语录|诗|故事|题)(?:就)?(?:别|不用|不要|甭)(?:再)?(?:每[天次周])?(?:出|讲|发|说|提醒|给|来|写|念)(?:了|啦)?(?=$|[，。！])"
    r"|^(?:你|那|就)*(?:别|不许|不要|甭)(?:再)?(?:跟|和)我(?:聊|谈|说|讲|提)[^，。]{1,8}(?=$|[，。！])"
    r"|^请(?:都|只|一律)?(?:用|使用|以)[^，。]{1,8}(?:回答|回复|交流|跟我|和我|写)|^(?:回答|"
    r"回复)(?:要|时|请|尽量|的时候)|^记住[：:，,]?(?:以后|不要|别|要)"
)
CITIES_ONLY = CITIES
"""Towns, as a part of other patterns."""
KIN_ONLY = lazy_regex(KIN)
"""A word of kinship and nothing else."""
ONE_OFF = lazy_regex(r"这次|这一次|这封|这篇|下面|以下|上面|刚才那")
CORRECTION = lazy_regex(
    r"^其实|不再|改成|改为|换成|换到|搬到|搬去|搬家|不是.{1,12}而是|更正|说错了|已经不|现在不|戒了|"
    r"跳槽|不(?:在|住).{1,12}了"
)
_CANONICAL = {
    "老婆": "spouse",
    "妻子": "spouse",
    "太太": "spouse",
    "爱人": "spouse",
    "伴侣": "partner",
    "老公": "spouse",
    "丈夫": "spouse",
    "先生": "spouse",
    "女朋友": "girlfriend",
    "女友": "girlfriend",
    "男朋友": "boyfriend",
    "男友": "boyfriend",
    "未婚妻": "fiancée",
    "未婚夫": "fiancé",
    "妈妈": "mother",
    "母亲": "mother",
    "爸爸": "father",
    "父亲": "father",
    "老板": "boss",
    "领导": "boss",
    "上司": "boss",
    "哥哥": "brother",
    "弟弟": "brother",
    "姐姐": "sister",
    "妹妹": "sister",
    "儿子": "son",
    "女儿": "daughter",
    "孩子": "child",
    "室友": "roommate",
    "朋友": "friend",
    "闺蜜": "friend",
    "同事": "colleague",
    "狗": "dog",
    "小狗": "dog",
    "金毛": "dog",
    "柯基": "dog",
    "猫": "cat",
    "小猫": "cat",
    "布偶": "cat",
    "橘猫": "cat",
    "兔子": "rabbit",
    "仓鼠": "hamster",
    "鹦鹉": "parrot",
    "乌龟": "turtle",
}
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2}
_DIETS = {
    "素食主义者": "vegetarian",
    "素食者": "vegetarian",
    "素食": "vegetarian",
    "素": "vegetarian",
    "常年吃素": "vegetarian",
    "吃素": "vegetarian",
    "吃全素": "vegan",
    "纯素": "vegan",
    "清真": "halal",
}
_CLASSES = {
    "颜色": "color",
    "食物": "food",
    "菜": "dish",
    "水果": "fruit",
    "电影": "movie",
    "书": "book",
    "作家": "author",
    "歌": "song",
    "歌手": "singer",
    "乐队": "band",
    "城市": "city",
    "运动": "sport",
    "季节": "season",
    "动物": "animal",
    "饮料": "drink",
    "游戏": "game",
    "科目": "subject",
    "餐厅": "restaurant",
}
_WORDS = {
    **{name: word for word, name in [*reversed(_CANONICAL.items()), *reversed(_CLASSES.items())]},
    "spouse": "配偶",
    "brother": "兄弟",
    "sister": "姐妹",
    "dog": "狗",
    "cat": "猫",
}
_EMPLOYERS_AT_LARGE = frozenset(
    "银行 医院 学校 公司 工厂 政府 超市 餐厅 饭店 酒店 大学 中学 小学 外企 国企 律所 "
    "事务所 互联网公司 机关 工地".split()
)
_LONGEST_MEMBER = 6
"""Characters of a thing in a list."""
_SEVERAL = frozenset({"allergy", "language", "avoids", "likes", "dislikes"})
"""Things that may be listed: 猫毛和花粉."""
_EMPTY = lazy_regex(r"^(?:你|他|她|它|这|那|这个|那个|吃|喝|什么|一个人|自己|上|了|得|的|说|在|看|听)$|^(?:这|那)|你")


def kin_words(relation: str) -> list[str]:
    """Return the words for a stored relation: 女儿 for “daughter”; a Chinese one is its own word."""
    return [word for word, name in _CANONICAL.items() if name == relation] or ([relation] if relation else [])


def slots(sentence: str) -> list[Slot]:
    """Return the attributes and values that `sentence` states, the most certain first."""
    found: list[Slot] = []
    for pattern in SLOTS:
        for match in pattern.regex.finditer(sentence):
            groups = match.groupdict()
            attribute, about = _attribute(pattern.attribute, groups), groups.get("kinname") or groups.get("kin")
            value = _plain(attribute, match["v"])
            if value and not _is_read_already(pattern, attribute, about, found):
                read = _list_members(value) if attribute in _SEVERAL else [value]
                found += [Slot(attribute, one, pattern, about) for one in dict.fromkeys(read)]
    return found


def _list_members(value: str) -> list[str]:
    """Return the members of a list of short things; 和 before a person is no list (喜欢和朋友聊天)."""
    parts = [part for part in re.split(r"[、和跟]", value) if not part.startswith(("一点", "一些", "少许"))]
    return parts if all(0 < len(part) <= _LONGEST_MEMBER for part in parts) else [value]


def _is_read_already(pattern: Pattern, attribute: str, about: str | None, found: list[Slot]) -> bool:
    """Return whether a more certain row has filled this slot; one sentence gives one preference of a person."""
    return any(
        slot.about == about
        and (
            (slot.attribute, slot.pattern.negated) == (attribute, pattern.negated)
            or slot.pattern.category is pattern.category is Category.PREFERENCE
        )
        for slot in found
    )


def _attribute(attribute: str, groups: dict[str, str | None]) -> str:
    rel = groups.get("rel") or ""
    return attribute.replace("{rel}", _CANONICAL.get(rel, rel)).replace(
        "{cls}", _CLASSES.get(groups.get("cls") or "", groups.get("cls") or "")
    )


def _plain(attribute: str, value: str) -> str | None:
    if not attribute.startswith("name."):
        value = re.sub(r"^(?:了|在|去|吃|喝)(?=.)", "", value)
    value = value.strip("《》“”「」")
    if not value or _EMPTY.search(value):
        return None
    check = _CHECKS.get(attribute)
    return check(value) if check else value


def _home(value: str) -> str | None:
    return None if re.match(r"[一这那新跟和与]|学校|公司|附近", value) else value


def _employer(value: str) -> str | None:
    return None if value in PLACES or value in _EMPLOYERS_AT_LARGE else value


def _count(value: str) -> str:
    return str(_number(value))


def _birthday(value: str) -> str | None:
    match = re.match(r"(?:(\d{4})年)?(\d{1,2}|[一二三四五六七八九十]+)月(\d{1,2}|[一二三四五六七八九十]+)", value)
    if not match:
        return None
    day = f"{_number(match[2]):02d}-{_number(match[3]):02d}"
    return f"{match[1]}-{day}" if match[1] else day


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


_CHECKS: dict[str, Check] = {
    "age": _count,
    "family.children": _count,
    "birthday": _birthday,
    "diet": _DIETS.get,
    "work.employer": _employer,
    "home.city": _home,
}
TABLES = Tables(slots, INSTRUCTION, ONE_OFF, CORRECTION, cues.CATEGORIES, cues.THEMES, cues.STATED, _WORDS)

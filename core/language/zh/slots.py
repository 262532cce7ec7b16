"""Slots of Chinese sentences, read with the same kind of tables as English ones."""

from __future__ import annotations

import re

from core.language.language import Check, Pattern, Slot
from core.language.lazy_regex import lazy_regex
from core.language.zh.tables.fragments import PLACES
from core.language.zh.tables.rows import SLOTS
from core.types import Category

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
LABELS = {
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

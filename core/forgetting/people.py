"""Reads of whom a statement or a description speaks: relatives and roles, and names. Pure."""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex

_SYNONYMS: Final = {
    "mum": "mother", "mom": "mother", "mam": "mother", "dad": "father", "grandma": "grandmother", "nan": "grandmother",
    "gran": "grandmother", "grandpa": "grandfather", "boy": "son", "girl": "daughter", "kids": "child", "kid": "child",
    "children": "child", "girlfriend": "partner", "boyfriend": "partner", "fiancé": "partner", "fiancée": "partner",
    "mate": "friend", "manager": "boss", "neighbor": "neighbour", "coworker": "colleague", "flatmate": "roommate",
    "妈妈": "妈", "母亲": "妈", "爸爸": "爸", "父亲": "爸", "丈夫": "老公", "妻子": "老婆", "媳妇": "老婆",
}  # fmt: skip

_ENGLISH: Final = (
    r"mother|father|brother|sister|son|daughter|wife|husband|partner|grandmother|grandfather|aunt|uncle|cousin|"
    r"nephew|"
    r"niece|parents|child|family|boss|landlord|landlady|neighbour|friend|roommate|colleague|teacher|therapist|doctor|"
    r"dentist|lawyer|baby|team|ex|ex-\w+|\w+-in-law|mum|mom|mam|dad|grandma|nan|gran|grandpa|boy|girl|kids|kid|"
    r"children|"
    r"girlfriend|boyfriend|fianc[ée]e?|mate|manager|neighbor|coworker|flatmate|dog|cat|pet"
)
_CHINESE: Final = (
    r"爸妈|父母|妈妈|母亲|爸爸|父亲|前男友|前女友|男朋友|女朋友|男友|女友|前夫|前妻|前任|老公|老婆|丈夫|妻子|媳妇|"
    r"儿子|女儿|孩子|宝宝|爷爷|奶奶|外公|外婆|姥姥|姥爷|公公|婆婆|岳父|岳母|表[哥姐弟妹]|堂[哥姐弟妹]|哥哥?|姐姐?|"
    r"弟弟?|妹妹?|"
    r"[大二三四小]?[舅姑叔姨伯][妈父公婆]?|老板|领导|同事|房东|邻居|朋友|闺蜜|室友|老师|医生|大夫|律师|牙医|宠物|狗|猫|妈|爸"
)
_ROLE: Final = lazy_regex(rf"\b(?P<en>{_ENGLISH})(?:s(?=\b)|'s)?\b|(?P<zh>{_CHINESE})")
_NAME: Final = lazy_regex(r"\b[A-Z][a-zà-ÿ]{1,30}\b|(?<![一-鿿])[小老阿][一-鿿](?![子师板公婆家说样])")


def roles(text: str) -> frozenset[str]:
    """Return the relatives and roles that a text in `text.plain` form mentions."""
    return frozenset(_canonical(match.group("en") or match.group("zh")) for match in _ROLE.finditer(text))


def names(text: str) -> frozenset[str]:
    """Return the words of a text that may be names of people and places; the first word of a sentence may be one."""
    return frozenset(match.group() for match in _NAME.finditer(text))


def _canonical(role: str) -> str:
    return _SYNONYMS.get(role, role)

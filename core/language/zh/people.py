"""Chinese introductions of people: 我妹妹叫晓雯、章一鸣是我室友、大家都叫他阿强. Data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import NameParts, People

_ROLES: Final = {
    **dict.fromkeys("妈 妈妈 母亲 老妈 娘".split(), "mother"),
    **dict.fromkeys("爸 爸爸 父亲 老爸 爹".split(), "father"),
    **dict.fromkeys("爱人 对象 伴侣".split(), "partner"),
    **dict.fromkeys("老公 丈夫 先生".split(), "husband"),
    **dict.fromkeys("老婆 妻子 媳妇 太太".split(), "wife"),
    **dict.fromkeys("女朋友 女友".split(), "girlfriend"),
    **dict.fromkeys("男朋友 男友".split(), "boyfriend"),
    **dict.fromkeys("未婚妻 未婚夫".split(), "fiancé"),
    **dict.fromkeys("儿子 大儿子 小儿子".split(), "son"),
    **dict.fromkeys("女儿 闺女 大女儿 小女儿".split(), "daughter"),
    **dict.fromkeys("姐 姐姐 大姐 二姐".split(), "elder sister"),
    **dict.fromkeys("妹 妹妹 小妹".split(), "younger sister"),
    **dict.fromkeys("哥 哥哥 大哥 二哥".split(), "elder brother"),
    **dict.fromkeys("弟 弟弟 小弟".split(), "younger brother"),
    **dict.fromkeys("奶奶".split(), "grandmother"),
    **dict.fromkeys("爷爷".split(), "grandfather"),
    **dict.fromkeys("外婆 姥姥".split(), "maternal grandmother"),
    **dict.fromkeys("外公 姥爷".split(), "maternal grandfather"),
    **dict.fromkeys("孙子 孙女 外孙 外孙女".split(), "grandchild"),
    **dict.fromkeys("舅 舅舅 叔叔 伯伯 姑父 姨父 大伯".split(), "uncle"),
    **dict.fromkeys("姑 姑姑 姑妈 姨 姨妈 小姨 舅妈 婶婶".split(), "aunt"),
    **dict.fromkeys("表哥 表姐 表弟 表妹 堂哥 堂姐 堂弟 堂妹".split(), "cousin"),
    **dict.fromkeys("侄子 外甥".split(), "nephew"),
    **dict.fromkeys("侄女 外甥女".split(), "niece"),
    **dict.fromkeys("婆婆 岳母 丈母娘".split(), "mother-in-law"),
    **dict.fromkeys("公公 岳父 老丈人".split(), "father-in-law"),
    **dict.fromkeys("老板 领导 上司 老大 经理 主管 导师".split(), "boss"),
    **dict.fromkeys("同事 搭档".split(), "colleague"),
    **dict.fromkeys("朋友 闺蜜 哥们 哥们儿 死党 发小".split(), "friend"),
    **dict.fromkeys("同学 同桌".split(), "classmate"),
    **dict.fromkeys("室友 舍友".split(), "flatmate"),
    **dict.fromkeys("邻居".split(), "neighbour"),
    **dict.fromkeys("房东".split(), "landlord"),
    **dict.fromkeys("医生 大夫 主治".split(), "doctor"),
    **dict.fromkeys("老师 班主任".split(), "teacher"),
    **dict.fromkeys("教练".split(), "trainer"),
    **dict.fromkeys("律师".split(), "lawyer"),
    **dict.fromkeys("阿姨 保姆 月嫂".split(), "nanny"),
    **dict.fromkeys("徒弟 学徒".split(), "apprentice"),
    **dict.fromkeys("狗 狗狗".split(), "dog"),
    **dict.fromkeys("猫 猫咪".split(), "cat"),
}
_SURNAMES: Final = (
    "(?:欧阳|上官|司马|诸葛|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕"
    "丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温俞章倪樊"
    "施骆葛庞路])"
)
_HAN: Final = "[一-鿿]"
_ROLE: Final = rf"(?P<role>{'|'.join(sorted(_ROLES, key=len, reverse=True))})"
_OWN: Final = "我们家|我们|我家|我|咱们家|咱们|咱家|咱|俺|用户"
_TITLES: Final = "总|工|姐|哥|叔|姨|婶|老师|医生|大夫|师傅|阿姨|律师|教练|同学|主任|经理"
_FULL: Final = rf"{_SURNAMES}(?!先生|女士|师傅|老师|医生|家|总){_HAN}{{1,2}}?"
_CALLED: Final = rf"(?:[小老阿大]{_HAN}|{_SURNAMES}(?:{_TITLES})|{_HAN}{{1,2}}(?:{_TITLES}))"
_NICK: Final = rf"[“\"「]?(?P<{{group}}>{_HAN}{{{{2,4}}}}?|[A-Z][a-z]+)[”\"」]?"
_BEHIND: Final = (
    r"(?=[，。！？；：、,.!?;:()（）“”\"\s]|在|又|也|都|说|今|昨|明|要|去|来|把|给|从|的|是|就|很|跟|和|刚|已|会|想|那|这|老|还|"
    r"上|最|平|每|不|没|有|做|家|住|带|请|让|送|帮|问|叫|打|$)"
)
_NAME: Final = rf"(?P<name>{_FULL}|{_CALLED}|[A-Z][a-z]+)"
_WHOSE: Final = rf"(?P<of>{_OWN}|{_FULL}(?=的|{_HAN})|{_HAN}{{2}}(?=的))(?:的|那个|那位)?"


def _name(captured: str) -> str | None:
    """Return a name unless it is a common word by its form."""
    return None if _NO_NAME.search(captured) else captured


def _short(name: str) -> Sequence[str]:
    """Return what the bearer of a full name may be called: 晓雯、小雯、雯姐、老陆、陆总 of 陆晓雯."""
    match = _WHOLE.fullmatch(name)
    if not match or _FAMILY.fullmatch(name):
        return ()
    surname, given = match["surname"], match["given"]
    last = given[-1]
    titled = [f"{part}{title}" for part in (surname, last, given) for title in _TITLES.split("|")]
    alike = [f"{before}{part}" for before in "小老阿大" for part in (surname, last)]
    return [*([given] if len(given) > 1 else []), f"{last}{last}", *alike, *titled]


def _parts(name: str) -> NameParts:
    if titled := _FAMILY.fullmatch(name):
        return NameParts(family=titled["before"] or titled["behind"])
    whole = _WHOLE.fullmatch(name)
    return NameParts(whole["given"], whole["surname"]) if whole else NameParts()


def _phrase(whose: str, role: str) -> str:
    return f"{whose}的{role}" if whose else f"我{role}"


_NO_NAME: Final = re.compile(
    r"^(?:什么|怎么|这样|那个|这个|一个|自己|大家|有点|真的|今天|昨天|明天|老是|小心|大概|大学|大夫|老家)|[的了吗呢吧啊着过]$"
)
_FAMILY: Final = re.compile(rf"(?P<before>{_SURNAMES})(?:{_TITLES})|[老小](?P<behind>{_SURNAMES})")
_WHOLE: Final = re.compile(rf"(?P<surname>{_SURNAMES})(?P<given>{_HAN}{{1,2}})")

PEOPLE: Final = People(
    roles=_ROLES,
    own=frozenset(_OWN.split("|")),
    role=lazy_regex(rf"{_WHOSE}{_ROLE}|(?<!{_HAN})(?P<bare>老妈|老爸|老公|老婆|婆婆|公公)"),
    introductions=(
        # 我妹妹叫晓雯; 我室友郭凯又…; 我们老大（秦海峰）
        lazy_regex(rf"{_WHOSE}{_ROLE}(?:叫做?|名叫|的名字是|名字叫|是|，|,|（|\()?{_NAME}{_BEHIND}"),
        lazy_regex(rf"{_WHOSE}{_ROLE}(?:叫做?|名叫|名字叫){_NICK.format(group='name')}{_BEHIND}"),
        # 章一鸣是我室友; 方若琳，我表姐; 大熊（我同事）
        lazy_regex(rf"(?<!{_HAN}){_NAME}(?:就是|是|，|,|（|\(|——)(?:{_WHOSE}){_ROLE}{_BEHIND}"),
        # 大家都叫他阿强; 小名糖糖; 大名周予安
        lazy_regex(rf"(?:叫[他她它]|外号|小名|大名|全名|昵称|绰号)(?:是|叫)?{_NICK.format(group='nick')}{_BEHIND}"),
        # 陆晓雯就是雯姐; 陆晓雯（小雯）
        lazy_regex(
            rf"(?<!{_HAN})(?P<name>{_FULL})(?:就是|也就是|也叫|又叫|人称|外号|小名)(?P<also>{_CALLED}|{_HAN}{{2}}){_BEHIND}"
        ),
        lazy_regex(rf"(?P<name>{_FULL})[（(](?P<also>{_CALLED}|{_HAN}{{2}})[）)]"),
        lazy_regex(rf"(?<!{_HAN})(?P<also>{_CALLED})(?:就是|大名|全名|本名)(?:叫|是)?(?P<name>{_FULL}){_BEHIND}"),
    ),
    full=lazy_regex(
        rf"(?<!{_HAN})(?P<name>{_SURNAMES}{_HAN}{{1,2}}?)(?:同志|女士|先生|小朋友)|(?<!{_HAN})(?P<whole>{_SURNAMES}{_HAN}{{2}}){_BEHIND}"
    ),
    name=_name,
    short=_short,
    parts=_parts,
    phrase=_phrase,
)

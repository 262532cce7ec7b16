"""Ends of Chinese statements that share no word with what they end: somebody left, a stage of life closed. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.statements import revision_zh_clauses as reading
from core.statements import revision_zh_tables as table
from core.statements.succession import Statement


@dataclass(frozen=True, slots=True)
class Closing:
    """An event by which a state of the same person is over."""

    name: str
    now: re.Pattern[str]
    was: re.Pattern[str]


_OFFICE = r"领导|校长|主任|院长|经理|总监|主管|组长|班主任|老板|上司|教练|老师|导师|队长|店长|房东|部长|处长|科长|书记"
CLOSINGS: Final = (
    Closing(
        "school is over",
        re.compile(
            r"毕业(?:了|$)|没考[上取]|考研(?:没|失败)|考[上取]了|不?打算二战|签了(?!合同|[一二两三\d])[^，]{2,}|入职|工作了|上班了|进了[^，]{2,8}$|录取?了|落榜|上岸了"
        ),
        re.compile(
            r"(?<!就)读(?:大[一二三四五]|研|博|高[一二三]|初[一二三])|在[^，]{2,10}(?:上学|念书|读书)|考研报|备考|(?:在|准备|备战)考研|出分|[读上念]大[一二三四五]$"
        ),
    ),
    Closing(
        "has moved",
        re.compile(r"搬(?:了)?家了|搬新家|新家(?!具|电|长)|乔迁|搬完家|(?<![不想])搬走了|搬了[，。]|[号日月天周]搬的"),
        re.compile(
            r"(?<!居)(?<![日号天晚])住(?!院|宿费|校|[^，]{0,8}(?:酒店|民宿|宾馆|房$))(?:在|着)?[^，]{2,}|合租|房租|租(?:在|的|了)[^，]*(?:房|室|间|小区)|(?<!老)家在"
        ),
    ),
    Closing(
        "the operation is done",
        re.compile(
            r"手术[^，]{0,6}(?:做完|做了|顺利|成功|结束)|做完(?:了)?[^，]{0,6}手术|(?:出院|康复|拆(?:线|石膏|纱布))了"
        ),
        re.compile(
            r"(?:要|将|等|排|约|[日号月周天年])[^，了]{0,10}(?:做|动|住院)[^，了]{0,8}(?:手术|置换|搭桥)?$|等着?(?:做)?手术|打着?石膏"
        ),
    ),
    Closing(
        "another medicine",
        re.compile(
            r"(?:药|大夫|医生|毫克)[^。]{0,16}(?:换成|改成|改吃|换了)|(?:换成|改吃)[^，]{2,8}(?:片|胶囊|喷|缓释|沙坦|地平|他汀|格列|双胍)"
        ),
        re.compile(
            r"(?:吃|服|用|打)[^，]{2,10}(?:，[^。]*)?(?:毫克|片|粒|胶囊|一天[一二两三四]?[次回])|(?:一直|天天|每天)(?:吃|服|喷)[^，]{2,8}(?:定|平|片|坦|汀|胍|药)"
        ),
    ),
    Closing(
        "together no more",
        re.compile(
            r"(?<![部得百处十])分(?:手)?了(?=$|，)|离(?:婚)?了(?=$|，)|(?:凉|散|黄|吹|掰)了(?=$|，)|没联系了|不联系了|不找[他她]?了"
        ),
        re.compile(r"男朋友|女朋友|男友|女友|对象|老公|老婆|在谈|谈恋爱|处着|暧昧|天天聊|吃了[一两二三四]次饭|相亲"),
    ),
)

_LEAVES: Final = re.compile(
    r"搬(?!家公司)[^，]{0,10}了|搬走|搬(?:到|去|回)[^，]{2,}|回(?:了)?(?:老家|[^，]{2,4}老家|国)[^，]*(?:了|$|的)|"
    r"调(?:走|去|到|回|离)?[^，]{0,8}(?:了|局|部|司|厅)(?=$|，)|退(?:休)?了(?=$|，)|离职|辞职|辞了|跳槽|不(?:教|带|干|来)了|转(?:走|学|校|岗)|休产假|"
    r"去世|过世|(?<![带拿])走了(?=$|，|\d)|走的$|(?<!还)没了(?=$|，)|送(?:走|人|给[^，]{1,6})了|飞走|飞了|跑丢|丢了|领养的"
)
_BESIDE: Final = r"(?:跟|和|与|同|陪|带|找|由|请|叫|姓|是|给|还有|、)"
_LASTING: Final = re.compile(
    rf"每|周[一二三四五六日末]|合租|同住|一起|搭[档班]|室友|养|有(?:一)?(?:只|条|个)|捡|叫|{_OFFICE}|带|教|天天|经常|平时"
)


def departure(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Somebody who is no longer there, of whom it was said that they are with another one."""
    for clause in analysis.around:
        found = _LEAVES.search(clause)
        if found is None or reading.is_not_so(clause[: found.end()], analysis.year):
            continue
        for name in _leavers(clause[: found.start()], new):
            old_clause = _held_with(name, old, for_good=bool(table.GONE.search(clause)))
            if old_clause and not table.HAPPENED_WITH.search(old_clause):
                return f"{name}: {found.group()}"
    return None


_NO_MATTER: Final = re.compile(
    r"也|都|就|已经|已|昨天|前天|今天|上周|上个?月|月|底|初|中|日|号|跟[^，]{1,3}|自己|终于|突然|要|被"
)


def _leavers(head: str, new: Statement) -> tuple[str, ...]:
    """Return the names of the one who leaves, of whom nothing but when stands before the verb; 老梁 is also 姓梁."""
    head = table.TIMES.sub("", head)
    names: list[str] = []
    if head.startswith(new.subject) and not _NO_MATTER.sub("", head.removeprefix(new.subject)):
        names.append(new.subject)
    names += [head[:length] for length in (2, 3) if len(head) >= length and not _NO_MATTER.sub("", head[length:])]
    office = re.match(rf"(?P<surname>[\u4e00-\u9fff])(?:{_OFFICE}|总|工|哥|姐)|[老小](?P<old>[\u4e00-\u9fff])", head)
    if office and names:
        names.append(f"姓{office['surname'] or office['old']}")
    return tuple(dict.fromkeys(names))


def _held_with(name: str, old: Statement, *, for_good: bool) -> str:
    """Return the clause of an older statement of another one by which the named one is with them; empty: none is."""
    if old.subject == name:
        return ""
    for clause in reading.clauses(old.content):
        start = clause.find(name)
        if start < 0 or (start == 0 and not name.startswith("姓")):
            continue
        if name.startswith("姓"):
            return clause if re.search(f"(?:{_OFFICE})[^，]{{0,2}}$", clause[:start]) else ""
        if not for_good and re.search("[叫是]$", clause[:start]) and not re.search(_OFFICE, clause[:start]):
            continue
        beside = re.search(rf"{_BESIDE}[^，]{{0,10}}$", clause[:start]) and not clause[start + len(name) :].startswith(
            "的"
        )
        if beside and _LASTING.search(old.content):
            return clause
    return ""


def closed_state(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return a state of one person that an event has ended."""
    for closing in CLOSINGS:
        if not any(closing.was.search(text) for text in (old.content.rstrip("。"), *reading.clauses(old.content))):
            continue
        for clause in analysis.own if reading.are_one(new, old) else ():
            found = closing.now.search(clause)
            if found and not reading.is_not_so(clause[: found.start()], analysis.year):
                return f"{closing.name} ({found.group()})"
    return None


_RELAPSE: Final = re.compile(r"又[^，]{0,2}(?:抽|喝|吃|玩|练|跑|用|养|打|去|穿|熬)(?:上|起来|回来)?了?")


def resumption(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """“又抽上了”: what was given up is taken up again."""
    if not table.OVER.search(old.content):
        return None
    for clause in analysis.around:
        found = _RELAPSE.search(clause)
        if found is None or reading.is_not_so(clause[: found.start()], analysis.year):
            continue
        verb = re.search("[抽喝吃玩练跑用养打去穿熬]", found.group())
        of_it = {"抽": "烟|抽", "喝": "酒|喝|咖啡", "吃": "吃"}.get(verb.group() if verb else "", "")
        if (of_it and re.search(of_it, old.content) and reading.are_one(new, old)) or reading.share(
            reading.bare(clause, new, old), reading.bare(old.content, new, old)
        ):
            return f"taken up again: {found.group()}"
    return None


_DATES: Final = re.compile(r"\d{4}年|\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}[日号点]|\d{1,2}:\d\d|[A-Za-z]-?\d+|第\d+")
_ASIDE: Final = re.compile(r"改(?!天|善|进)|换成|调[成到]|太[高低狠多少贵远]|做梦|不现实|来不及")
_VALUE: Final = re.compile(
    r"\d[\d.]*(?:万|元|块|公斤|斤|本|公里|人|桌|号|点)?|[一二两三四五六七八九十百千]+(?:万|千|百|公斤|斤|本|公里|桌)"
)


def set_aside(analysis: reading.NewStatement, old: Statement) -> str | None:
    """Return a goal whose number is named again, with another one in its place."""
    if not table.PLANNED.search(old.content) or not _ASIDE.search(analysis.whole):
        return None
    values = set(_VALUE.findall(_DATES.sub("", analysis.whole)))
    bare = {re.sub(r"[^\d.]", "", value) for value in values}
    if len(values) < PAIR_OF_VALUES:
        return None
    shared = [
        one
        for one in _VALUE.findall(_DATES.sub("", old.content))
        if one in values or re.sub(r"[^\d.]", "", one) in bare - {""}
    ]
    return f"another number than {shared[0]}" if shared else None


PAIR_OF_VALUES: Final = 2
"""Numbers that a sentence names which puts one in the place of another."""

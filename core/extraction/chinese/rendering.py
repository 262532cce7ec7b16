"""Writing Chinese clauses with their subjects, in the third person: 我 → the name, where it is the speaker."""

from __future__ import annotations

import re

from core.extraction.chinese import clauses, durable, people
from core.extraction.chinese.clauses import mask_quotations
from core.extraction.chinese.people import KIN_WORDS as KIN
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.statement import ClauseContext
from core.language import dates
from core.language.lazy_regex import lazy_regex

_NOT_ME = lazy_regex(r"自我|忘我|我(?=[校国市省县院党方军])|敌我|无我|唯我|小我|大我")
_OURS = lazy_regex(
    rf"(?:我们|咱们|咱|我)(?:家)?(?=(?:{KIN})(?!店|的(?:现在)?是))|(?:我们|咱们|咱)(?=(?:公司|"
    rf"学校|团队|班|组|部门?|院|店|厂|所|单位|小区|村|系|工作室|[\u4e00-\u9fff]{{1,4}}(?:负责人|"
    rf"经理|主管|总监|组长|老师|主任|校长|老板|院长|领导|同事|班长)))|我(?=家[乡人里庭]|公司|生日|"
    rf"名字|手机|车|房子|老家)"
)
_WORDS = (
    ("我们俩", "{name}和同伴"),
    ("咱俩", "{name}和同伴"),
    ("我俩", "{name}和同伴"),
    ("我们", "{name}和其他人"),
    ("咱们", "{name}和其他人"),
    ("我自己", "{name}"),
    ("咱", "{name}"),
    ("我", "{name}"),
)


def third_person(clause: str, name: str, addressee: str = "助手") -> str:
    """Replace the speaker's words for themselves by `name`; quotations and titles stay."""
    masked = _NOT_ME.sub(lambda found: "\ue000" * len(found.group()), mask_quotations(clause))
    pieces: list[str] = []
    start = 0
    for found in _SELF.finditer(masked):
        pieces += [clause[start : found.start()], _words_for_speaker(found, name, addressee)]
        start = found.end()
    return "".join([*pieces, clause[start:]])


def _words_for_speaker(found: re.Match[str], name: str, addressee: str) -> str:
    if found["family"]:
        return f"{name}家"
    if found["ours"]:
        return f"{name}的"
    if found["you"]:
        return addressee
    return next(form.format(name=name) for word, form in _WORDS if found.group().startswith(word))


_SELF = lazy_regex(
    rf"(?P<family>我们家|咱们?家|(?:我们?|咱们?)(?=楼[上下]|隔壁|对门|对面))(?!的?{KIN})|(?P<ours>{_OURS.pattern})|"
    rf"我们俩|咱俩|我俩|我们|咱们|我自己|咱|我|(?P<you>您|你(?!好))"
)


def plain(text: str, masked: str, subject: Subject) -> str:
    """Return the clause with its subject, in the speaker's words."""
    if subject.sort is Sort.SPEAKER:
        return text
    pronoun = re.match(r"[他她它]|人家", masked[people.after_time(masked) :]) or re.match(r"[他她它]|人家", masked)
    if subject.length and pronoun:
        start = 0 if re.match(r"[他她它]|人家", masked) else people.after_time(masked)
        return f"{text[:start]}{subject.name}{text[subject.length :]}"
    if subject.length and re.match(rf"(?:新|大学|高中|公司)?{people.KIN_WORDS}", masked):
        return f"我{text}"
    return text if subject.length or subject.name in text else f"{subject.name}{text}"


_GOES_ON = lazy_regex(
    r"不?在(?=[^，]{2,8}(?:办|举行|举办|开)$)|改|定|还是|日子|地点|"
    r"时间|(?:\d{1,2}月)?\d{1,2}[号日](?:住|换到|入住)|每晚(?=\d)|一晚(?=\d)|里面|一共|做(?!手术|饭)|主要|卖|负责|要(?:到|在)|不(?:报|去|买|"
    r"考|办|订|续|做)(?:了|$)|取消|推迟|提前|延期"
)
"""How a clause goes on about the thing of the one before."""


def content(words: str, part: clauses.Clause, subject: Subject, context: ClauseContext, known_people: People) -> str:
    """Return the stored form of a statement, with its dates written out."""
    found = list(dates.find(words, context.said_at, chinese=True))
    name = known_people.speaker
    text = third_person(dates.written_out(words, found), name)
    if part.head:
        head = dates.written_out(part.head, list(dates.find(part.head, context.said_at, chinese=True)))
        text = f"{third_person(head, name)}：{text}"
    elif context.thing and context.thing not in words and _GOES_ON.match(words):
        text = f"{context.thing}{text}"
    if name not in text and subject.sort is Sort.SPEAKER and not re.match(r"[A-Za-z]{1,6}-?\d", text):
        text = f"{name}{_link(text, context.thing)}{text}"
    return f"{text.rstrip('。！!.，, ')}。"


def _link(text: str, thing: str) -> str:
    """Return the particle or colon between the speaker and a thing of theirs."""
    if durable.THINGS.match(text) and not text.startswith("现在"):
        return "的"
    return "：" if thing and text.startswith(thing) else ""

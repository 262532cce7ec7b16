"""What an answer says by its question: the question with the words it asks for replaced by the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.extraction.chinese.people import KIN_WORDS, PET_KINDS

_ASKED = re.compile(
    r"(?P<time>什么时候|啥时候|哪一?天|几月几号|几号|几点|哪一?年)|"
    r"(?P<place>(?:在)?(?:哪里|哪儿|哪个城市|哪座城市|什么城市|什么地方|哪(?=$|[工住上读])))|"
    r"(?P<who>谁)|(?P<number>多少(?:钱|岁|斤|公斤|人|平)?|多大(?:年纪)?|"
    r"多高|多重|多久|高寿|多长时间|几(?:岁|个|只|年|次|本|公里|口|杯|点|天))|"
    r"(?P<what>(?:什么|啥|哪(?:个|款|家|门|种|所|支|部|本|些|趟|班))(?:[\u4e00-\u9fff]{0,4}?(?=[的了呢呀啊？?，]|"
    r"$))?)"
)
_SIZES = {"多高": "身高", "多重": "体重"}
_IS_TIME = re.compile(
    r"\d|[一二三四五六七八九十](?:月|号|点|年)|周[一二三四五六日末]|"
    r"[今明后昨去前][天年]|[上下这]个?(?:周|月|星期|学期)|[年月]底|春天|夏天|秋天|冬天|国庆|春节|"
    r"暑假|寒假"
)
_IS_NUMBER = re.compile(r"[\d一二两三四五六七八九十百千万半]")
_VERBAL = re.compile(
    r"^(?:不|没|还|就|都|也|很|挺|太|好|别|这|那|你|我|他|她|它|怎么|"
    r"为什么|谁|哪|看|听|随便|保密|秘密|其实|可能|应该|大概不|说来|因为|毕竟|算|嗯|啊|哦|哈|再|"
    r"先|行|对|是的|当然|一般般?$|不错|还行|差不多$|[\u4e00-\u9fff]{0,3}吧$)|[吗呢吧么]$|^(?:家|"
    r"公司|外面|单位|路上|床上|学校)$"
)
_WHO_IS = re.compile(r"^(?P<name>[\u4e00-\u9fffA-Za-z]{2,4})是$")
"""“周佳是？”"""
_MINE = (("你们", "我们"), ("您", "我"), ("你", "我"))
_PRESENT = re.compile(r"^(?:那|那么|对了|好的?|明白|恭喜|请问|顺便问一?下|能问一?下)+[，,。！]?")
MOMENTARY = re.compile(
    r"今天|刚才|刚刚|今晚|早饭|午饭|晚饭|中午|昨晚|想[吃喝听看要去]|推荐|现在在(?:干|做|忙)|这会|最近怎|感觉|心情|帮我"
)
"""What is asked of this moment."""
_LONGEST = 22
REPEATED = 2
"""Characters before the word asked for that an answer which repeats them needs no more: it stands by itself."""
_ONES_OWN = re.compile(rf"(?:{KIN_WORDS}|{PET_KINDS})(?:们|俩)?(?:现在|今年)?(?:叫|多大|几岁|住|在|的)")
"""“狗叫什么”: that of whom is asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """The last question before a message. `text`: without its mark, in the answerer's person."""

    text: str
    kind: str
    start: int = 0
    end: int = 0

    @property
    def yes_or_no(self) -> bool:
        """Whether it asks for yes or no."""
        return self.kind == "yes"


def question(asked: str | None) -> Question | None:
    """What is asked, if it is short enough to be answered by a word."""
    if not asked:
        return None
    text = re.split(r"[，,。！!]", asked.strip(" ？?。\n"))[-1].strip()
    text = _PRESENT.sub("", text)
    text = _WHO_IS.sub(r"\g<name>是谁", text)
    for yours, mine in _MINE:
        text = text.replace(yours, mine)
    if not text or len(text) > _LONGEST:
        return None
    if text[-1] in "吗么" and not text.endswith(("什么", "怎么")):
        return Question(text[:-1], "yes")
    found = _ASKED.search(text)
    if (
        found is None
        or _ASKED.search(text, found.end())
        or re.search(r"怎么|为什么|为啥|打算怎|想(?:吃|喝|听|看|要)什么|帮我?你", text)
    ):
        return Question(text.rstrip("呢呀啊"), "open")
    return Question(text.rstrip("呢呀啊"), str(found.lastgroup), found.start(), found.end())


def statement(asked: Question, answer: str) -> str | None:
    """The statement that a short answer makes of a question; None where it is no such answer."""
    said = answer.strip(" ，。！!.~～").removeprefix("是").removeprefix("在" if asked.kind == "place" else "是")
    relative = asked.kind == "who" and re.fullmatch(rf"我(?:的|家)?(?:{KIN_WORDS})", said)
    if not said or len(said) > 16 or (_VERBAL.search(said) and not relative) or not _fits(asked.kind, said):
        return None
    if asked.kind == "open" or (asked.start > REPEATED and asked.text[asked.start - REPEATED : asked.start] in said):
        return None
    said = re.sub(r"(?<=.)[呗吧呢啊嘛]+$", "", said)
    before, wanted, behind = asked.text[: asked.start], asked.text[asked.start : asked.end], asked.text[asked.end :]
    if size := _SIZES.get(wanted):
        before += size
    if before.endswith(("和", "跟", "陪")):
        said = re.sub(r"^[和跟陪]", "", said)
    if asked.kind == "what" and not behind:
        before = re.sub(r"(?<=.)[干做]$", "", before)
    lead = "在" if wanted.startswith("在") else ""
    if (
        asked.kind == "number"
        and (unit := re.search(r"(?:岁|斤|公斤|人|平|个|只|年|次|本|公里|口|杯|天)$", wanted))
        and said[-1].isdecimal()
    ):
        said += unit.group()
    if hobby := re.search(r"有(?:什么|啥|哪些)(?P<noun>爱好|兴趣|特长|忌口|习惯)$", asked.text):
        return f"我的{hobby['noun']}是{said}"
    if _ONES_OWN.match(asked.text):
        before = f"我的{before}"
    noun = re.match(r"(?:什么|啥|哪个)(?P<noun>方向|专业|工作|职业)$", wanted)
    if noun and not said.endswith(noun["noun"]) and noun["noun"] in {"方向", "专业"}:
        said += noun["noun"]
    return f"{before}{lead}{said}{behind.rstrip('呢呀啊')}"


_MANY = re.compile(
    r"^(?:你|我)?(?:们|的)*(?P<what>[\u4e00-\u9fff]{1,6}?)(?:现在)?(?:很)?[多大高贵远重](?:不[多大高贵远重])?$"
)
_AMOUNT = re.compile(
    r"(?:现在|一共|总共|大概|差不多|有|也就|才|不到|将近)*[\d一二两三四五六七八九十百千万半几]+[^，。！]{0,6}"
)


def amount(asked: Question, answer: str) -> str | None:
    """“学生多吗？”, “一共88个”: the number with what it counts."""
    what = _MANY.match(asked.text)
    said = answer.strip(" ，。！!.~～")
    return f"{what['what']}{said}" if what and _AMOUNT.fullmatch(said) else None


def confirmed(asked: Question, more: str) -> str | None:
    """The statement that “yes” makes of a question, with what is added to it."""
    if not asked.yes_or_no or re.search(
        r"需要|要不要|要我|可以|能不能|可不可以|想不想|对吗|好吗|行吗|记得|知道|听过|觉得", asked.text
    ):
        return None
    stated = re.sub(r"有没有|有无", "有", asked.text)
    return f"{stated}，{more}" if more else stated


def _fits(kind: str, said: str) -> bool:
    if kind == "time":
        return bool(_IS_TIME.search(said))
    if kind == "number":
        return bool(_IS_NUMBER.match(said))
    return not re.match(r"[\d]+$", said)

"""Statements of Chinese clauses that nobody could use without the conversation around them."""

from __future__ import annotations

import re

from core.extraction.chinese import clauses, durable
from core.extraction.chinese.people import People
from core.extraction.chinese.statement import Said
from core.types import Category

_NUMBER = r"[\d一二两三四五六七八九十百千万半几.:：/%-]+"
_TIME = re.compile(
    rf"(?:从|自|到|在|截至|再过)?(?:{_NUMBER}(?:年|月|号|日|点|分钟|小时|秒|天|周|次|回|趟|个月|个|岁|元|块|本|页|人|名|分|公里|公斤|斤|米|只|条|台|张|级|口|遍|组|杯)半?(?:[底初中旬]|以后|之后|前|后|多)*|"
    r"[上下这本去今明昨前后大]+个?(?:周|月|年|天|星期|礼拜|学期|晚|早)[一二三四五六日末天底初]?|每?(?:周|星期|礼拜)[一二三四五六日末天](?:[、和跟到]周?[一二三四五六日])*|"
    r"每(?:天|周|月|年|晚|早|次)|天天|隔天|现在|目前|最近|以前|之前|当时|当年|小时候|暑假|寒假|国庆|五一|春节|过年|"
    r"早上|上午|中午|下午|晚上|春天|夏天|秋天|冬天|年底|月底|几天)"
)
_EMPTY = re.compile(
    r"我(?:们)?|自己|大家|全家|一家|其他人|他们?|她们?|它们?|打算|计划|准备|决定|目标|开始|结束|改成|改为|改到|改在|换成|正好|刚好|大概|差不多|左右|"
    r"已经|终于|其实|应该|确实|可能|一直|还是|就是|也是|不是|正在|训练|上课|回来|过来|出来|起来|回去|过去|以为|带|陪|"
    r"[是在有没不就都也还又才再要想会能得去来走回飞坐学做干用买卖抽喝吃玩看住开拿花过到给跟和对把被让从向往的了着过吗呢吧啊呀嘛这那个是很挺太好号口]|"
    rf"{_NUMBER}"
)
_POINTS = re.compile(
    r"(?:那|这)(?:个|种|股)?(?:味|人|事|样|东西|地方|玩意|药|话|价|点)|(?:^|[^其])[他她它](?!们?(?:乡|人|日|国|[堂表]|爸|妈|哥|姐|弟|妹))"
)
_BROKEN = re.compile(
    r"^(?:我)?(?:就是|不是|是(?=\d|[一二三四五六七八九十]+[号月点]))|^(?:我)?有个叫|^(?:我)?别的|快[一二两三四五六七八九十半几\d]+(?:天|周|个月)了?$|^比我|^[^，]*得(?:挺|很|可|够|太|真)[^，]{1,4}$"
)
_IDLE = re.compile(
    r"被[他她它](?!们?[\u4e00-\u9fff]*(?:爸|妈|公司|老板))|天天(?:念|骂|催|唠叨|数落|嫌|缠|管)(?:叨)?[^，]{1,4}$|(?:喜欢|爱|要|选|想要)[^，]{1,4}的$|"
    r"(?:近|远|好|快|慢|轻松|方便|舒服|便宜|贵|大|小)(?:得)?多了$|是?不用[^，]{1,6}了$|(?:带|陪|和|跟)[^，]{1,6}[去来]$|比我还|想的是|借口|劝不动|^[^，]{0,4}当司机$"
)
"""Of others and of nothing: who nags whom, what is elsewhere named, what only feels better."""
_AGAIN = re.compile(r"^[^，]{0,6}又(?!搬|换|生|买|养|有|考|结|怀|升|住)[^，\d]*$")
_WISH = re.compile(r"想(?!念|法)")
_PASSING = re.compile(r"^(?:我)?(?:今天|今晚|明天|明早|明晚|后天|待会|一会|等下)")
_OF_WEIGHT = re.compile(
    r"面试|手术|考|出差|飞|报到|入职|搬|生日|婚|答辩|演出|比赛|体检|复查|出发|到期|截止|交|签|上线|会议|客户|复诊|开庭|岁|[去回][\u4e00-\u9fff]{2,}|假"
)


_ROOM = re.compile(r"\d{3,4}(?:号?房|室|号|教室|会议室|座|厅|包间)|[A-Za-z]-?\d{2,}|[一二三四五六七八九十\d]级")
_STEP = re.compile(r"报到|入职|入学|开学|出院|毕业|手术|预产|结婚|退休|搬家|开业|转正|答辩|生孩子|离职|住院")
_MEASURED = re.compile(r"\d+(?:\.\d+)?(?:公里|米|分钟?|秒|小时|公斤|斤|次|页|个|组|下)")


def is_slight(said: Said, known: People) -> bool:
    """Whether a statement lacks what it is about: a bare day, number or verb, a word that points elsewhere."""
    if said.instructs or any(not slot.attribute.startswith("work.role") for slot in said.slots):
        return False
    hidden = clauses.masked(said.plain)
    if (
        _BROKEN.search(hidden)
        or ("，" not in hidden and _IDLE.search(hidden))
        or _points_away(said, hidden, known)
        or _passes(said, hidden, known)
    ):
        return True
    return not said.slots and not _has_a_noun(said) and _says_nothing(hidden, said.subject)


def _points_away(said: Said, hidden: str, known: People) -> bool:
    """Whether a statement of the speaker has a pronoun for what only the conversation names."""
    if said.subject != known.speaker or not _POINTS.search(hidden):
        return False
    return said.fact is None or bool(_POINTS.search(said.fact.attribute))


def _passes(said: Said, hidden: str, known: People) -> bool:
    """Whether it tells of what happens again now, of tomorrow's routine, or of what somebody else wishes for."""
    if not said.slots and not said.fact and _AGAIN.match(hidden):
        return True
    if said.category is not Category.PLAN:
        return False
    if said.subject != known.speaker and not said.found and _WISH.search(hidden):
        return True
    return bool(_PASSING.match(hidden)) and not _OF_WEIGHT.search(hidden)


def _has_a_noun(said: Said) -> bool:
    """Whether the slot that a statement fills is that of a thing, not of a verb or a scrap of one."""
    if said.fact is None:
        return False
    kind, _, noun = said.fact.attribute.partition(".")
    return (
        kind not in {"habit", "number", "date", "plan"} or said.fact.over or (len(noun) > 1 and noun[-1] not in "了过")
    )


def _says_nothing(hidden: str, subject: str) -> bool:
    """Whether nothing is left of a clause without its subject, its days and numbers, and words of no meaning."""
    rest = hidden.removeprefix(subject)
    if _ROOM.search(rest) or _STEP.search(rest) or len(_MEASURED.findall(rest)) > 1:
        return False
    often = bool(re.search(durable.FREQUENCY, rest))
    left = _EMPTY.sub("", re.sub(r"[，。、：\s]", "", _TIME.sub("", rest)))
    return len(left) < (1 if often else 2) and not re.search(r"[A-Za-z]", left)

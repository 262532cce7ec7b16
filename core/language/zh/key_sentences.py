"""Chinese sentences that a summary must keep."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import KeySentences
from core.language.zh.tables import orders

_WORK = (
    "写|做|制定|制作|翻译|设计|开发|实现|整理|分析|准备|规划|计划|搭建|建|画|总结|起草|安排|修|改|查|找|订|预订|生成|优化|"
    "部署|比较|把|将"
)

_TASK = re.compile(
    rf"(?:^|[，,。])(?:请|麻烦你?|能不能|可以|能)?你?(?:帮我们?|替我们?|给我们?)(?:再|来)?(?:{_WORK})"
    r"|(?:你|我|我们|这次|本次|大家|项目)的?(?:任务|目标|目的)(?:就)?是(?!什么|啥|不是|否)"
    rf"|我们?(?:需要|想要|想|希望|要)你(?:来|们)?(?:帮我们?)?(?:{_WORK})"
)

_DECISION = re.compile(
    r"(?:我们?|大家|咱们?|团队|双方)(?:最后|最终|已经|都|一致|刚刚?|现在|终于|还是)*"
    r"(?:决定|商定|敲定|选定|选择|选了|同意|约定|确定)(?!不[了下]|不出)"
    r"|就(?:这么|这样)(?:说)?(?:定|办)了?|^(?:那)?就(?:用|选|按|定在?)|(?:最后|最终)(?:决定|敲定|选定|定下)"
    r"|一致(?:同意|决定)|(?:决定|结论)(?:是|为)|说定了|定下来了"
)

_COMMITMENT = re.compile(
    r"我们?(?:保证|承诺|答应(?!了吗))"
    r"|我们?(?:一定|肯定)?(?:会|将)[^，。；]{0,20}"
    r"(?:发给|寄给|交付|交给|提交|完成|负责|打电话|通知|提醒|准备好|安排|修好|回复)"
    r"|我们?来?(?:负责|来(?:安排|处理|搞定|订|办))"
    r"|我们?[^，。！？]{0,10}(?:前|明天|今天|今晚|后天|下周[一二三四五六日天]?)[^，。！？]{0,10}"
    r"(?:发给|交给|寄给|通知|回复|提醒|给)(?:你|您|大家)"
    r"|包在我身上|交给我吧"
)

_COUNT = r"[\d〇零一二三四五六七八九十百千万两半周下明今]"

_CONSTRAINT = re.compile(
    r"必须(?!承认|说)|不得(?!不)|(?:不能|不可以?|不许|禁止|不准|不允许)(?:再)?(?:超过|使用|离开|大于|高于|低于|少于|用|泄露|"
    rf"晚于|出现|包含)|最(?:多|少|晚|迟)(?:不超过|在)?{_COUNT}|至[多少]{_COUNT}"
    rf"|(?:截止(?:日期|时间)?|期限|预算|上限|下限)(?:是|为|[:：]|在)[^，。]{{0,10}}{_COUNT}"
    r"|只(?:能|允许|可以)(?:用|使用|在|有)|控制在[^，。]{1,14}(?:以内|之内|以下)"
)

_UNSURE = re.compile(r"还没|没有?(?:决定|同意|选|定)|尚未|不会|也许|可能|或许|要不要|该不该|是否|定不下|[吗呢？]$")

_REPLACES = re.compile(
    r"(?:从|把|将)([^，。；！？]{1,20}?)(?:改成|改为|换成|换为|改到|推迟到)|(?:不再用?|不用|取消|放弃|取代|代替|而不是)"
    r"([^，。；！？了]{1,20})"
)


def is_task(sentence: str) -> bool:
    """Return whether a sentence sets a task."""
    return bool(_TASK.search(sentence)) and not _UNSURE.search(sentence)


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence gives an order that stands."""
    return bool(orders.INSTRUCTION.search(sentence)) and not orders.ONE_OFF.search(sentence)


def is_decision(sentence: str) -> bool:
    """Return whether a sentence decides something."""
    return bool(_DECISION.search(sentence)) and not _UNSURE.search(sentence)


def is_commitment(sentence: str) -> bool:
    """Return whether a sentence promises something."""
    return bool(_COMMITMENT.search(sentence)) and not _UNSURE.search(sentence)


def is_constraint(sentence: str) -> bool:
    """Return whether a sentence states a rule or a limit."""
    return bool(_CONSTRAINT.search(sentence)) and not _UNSURE.search(sentence)


KEY_SENTENCES: Final = KeySentences(
    is_task=is_task,
    kinds={
        "instruction": is_instruction,
        "decision": is_decision,
        "commitment": is_commitment,
        "constraint": is_constraint,
    },
    settled=None,
    replaces=_REPLACES,
)

"""Sentences a summary must keep: tasks, decisions, constraints. Pure.

A key sentence sets a task, decides, obliges, promises, or gives a standing order; in English and Chinese. Excluded
are questions, denials, hypotheses and reported speech, and anything from tools or system prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import sentences
from core.language.en.tables import orders
from core.language.terms import terms
from core.language.zh.recognition import is_chinese
from core.language.zh.tables import orders as orders_zh
from core.types import Json, Message

Kind = Literal["task", "instruction", "decision", "commitment", "constraint", "question"]
"""Kinds of key sentences; open questions are found by `core.summaries.open_questions`."""

MOST: Final = 12
"""Maximum key sentences of one message: a longer list is a document, and stays searchable as one."""


@dataclass(frozen=True, slots=True)
class KeyMessage:
    """A key sentence: its message, kind and speaker; `quote` may have been cut for room."""

    message_id: str
    position: int
    kind: str
    quote: str
    by: str

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in KeyMessage.__slots__}


def key_messages_of(message: Message) -> list[KeyMessage]:
    """Return the key sentences of a message, in their order."""
    if message.role not in {"user", "assistant"}:
        return []
    by, keys = speaker(message), list[KeyMessage]()
    for sentence in sentences.split(message.content):
        kind = kind_of(sentence, message.role)
        if kind is not None:
            keys.append(KeyMessage(message.id, message.position, kind, sentence, by))
    return keys[:MOST]


def speaker(message: Message) -> str:
    """Return the display name of a message: the speaker's, else the user's; the role of an assistant or a tool."""
    if message.speaker:
        return message.speaker
    return message.user_id if message.role == "user" else message.role


def kind_of(sentence: str, role: str = "user") -> Kind | None:
    """Return the kind of a key sentence, None for any other; an assistant decides and promises, and orders nothing."""
    if role == "user" and _is_task(sentence):
        return "task"
    asserted = sentences.asserted_part(sentence)
    if asserted is None:
        return None
    normalised = _APOSTROPHE.sub("'", asserted)
    if is_chinese(normalised):
        return next((kind for kind in _kinds(role) if _is_zh(kind, normalised)), None)
    if _SETTLED.search(sentence):
        return "decision"  # What leads in says so itself: "It's settled: …".
    return next((kind for kind in _kinds(role) if _is_en(kind, normalised)), None)


def merge(earlier: Sequence[KeyMessage], later: Sequence[KeyMessage]) -> list[KeyMessage]:
    """Merge both lists in order, without literal repeats and without sentences that a later one replaces.

    A sentence replaces one of its kind if it says so ("instead of …", "no longer …", 改成, 不再 …) and the other
    contains every word that it withdraws.
    """
    merged = list(earlier)
    quotes_by_kind = {(key.kind, _fold(key.quote)) for key in merged}
    for key in later:
        aside = _put_aside(key.quote)
        if aside:
            merged = [kept for kept in merged if kept.kind != key.kind or not aside <= set(terms(kept.quote))]
        if (key.kind, _fold(key.quote)) not in quotes_by_kind:
            merged.append(key)
            quotes_by_kind.add((key.kind, _fold(key.quote)))
    return merged


def _kinds(role: str) -> Sequence[Kind]:
    return ("instruction", "decision", "commitment", "constraint") if role == "user" else ("decision", "commitment")


def _is_task(sentence: str) -> bool:
    normalised = _APOSTROPHE.sub("'", sentence)
    if sentences.is_hypothetical(normalised) or sentences.is_quoted(normalised):
        return False
    if is_chinese(normalised):
        return bool(_TASK_ZH.search(normalised)) and not _UNSURE_ZH.search(normalised)
    asks = normalised.rstrip("\"')!").endswith("?")
    return bool(_ASKED_TASK.search(normalised)) or (not asks and bool(_TASK.search(normalised)))


def _is_en(kind: Kind, normalised: str) -> bool:
    if kind == "instruction":
        spelt = normalised.replace("don't", "do not").replace("Don't", "Do not")
        return bool(orders.INSTRUCTION.search(spelt)) and not (orders.ONE_OFF.search(spelt) or _NO_ORDER.search(spelt))
    if kind == "decision":
        return bool(_DECISION.search(normalised)) and not _NOT_NOW.search(normalised)
    if kind == "commitment":
        return bool(_COMMITMENT.search(normalised))
    return bool(_CONSTRAINT.search(normalised))


def _is_zh(kind: Kind, normalised: str) -> bool:
    if kind == "instruction":
        return bool(orders_zh.INSTRUCTION.search(normalised)) and not orders_zh.ONE_OFF.search(normalised)
    pattern = {"decision": _DECISION_ZH, "commitment": _COMMITMENT_ZH}.get(kind, _CONSTRAINT_ZH)
    return bool(pattern.search(normalised)) and not _UNSURE_ZH.search(normalised)


def _put_aside(quote: str) -> set[str]:
    """Return the words that a sentence withdraws."""
    match = _REPLACES_ZH.search(quote) if is_chinese(quote) else _REPLACES.search(quote)
    return set(terms(next(filter(None, match.groups())))) if match else set()


def _fold(quote: str) -> str:
    return " ".join(_WORD.findall(quote.casefold()))


def _join_alternatives(alternatives: Iterator[str] | Sequence[str]) -> str:
    return "|".join(alternatives)


_APOSTROPHE = re.compile("[‘’]")

_WORD = re.compile(r"\w+")

_WORK = _join_alternatives(
    "build write create implement design plan draft prepare develop migrate refactor translate summari[sz]e analy[sz]e "
    "organi[sz]e set\\s+up fix debug review compare research schedule book find make generate compile convert "
    "optimi[sz]e test deploy edit proofread configure automate port rewrite".split(" ")
)

_SOME = r"(?:me |us )?(?:a|an|the|my|our|some|this|these|those|all|every|each|another|new|two|three|\d+)\b"
"""Words after a verb of work that show it is a verb: "Book a flight", not "Book club"."""

_OPENING = r"^(?:(?:hi|hey|hello|ok|okay|so|now|please|then|also|next|first)\b[,!]? )*"

_TASK = re.compile(
    rf"{_OPENING}(?:your|my|our|the|this) (?:\w+ )?(?:task|goal|objective|aim|mission|assignment|job)"
    r"(?: here| now| today)?(?: is (?:to|that)\b| is:|:)"
    r"|\b(?:that's|this is|that is) (?:the|our|my) (?:goal|objective|task|aim)\b"
    rf"|\bI(?:'d| would)? (?:need|want|like) you to (?:{_WORK})\b"
    rf"|{_OPENING}help (?:me|us) (?:to )?(?:{_WORK})\b"
    rf"|{_OPENING}(?:{_WORK}) {_SOME}"
    r"|\blet's (?:build|create|write|develop|implement|design|plan) (?:a|an|the|our)\b"
    r"|^we (?:need|have|want) to (?:build|launch|migrate|ship|deliver|develop|implement|design|rewrite|replace)\b",
    re.IGNORECASE,
)

_ASKED_TASK = re.compile(
    rf"{_OPENING}(?:could|can|would|will) you (?:please )?(?:help (?:me|us) (?:to )?)?(?:{_WORK}) {_SOME}",
    re.IGNORECASE,
)

_WORK_ZH = (
    "写|做|制定|制作|翻译|设计|开发|实现|整理|分析|准备|规划|计划|搭建|建|画|总结|起草|安排|修|改|查|找|订|预订|生成|优化|"
    "部署|比较|把|将"
)

_TASK_ZH = re.compile(
    rf"(?:^|[，,。])(?:请|麻烦你?|能不能|可以|能)?你?(?:帮我们?|替我们?|给我们?)(?:再|来)?(?:{_WORK_ZH})"
    r"|(?:你|我|我们|这次|本次|大家|项目)的?(?:任务|目标|目的)(?:就)?是(?!什么|啥|不是|否)"
    rf"|我们?(?:需要|想要|想|希望|要)你(?:来|们)?(?:帮我们?)?(?:{_WORK_ZH})"
)

_NO_ORDER = re.compile(
    r"^always (?:\w+ing|here|up|there|happy|glad|ready|nice|great|good|fun)\b|\b(?:I|we)(?:'ll| will)\b.* from now on",
    re.IGNORECASE,
)

_DECISION = re.compile(
    r"\b(?:I|we)(?:'ve| have| had)? (?:(?:finally|now|just|all|already|then|both|also|unanimously) )*"
    r"(?:decided\b|agreed\b(?! to disagree| with)|settled (?:on|for)\b|opted\b|(?:chosen|chose)\b|picked (?!up)|"
    r"voted (?:to|for)\b|resolved to\b)"
    r"|\blet's (?:go with|use|stick (?:with|to)|settle on|pick|choose|drop|postpone|scrap|do option)\b"
    r"|\b(?:I|we)(?:'ll| will) (?:go|stick) with (?!you\b|him\b|her\b|them\b|my\b|me\b|us\b)"
    r"|\b(?:I'm|I am|we're|we are) going with (?:the\b|(?i:option|plan|version)\b)"
    r"|\bthe (?:final )?decision (?:is\b(?! yours| up)|:)"
    r"|\b(?:it's|that's|it is|that is) (?:settled|decided|agreed|a deal)\b"
    r"|^(?:(?:ok|okay),? )?(?:agreed|decided|deal)[:,]? (?:we|I|let's|then)\b"
    r"|^(?:final )?decision: "
    r"|\bmade up (?:my|our) minds?\b",
    re.IGNORECASE,
)

_SETTLED = re.compile(r"^(?:(?:ok|okay|so),? )?(?:it['’]s|that['’]s) (?:settled|decided|agreed): ", re.IGNORECASE)

_NOT_NOW = re.compile(
    r"\b(?:once|until|before|after|when|whether) (?:I|we)\b|\b(?:years?|months?) ago\b|\bback then\b|\bwhen I was\b|"
    r"\blast (?:year|summer|winter|spring|fall|autumn|month)\b|\bas a (?:kid|child|teenager)\b",
    re.IGNORECASE,
)
"""Signs of a past decision, which is only reported, or of one that is still open."""

_DECISION_ZH = re.compile(
    r"(?:我们?|大家|咱们?|团队|双方)(?:最后|最终|已经|都|一致|刚刚?|现在|终于|还是)*"
    r"(?:决定|商定|敲定|选定|选择|选了|同意|约定|确定)(?!不[了下]|不出)"
    r"|就(?:这么|这样)(?:说)?(?:定|办)了?|^(?:那)?就(?:用|选|按|定在?)|(?:最后|最终)(?:决定|敲定|选定|定下)"
    r"|一致(?:同意|决定)|(?:决定|结论)(?:是|为)|说定了|定下来了"
)

_COMMITMENT = re.compile(
    r"\b(?:I|we)(?:'ll| will|'m going to| am going to|'re going to| are going to| shall) "
    r"(?:(?:definitely|personally|also|then|surely|certainly|gladly) )*"
    r"(?:send|share|deliver|bring you|call you|e-?mail|text you|book|pay|prepare|finish|fix|review|submit|"
    r"take care of|make sure (?!to\b)|ensure|get back to you|remind|schedule|arrange|update you|follow up|handle|"
    r"let you know (?:by|on|tomorrow|tonight|when|as soon|once)|pick you up|deploy|complete|ship|return|"
    r"come back to you|have (?:it|the \w+) (?:ready|done))\b"
    r"|\b(?:I|we) (?:promise|guarantee|commit) (?:to|you|that|I)\b"
    r"|\byou'll (?:have|get|receive) (?:it|the|my|our|your|a|an) [^.;]{0,30}"
    r"\b(?:by|on|before|today|tonight|tomorrow|next)\b"
    r"|\bleave (?:it|that|this) (?:with|to) me\b",
    re.IGNORECASE,
)

_COMMITMENT_ZH = re.compile(
    r"我们?(?:保证|承诺|答应(?!了吗))"
    r"|我们?(?:一定|肯定)?(?:会|将)[^，。；]{0,20}"
    r"(?:发给|寄给|交付|交给|提交|完成|负责|打电话|通知|提醒|准备好|安排|修好|回复)"
    r"|我们?来?(?:负责|来(?:安排|处理|搞定|订|办))"
    r"|我们?[^，。！？]{0,10}(?:前|明天|今天|今晚|后天|下周[一二三四五六日天]?)[^，。！？]{0,10}"
    r"(?:发给|交给|寄给|通知|回复|提醒|给)(?:你|您|大家)"
    r"|包在我身上|交给我吧"
)

_WHEN = (
    r"(?:\W?\d|mon|tues|wednes|thurs|fri|satur|sun|jan|feb|mar|apr|may\b|june?\b|july?\b|aug|sep|oct|nov|dec|today|"
    r"tomorrow|tonight|noon|midnight|next|the end|end of)"
)

_BOUND = (
    r"(?:under|below|less than|at (?:least|most)|within|between|done|ready|finished|completed|delivered|submitted|"
    r"signed|approved|tested|encrypted|shipped|able to|compatible|in|by|before|on|no (?:more|later|longer)|"
    r"available|written|kept|paid|exactly|\d)"
)
"""Uses of "must" that state a rule rather than a guess: not "That must be amazing!"."""

_CONSTRAINT = re.compile(
    rf"\b(?:must|shall) (?:not |never |only |always )?(?:be {_BOUND}|have (?:at (?:least|most)|no\b|exactly|\d)|"
    r"not be|run|work|support|use|include|contain|fit|stay|comply|exceed|match|pass|return|cost|leave|finish|start)\b"
    rf"|(?<!\bI )(?<!\bwe )(?<!\byou )(?<!\bthey )(?:has|have|needs?) to (?:be {_BOUND}|run|work|load|"
    r"support|fit|stay|comply|pass|cost|finish|respond|include|contain)\b"
    r"|\b(?:can't|cannot|can not|may not|should not|shouldn't|mustn't) (?:exceed|(?:spend|take|cost|go|be|use|last) "
    r"(?:more than|over|above|beyond|any|later than|longer than))\b"
    r"|\b(?:no|not) (?:more|later|longer|fewer|less) than\b|\bat most \W?\d|\bat the latest\b"
    r"|\b(?:should|must|needs?|requires?|has to|have to)\b[^.;]{0,40}\bat least \W?\d"
    rf"|\b(?:the|my|our|a) (?:\w+ )?(?:budget|deadline|limit|maximum|minimum|cap|quota) (?:[^.;]{{0,30}} )?(?:is|of) "
    rf"[^.;]{{0,12}}?{_WHEN}"
    rf"|\b(?:deadline|budget): |\b(?:is|are) due (?:by |on |before |in )?{_WHEN}"
    r"|\bnot allowed to\b|(?<!which )\b(?:is|are) (?:required|obliged|mandatory|forbidden|prohibited|off[- ]limits)\b"
    r"|\b(?:I|we) only have \W?\d|^no\b[^.]{1,40}\bmay\b"
    r"|\bshould be (?:at most|at least|no more than|under|below|less than|within|between)\b",
    re.IGNORECASE,
)

_COUNT_ZH = r"[\d〇零一二三四五六七八九十百千万两半周下明今]"

_CONSTRAINT_ZH = re.compile(
    r"必须(?!承认|说)|不得(?!不)|(?:不能|不可以?|不许|禁止|不准|不允许)(?:再)?(?:超过|使用|离开|大于|高于|低于|少于|用|泄露|"
    rf"晚于|出现|包含)|最(?:多|少|晚|迟)(?:不超过|在)?{_COUNT_ZH}|至[多少]{_COUNT_ZH}"
    rf"|(?:截止(?:日期|时间)?|期限|预算|上限|下限)(?:是|为|[:：]|在)[^，。]{{0,10}}{_COUNT_ZH}"
    r"|只(?:能|允许|可以)(?:用|使用|在|有)|控制在[^，。]{1,14}(?:以内|之内|以下)"
)

_UNSURE_ZH = re.compile(r"还没|没有?(?:决定|同意|选|定)|尚未|不会|也许|可能|或许|要不要|该不该|是否|定不下|[吗呢？]$")

_REPLACES = re.compile(
    r"\b(?:instead of|rather than|no longer|(?:switch|chang|mov)\w* (?:away )?from|drop(?:ping|ped)?|"
    r"scrap(?:ping|ped)?|cancel(?:l?ed|l?ing)?|replac(?:e|es|ed|ing)) ([^,.;!?]{2,60}?)"
    r"(?= (?:to|and|but|because|with|by|in favou?r of|for)\b|[,.;!?]|$)",
    re.IGNORECASE,
)

_REPLACES_ZH = re.compile(
    r"(?:从|把|将)([^，。；！？]{1,20}?)(?:改成|改为|换成|换为|改到|推迟到)|(?:不再用?|不用|取消|放弃|取代|代替|而不是)"
    r"([^，。；！？了]{1,20})"
)

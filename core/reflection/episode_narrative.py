"""Episode text by rules. Pure.

Without a model, in English and Chinese; `bounded` says whether a model's words keep to what was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.language.grounding import clip
from core.language.topics import ASSISTANT, IDEOGRAPHS
from core.language.zh.recognition import is_chinese
from core.types import EpisodeType, Message

ACTIONS: Final = 5
"""Actions named in a narrative; `structured` contains more."""


LATE: Final = 4
"""Messages at the end of a conversation examined for its outcome."""


SUCCESS: Final[Mapping[str, bool]] = {"succeeded": True, "resolved": True, "failed": False}
"""Outcomes that say whether it went well; `agreed`, `open` and `ended` do not."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Outcome of a conversation, with the message or the `report` that stated it; `reward` if one was given."""

    outcome: str
    message: Message | None = None
    reward: float | None = None
    report: str = ""

    @property
    def words(self) -> str:
        """Return in which words it was stated; empty: in none."""
        return self.report or (self.message.content if self.message else "")

    @property
    def success(self) -> bool | None:
        return SUCCESS.get(self.outcome)


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """Facts of one participant's conversation."""

    name: str
    others: Sequence[str]
    topics: Sequence[str]
    started_at: datetime
    ended_at: datetime
    messages: int
    opening: str | None
    actions: Sequence[str]
    ending: Ending
    type: EpisodeType = EpisodeType.INTERACTION


def type_of(ending: Ending, *, is_task: bool) -> EpisodeType:
    """Return the type of a conversation: a failure is an error, whatever it was about; then a reported task counts."""
    if ending.success is False:
        return EpisodeType.ERROR
    if is_task:
        return EpisodeType.TASK_COMPLETION
    if ending.success:
        return EpisodeType.SUCCESS
    return EpisodeType.DECISION if ending.outcome == "agreed" else EpisodeType.INTERACTION


def ending_of(people: Sequence[Message]) -> Ending:
    """Read the outcome from the last messages; the latest statement of one wins.

    Words of failure rule out success and say no more: "I gave up running" is no failure of the conversation.
    """
    for message in reversed(people[-LATE:]):
        for outcome, pattern in _ENDINGS:
            if pattern.search(message.content):
                return Ending("ended") if outcome == "failed" else Ending(outcome, message)
    if people and _ASKS.search(people[-1].content):
        return Ending("open", people[-1])
    return Ending("ended")


def narrate(account: EpisodeFacts) -> str:
    """Narrate the conversation in sentences, in its own language."""
    spoken = " ".join([account.opening or "", *account.actions, *account.topics])
    parts = _chinese(account) if _is_chinese(spoken) else _english(account)
    return "".join(parts).strip()


def _english(facts: EpisodeFacts) -> list[str]:
    about = f" about {_enumerate(facts.topics)}" if facts.topics else ""
    others = _enumerate([_ASSISTANT.get(other, (other, other))[0] for other in facts.others])
    talked = f"talked with {others}" if others else "spoke"
    span = f"{facts.started_at:%H:%M}" + ("" if _is_brief(facts) else f"–{facts.ended_at:%H:%M}")
    parts = [f"{facts.name} {talked}{about} on {facts.started_at.day} {facts.started_at:%B %Y}, {span} UTC"]
    parts.append(f" ({facts.messages} messages).")
    if facts.opening:
        parts.append(f" {facts.name} began: “{clip(facts.opening)}”")
    parts += [f" {clip(action)}" for action in facts.actions[:ACTIONS]]
    outcome = _ENDED_EN[facts.ending.outcome]
    quote = f": “{clip(facts.ending.words)}”" if facts.ending.words else "."
    parts += [f" {outcome}{quote}"] if outcome else []
    return [*parts, f" Reward: {facts.ending.reward:g}." if facts.ending.reward is not None else ""]


def _chinese(facts: EpisodeFacts) -> list[str]:
    about = f"谈了{'、'.join(facts.topics)}" if facts.topics else "谈了话"
    others = "、".join(_ASSISTANT.get(other, (other, other))[1] for other in facts.others)
    span = f"{facts.started_at:%H:%M}" + ("" if _is_brief(facts) else f"–{facts.ended_at:%H:%M}")
    day = f"{facts.started_at.year}年{facts.started_at.month}月{facts.started_at.day}日"
    parts = [f"{facts.name}于{day}{span}（UTC）{f'与{others}' if others else ''}{about}（共{facts.messages}条消息）。"]
    if facts.opening:
        parts.append(f"{facts.name}先说：“{clip(facts.opening)}”。")
    parts += [clip(action) for action in facts.actions[:ACTIONS]]
    outcome = _ENDED_ZH[facts.ending.outcome]
    quote = f"：“{clip(facts.ending.words)}”。" if facts.ending.words else "。"
    parts += [f"{outcome}{quote}"] if outcome else []
    return [*parts, f"奖励：{facts.ending.reward:g}。" if facts.ending.reward is not None else ""]


def _is_brief(facts: EpisodeFacts) -> bool:
    """Return whether beginning and end are printed as the same minute."""
    return facts.ended_at - facts.started_at < _MINUTE and facts.ended_at.minute == facts.started_at.minute


def _enumerate(items: Sequence[str]) -> str:
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def _is_chinese(text: str) -> bool:
    return is_chinese(text) and len(_HAN.findall(text)) >= len(_LATIN.findall(text))


_MINUTE = datetime(2000, 1, 1, 0, 1) - datetime(2000, 1, 1)  # noqa: DTZ001 - a length of time has no zone


_HAN = re.compile(f"[{IDEOGRAPHS}]")

_LATIN = re.compile(r"[A-Za-z]{2,}")

_ASKS = re.compile(r"[?？]\s*$")


_ENDINGS: Final = (
    (
        "failed",
        re.compile(
            r"\b(?:fail(?:s|ed|ing)?|(?:did|does|do|has|is|are|was|were|could|can|would)(?: no|n['’]?)t(?: \w+){0,2} "
            r"(?:work|help|fixe?d?|solved?|possible)\w*|still (?:broken|the same|an? error|not)|no luck|gave up|"
            r"giv(?:e|ing) up|out of options)\b|失败|没(?:有)?(?:成功|解决|用|修好)|还是不(?:行|能|对)|不管用|放弃",
            re.IGNORECASE,
        ),
    ),
    (
        "resolved",
        re.compile(
            r"\b(?:thank(?:s| you)|thx|solved|resolved|fixed|works? now|it work(?:s|ed)|that (?:did|does) it|"
            r"that helps?|all set|problem gone|perfect)\b|谢谢|多谢|感谢|解决了|搞定|成功了|可以了|没问题了|修好了",
            re.IGNORECASE,
        ),
    ),
    (
        "agreed",
        re.compile(
            r"\b(?:agreed?|deal|sounds good|works for me|let['’]s do (?:it|that)|see you|it['’]?s settled|"
            r"count me in)\b|同意|说定|就这么定|一言为定|没意见|好的|行[，。！]|到时(?:候)?见",
            re.IGNORECASE,
        ),
    ),
)
"""Phrases at the end and the outcome they indicate; of two in one message the first counts."""

_ENDED_EN: Final = {
    "succeeded": "It succeeded",
    "failed": "It failed",
    "resolved": "It was resolved",
    "agreed": "It ended in agreement",
    "open": "It was left open",
    "reported": "Its outcome was reported",
    "ended": "",
}

_ENDED_ZH: Final = {
    "succeeded": "事情成功了",
    "failed": "没有成功",
    "resolved": "问题得到了解决",
    "agreed": "最后达成一致",
    "open": "最后没有定下来",
    "reported": "报告的结果",
    "ended": "",
}


_ASSISTANT: Final = {ASSISTANT: ("the assistant", "助手")}

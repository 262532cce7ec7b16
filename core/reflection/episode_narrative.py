"""Episode text by rules. Pure.

Without a model; `bounded` says whether a model's words keep to what was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.language import languages
from core.language.grounding import clip
from core.language.language import Language
from core.language.lazy_regex import either
from core.language.topics import ASSISTANT
from core.types import EpisodeType, Message

SENTENCES: Final = 3
"""Sentences of a conversation that its narrative quotes."""

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
    """Facts of one participant's conversation. `sentences`: what tells of it, each with who else said it, or empty."""

    name: str
    others: Sequence[str]
    topics: Sequence[str]
    started_at: datetime
    ended_at: datetime
    messages: int
    sentences: Sequence[tuple[str, str]]
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
    """Narrate the conversation in the words of its people."""
    language = _language_of(" ".join([text for text, _ in account.sentences] or account.topics))
    phrases, forms = languages.phrases(language), languages.phrases(language).episode
    others = phrases.listed([phrases.assistant if other == ASSISTANT else other for other in account.others])
    talked = forms.talked_with.format(others=others) if others else forms.talked_alone
    parts = [forms.opened.format(name=account.name, talked=talked, day=languages.day(account.started_at, language))]
    for text, who in account.sentences[:SENTENCES]:
        parts.append((forms.quoted_from if who else forms.quoted).format(who=who, text=clip(text)))
    if outcome := forms.outcomes[account.ending.outcome]:
        quote = clip(account.ending.words) if account.ending.words else ""
        parts.append((forms.ended_saying if quote else forms.ended).format(outcome=outcome, text=quote))
    if account.ending.reward is not None:
        parts.append(forms.reward.format(reward=account.ending.reward))
    return "".join(parts).strip()


def _language_of(text: str) -> Language:
    """Return the language of a text: one with a script of its own if it has as many of its letters as Latin words."""
    language = languages.of(text)
    if language.has_script and sum(map(language.has_script, text)) < len(_LATIN.findall(text)):
        return languages.DEFAULT
    return language


_LATIN = re.compile(r"[A-Za-z]{2,}")

_ASKS = re.compile(r"[?？]\s*$")

_ENDINGS: Final = [
    (outcome, either(language.outcomes[outcome] for language in languages.ALL if language.outcomes))
    for outcome in ("failed", "resolved", "agreed")
]
"""Phrases at the end and the outcome they indicate; of two in one message the first counts."""

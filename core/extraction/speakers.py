"""Speaker of a message: a person, an assistant, a tool; whether the message is meant; and the question before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.language import languages, sentences
from core.language.en import pretence
from core.language.lazy_regex import either
from core.screening import names as screening_names
from core.types import Message

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot", "agent", "chatgpt", "claude", "gemini", "copilot", "system"})
LONGEST_MESSAGE = 1500
"""Characters. A longer message holds a pasted document; its author's own words are its first and last paragraph."""
REACH = 8
"""Earlier sentences of a speaker that are kept as context."""
_WORD = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]")
_NUMBER = re.compile(r"(?<!\w)\w*\d[\w.:/-]*")
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")
_IN_QUOTES = re.compile(r"[\"“「]")


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message of a person in its conversation.

    `sentences`: of its own words, none if they are not meant; `before`: sentences that the speaker said last;
    `question`: of somebody else right before it, or empty; `answers`: that message asked something; `listeners`: other
    people; `only_users`: whoever speaks has the role of a user; `novelty`: share of words that are new in the
    conversation; `position`: its number; `lead`: what was said right before it.
    """

    message: Message
    speaker: str
    sentences: Sequence[str]
    before: Sequence[str]
    question: str
    answers: bool
    listeners: frozenset[str]
    only_users: bool
    novelty: float
    position: int
    lead: str = ""

    def before_sentence(self, position: int, characters: int) -> str:
        """Return the end of what was said before a sentence of the message."""
        return " ".join([self.lead, *self.sentences[:position]])[-characters:]

    @property
    def addressee(self) -> str | None:
        """Return whom it speaks to, if that is one person."""
        return next(iter(self.listeners)) if len(self.listeners) == 1 else None


def speaker_of(message: Message) -> str | None:
    """Return the person whose statements `message` holds; None for an assistant, a tool or a system."""
    if message.role == "user":
        return message.speaker if message.speaker and screening_names.is_name(message.speaker) else message.user_id
    if message.role == "assistant" and message.speaker and message.speaker.lower() not in ASSISTANT_NAMES:
        return message.speaker
    return None


def with_assistants(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the names of assistants removed.

    A second person may speak in the role of the assistant; an assistant is known by saying next to nothing of itself.
    """
    spoken: dict[str, list[Message]] = {}
    for message in messages:
        if message.role == "assistant" and (name := speaker_of(message)):
            spoken.setdefault(name, []).append(message)
    assistants = {
        name
        for name, several in spoken.items()
        if sum(bool(_PERSONAL.search(message.content)) for message in several) < OF_ONESELF * len(several)
    }
    return [
        replace(message, speaker=None) if message.role == "assistant" and message.speaker in assistants else message
        for message in messages
    ]


def heard(messages: Sequence[Message]) -> Iterator[HeardMessage]:
    """Yield the messages of people among `messages` (one conversation, in order)."""
    messages = with_assistants(messages)
    names = {message.speaker for message in messages if message.speaker and speaker_of(message)}
    only_users = all(message.role == "user" for message in messages if speaker_of(message))
    meant = _in_earnest(messages)
    spoken: dict[str, list[str]] = {}
    words_before: set[str] = set()
    alike: dict[str, tuple[float, int]] = {}
    previous: Message | None = None
    lead = ""
    for message in messages:
        text = own_words(message)
        words = set(_WORD.findall(text.lower()))
        speaker = speaker_of(message)
        if speaker:
            novelty = len(words - words_before) / len(words) if words else 0.0
            # What says the same of another number ("ticket 1205") is worth what the first of its kind was.
            shape, setting = _NUMBER.sub("#", message.content), (novelty, max(message.position, 1))
            setting = alike.setdefault(shape, setting) if shape != message.content else setting
            cut = sentences.split(text)
            before = spoken.setdefault(speaker, [])
            yield HeardMessage(
                message, speaker, tuple(cut) if message.id in meant else (), tuple(before),
                _question_before(previous, speaker), previous is not None and _asks(previous.content),
                frozenset(names - {speaker}), only_users, *setting, lead,
            )  # fmt: skip
            spoken[speaker] = [*before, *cut][-REACH:]
        words_before |= words
        lead = f"{lead} {text}" if speaker else message.content
        lead = lead[-LONGEST_MESSAGE:]
        previous = message


def own_words(message: Message) -> str:
    """Return what the author of a message wrote: all, or of a long one its first and last paragraph."""
    text = message.content
    if len(text) <= LONGEST_MESSAGE:
        return text
    paragraphs = [p for p in re.split(r"\n\s*\n", text) if p.strip()]
    return "\n".join(p[:LONGEST_MESSAGE] for p in dict.fromkeys((*paragraphs[:1], *paragraphs[-1:])))


def question_in(text: str) -> str | None:
    """Return the last question of a message, which the next message may answer."""
    questions = _QUESTION.findall(text[-sentences.LONGEST :])
    return questions[-1].strip() if questions and not _IN_QUOTES.search(questions[-1]) else None


def _question_before(previous: Message | None, speaker: str) -> str:
    """Return the question of somebody else in the message before; tools and systems ask none."""
    if previous is None or previous.role not in {"user", "assistant"} or speaker_of(previous) == speaker:
        return ""
    return question_in(previous.content) or ""


def _asks(text: str) -> bool:
    return "?" in text or "？" in text


def _in_earnest(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of messages without play or jokes."""
    spoken: dict[str, list[Message]] = {}
    for message in messages:
        spoken.setdefault(speaker_of(message) or "", []).append(message)
    return frozenset(
        message.id
        for several in spoken.values()
        for message, is_meant in zip(several, pretence.in_earnest(own_words(m) for m in several), strict=True)
        if is_meant
    )


OF_ONESELF = 0.05
"""Minimum share of messages in which a person speaks of their own life."""
_PERSONAL = either(language.chat.personal for language in languages.ALL if language.chat)

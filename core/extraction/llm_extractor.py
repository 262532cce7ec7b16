"""Extraction by a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from core.events.parsing import YEARS
from core.extraction import extractor_setting, speakers
from core.extraction.protocol import ExtractedUnit, Reading, Window
from core.inference import prompts as prompt_texts
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.language import languages, scripts
from core.memory.identity import KnownMemory
from core.statements import comparison
from core.types import Candidate, Category, Ended, Evidence, Kind, Message, Relations, Shown, Topic

VERSION: Final = "v5"

QUOTE_CHARACTERS = 500
"""Characters of a message stored as a quote."""

LONGEST_STATEMENT = 2000
"""Maximum characters of a statement; longer ones are texts."""

SHOWN = {"user": 8000, "assistant": 8000, "tool": 1200, "system": 1200}
"""Characters of a message that a model is shown, by who says it: of what is longer the beginning and the end.
Results of tools and prompts only tell what people mean, and their beginning says what they are."""

NAME_CHARACTERS = 100

MOST_NAMES: Final = 8
"""Other names of a person that one statement tells."""

SAME_LANGUAGE: Final = (
    "## Language\nWrite every statement in the language of the messages that it cites, as the person wrote it: "
    "an answer before this one translated some."
)
"""Stands behind the messages when they are shown again."""

Set = Literal["production", "eval"]


class StatementCategory(StrEnum):
    """Categories of a statement; an episode or a pattern cannot be seen in one window."""

    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    PLAN = "plan"
    EVENT = "event"
    PROJECT = "project"
    SKILL = "skill"
    KNOWLEDGE = "knowledge"


KINDS: Final = {StatementCategory.EVENT: Kind.EPISODIC, StatementCategory.SKILL: Kind.PROCEDURAL}
"""Kinds of the categories that are not semantic."""


def _plain(text: str) -> str:
    """Strip spaces, and remove characters that PostgreSQL does not store."""
    return text.replace("\x00", "").strip()


def _share(number: float) -> float:
    """Clamp to 0 … 1: models overshoot, which is no reason to ask again."""
    return min(max(number, 0.0), 1.0)


def _moment(moment: datetime | None) -> datetime | None:
    """Convert to UTC, which is assumed without a zone; None outside the supported years."""
    if moment is None or moment.year not in YEARS:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Text = Annotated[str, AfterValidator(_plain)]
Share = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_share)]
Moment = Annotated[datetime | None, AfterValidator(_moment)]


class ModelEnding(ModelAnswer):
    """A known memory, by its number, that a statement ends, and what remains of it; None: nothing."""

    known: int
    rest: Text | None


class ModelStatement(ModelAnswer):
    """A statement in the model's answer; `messages` and known memories by their numbers."""

    content: Text
    category: StatementCategory
    topic: Topic
    subject: Text
    also: list[Text]
    attribute: Text | None
    value: Text | None
    occurred_at: Moment
    importance: Share
    confidence: Share
    corrects: bool
    same_as: int | None
    more_of: int | None
    ends: list[ModelEnding]
    messages: list[int]


class ModelUnit(ModelAnswer):
    """A part of the conversation on one topic, in the model's words."""

    subject: Text
    summary: Text
    narrative: Text
    keywords: list[Text]
    messages: list[int]


class Extraction(ModelAnswer):
    """Lasting statements and topics of a window."""

    statements: list[ModelStatement]
    units: list[ModelUnit]


class ModelExtractor:
    """Puts one question to a model for each window, in the language of its messages."""

    name = extractor_setting.BY_MODEL

    def __init__(self, client: ChatClient, prompts: Set = "production") -> None:
        """`prompts`: the set whose prompts are used."""
        self._client = client
        self._set = prompts
        self.prompt = f"extract.{prompts}.{VERSION}"

    def read(self, window: Window, on_call: OnCall) -> Reading:
        """Ask the model for candidates. Later: it refused for now. Never: its second answer was unusable, too."""
        if not window.fresh:
            return Reading([])
        prompt = prompt_of(window, self._set)
        numbered = dict(enumerate((*window.before, *window.fresh), start=1))
        fresh = {number: message for number, message in numbered.items() if number > len(window.before)}
        answer = self._ask(prompt, transcript(numbered, fresh, window.memories or ()), fresh, on_call)
        memories = None if window.memories is None else dict(enumerate(window.memories, start=1))
        stated = [_candidate(statement, numbered, fresh, memories) for statement in answer.statements]
        units = [_unit(unit, fresh, prompt) for unit in answer.units]
        return Reading(
            [candidate for candidate in stated if candidate], [unit for unit in units if unit], stated.count(None)
        )

    def _ask(self, prompt: str, rendered: str, fresh: Mapping[int, Message], on_call: OnCall) -> Extraction:
        """Ask, and once more where statements are written in another script than the messages that they cite."""
        system = prompt_texts.load(prompt)
        answer = self._client.ask(prompt, system, rendered, Extraction, on_call)
        if any(_is_foreign(statement, fresh) for statement in answer.statements):
            answer = self._client.ask(prompt, system, f"{rendered}\n\n{SAME_LANGUAGE}", Extraction, on_call)
        return answer


def prompt_of(window: Window, prompts: Set) -> str:
    """Name and version of the prompt for a window: in Chinese where that is what its people write."""
    spoken = "\n".join(message.content for message in window.fresh if message.role in {"user", "assistant"})
    language = languages.grammar_of(spoken).code
    return f"extract.{prompts}.{language}.{VERSION}"


def transcript(
    numbered: Mapping[int, Message], fresh: Mapping[int, Message], memories: Sequence[KnownMemory] = ()
) -> str:
    """Return known memories and messages as JSON lines, earlier ones apart; so none can pass for another line."""
    zone = next((message.occurred_at.tzinfo for message in fresh.values()), None)
    remembered = [_known_line(number, memory, zone) for number, memory in enumerate(memories, start=1)]
    before = [_line(number, message) for number, message in numbered.items() if number not in fresh]
    new = [_line(number, message) for number, message in fresh.items()]
    return "\n".join(
        [
            *(["## Known", *remembered, ""] if remembered else []),
            *(["## Said before", *before, ""] if before else []),
            "## New",
            *new,
        ]
    )


def _known_line(number: int, memory: KnownMemory, zone: tzinfo | None) -> str:
    """Return a known memory as a line; the day is that of the clock of who speaks now."""
    fields = {
        "k": number,
        "said": f"{memory.told_at.astimezone(zone):%Y-%m-%d}",
        "about": memory.subject,
        **({"slot": f"{memory.attribute} = {memory.value}"} if memory.attribute else {}),
        "text": _shorten(memory.content, LONGEST_STATEMENT),
    }
    return json.dumps(fields, ensure_ascii=False)


def _line(number: int, message: Message) -> str:
    at = message.occurred_at
    fields = {
        "n": number,
        "at": f"{at:%Y-%m-%d %H:%M %z %A}" if at.utcoffset() else f"{at:%Y-%m-%d %H:%M %A}",
        "who": _who(message)[:NAME_CHARACTERS],
        "role": message.role,
        "text": _shorten(message.content, SHOWN.get(message.role, SHOWN["tool"])),
    }
    return json.dumps(fields, ensure_ascii=False)


def _who(message: Message) -> str:
    return message.speaker or (message.user_id if message.role == "user" else message.role)


def _shorten(text: str, most: int) -> str:
    """Return the text, or three quarters from its beginning and one from its end, with how much is left out."""
    if len(text) <= most:
        return text
    head, tail = most - most // 4, most // 4
    return f"{text[:head]} […{len(text) - most} characters left out…] {text[-tail:]}"


def _candidate(
    stated: ModelStatement,
    numbered: Mapping[int, Message],
    fresh: Mapping[int, Message],
    memories: Mapping[int, KnownMemory] | None,
) -> Candidate | None:
    """Build a candidate; None if it is in another script, cites no fresh message, or nobody who may say so.

    `memories`: known ones by the numbers under which they were shown; None: nobody has looked for any.
    """
    if _is_foreign(stated, fresh):
        return None
    cited = [fresh[number] for number in dict.fromkeys(stated.messages) if number in fresh]
    invented = any(number not in numbered for number in stated.messages)
    own_messages = _messages_of_one_user(cited, stated.subject)
    if invented or not _may_say(own_messages, stated.category) or not 0 < len(stated.content) <= LONGEST_STATEMENT:
        return None
    attribute, value = _slot(stated)
    occurred_at = stated.occurred_at or own_messages[0].occurred_at
    candidate = Candidate(
        content=stated.content,
        category=Category(stated.category),
        topic=stated.topic,
        subject=stated.subject[:NAME_CHARACTERS] or _who(own_messages[0]),
        evidence=tuple(Evidence(m.session_id, m.id, m.event_id, m.content[:QUOTE_CHARACTERS]) for m in own_messages),
        occurred_at=occurred_at,
        kind=KINDS.get(stated.category, Kind.SEMANTIC),
        importance=stated.importance,
        confidence=stated.confidence,
        attribute=attribute,
        value=value,
        valid_from=occurred_at if attribute else None,
        corrects=stated.corrects,
        structured={"also": also} if (also := _other_names(stated, own_messages)) else {},
    )
    return candidate if memories is None else _related(stated, candidate, memories)


def _other_names(stated: ModelStatement, spoken: Sequence[Message]) -> list[str]:
    """Return other names of the subject; none where it is the speaker, whose roles are those of others."""
    if any(_who(message).casefold() == stated.subject.casefold() for message in spoken):
        return []
    names = (name[:NAME_CHARACTERS] for name in stated.also if name and name != stated.subject)
    return list(dict.fromkeys(names))[:MOST_NAMES]


def _related(stated: ModelStatement, candidate: Candidate, memories: Mapping[int, KnownMemory]) -> Candidate:
    """Return a candidate with its relations to known memories by their numbers; others were not shown, and left out."""

    def memory_at(number: int | None) -> Shown | None:
        memory = None if number is None else memories.get(number)
        return Shown(memory.id, memory.version) if memory else None

    ends = [
        Ended(memory, _rest_of(memories[ending.known], ending.rest, candidate))
        for ending in stated.ends
        if (memory := memory_at(ending.known)) is not None
    ]
    return replace(candidate, relations=Relations(memory_at(stated.same_as), memory_at(stated.more_of), tuple(ends)))


def _rest_of(memory: KnownMemory, rest: str | None, candidate: Candidate) -> str:
    """Return what remains of an ended memory; nothing where that has a name or a number that neither statement has."""
    if not rest or len(rest) > LONGEST_STATEMENT:
        return ""
    remains, was, now = (comparison.read(text) for text in (rest, memory.content, candidate.content))
    named = remains.names <= was.names | now.names | {memory.subject.casefold()}
    counted = dict(remains.numbers).keys() <= dict(was.numbers).keys() | dict(now.numbers).keys()
    return rest if named and counted else ""


def _is_foreign(stated: ModelStatement, fresh: Mapping[int, Message]) -> bool:
    """Return whether a statement is written in another script than the messages that it cites."""
    return scripts.is_foreign(stated.content, "\n".join(fresh[n].content for n in stated.messages if n in fresh))


def _messages_of_one_user(cited: Sequence[Message], subject: str) -> list[Message]:
    """Return the cited messages of one user, in order: the subject's if there are any, else the first speaker's.

    What someone said in a conversation is theirs, and no evidence of what another one keeps.
    """
    owner = next((m for m in cited if _who(m).casefold() == subject.casefold()), cited[0] if cited else None)
    return [m for m in cited if owner and m.user_id == owner.user_id]


def _may_say(cited: Sequence[Message], category: StatementCategory) -> bool:
    """Return whether it cites words of a person: claims of only an assistant or a tool are no facts about anybody.

    Only a user can tell the assistant how to behave.
    """
    if category is StatementCategory.INSTRUCTION:
        return any(message.role == "user" for message in cited)
    return any(speakers.speaker_of(message) is not None for message in cited)


def _slot(stated: ModelStatement) -> tuple[str | None, str | None]:
    """Return attribute and value where both are there, the attribute as rules write it: `home.city`."""
    attribute = re.sub(r"[^a-z0-9.]+", "_", (stated.attribute or "").lower()).strip("_.")[:NAME_CHARACTERS]
    return (attribute, stated.value) if attribute and stated.value else (None, None)


def _unit(unit: ModelUnit, fresh: Mapping[int, Message], prompt: str) -> ExtractedUnit | None:
    """Return a unit of the new messages; None if it covers none of them or is empty."""
    ids = [fresh[number].id for number in dict.fromkeys(unit.messages) if number in fresh]
    if not ids or not unit.summary:
        return None
    keywords = list(dict.fromkeys(_words(unit.keywords)))
    return ExtractedUnit(
        ids, unit.subject or unit.summary, unit.summary, unit.narrative or unit.summary, keywords, prompt
    )


def _words(keywords: Sequence[str]) -> Iterator[str]:
    return (word[:NAME_CHARACTERS] for word in keywords if word)

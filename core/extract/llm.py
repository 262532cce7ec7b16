"""Extraction by a language model: one structured question a window of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from core.errors import Never
from core.llm import Client, OnCall
from core.types import Candidate, Category, Evidence, Kind, Message, Topic

PROMPT = "extract.v1"
PROMPT_FILE = Path(__file__).parent.parent / "prompts" / f"{PROMPT}.md"

WINDOW = 40
"""Messages put before the model at once: a page of talk, well inside any context window."""

QUOTE_CHARACTERS = 500
Share = Annotated[float, Field(ge=0, le=1)]


class Found(BaseModel):
    """A memory as the model writes it down."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[str, Field(min_length=1, max_length=2000)]
    kind: Kind
    category: Category
    topic: Topic
    subject: Annotated[str, Field(min_length=1, max_length=200)]
    attribute: str | None
    value: str | None
    importance: Share
    confidence: Share
    occurred_at: AwareDatetime | None
    corrects: bool
    message_ids: Annotated[list[str], Field(min_length=1)]


class Memories(BaseModel):
    """Everything a window holds that lasts."""

    model_config = ConfigDict(extra="forbid")

    memories: list[Found]


def extract(client: Client, messages: Sequence[Message], on_call: OnCall) -> list[Candidate]:
    """Candidates of all windows. Later: the model refused for now. Never: its answer could not be used."""
    system = PROMPT_FILE.read_text(encoding="utf-8")
    found: list[Candidate] = []
    for start in range(0, len(messages), WINDOW):
        window = messages[start : start + WINDOW]
        answer = client.ask(PROMPT, system, _transcript(window), Memories, on_call)
        found += _candidates(answer, {m.id: m for m in window})
    return found


def _transcript(window: Sequence[Message]) -> str:
    return "\n".join(
        f"[{m.id}] {m.occurred_at:%Y-%m-%d %H:%M} {m.speaker or m.user_id} ({m.role}): {m.content}" for m in window
    )


def _candidates(answer: Memories, messages: Mapping[str, Message]) -> list[Candidate]:
    return [_candidate(found, [messages[i] for i in found.message_ids if i in messages]) for found in answer.memories]


def _candidate(found: Found, cited: Sequence[Message]) -> Candidate:
    if not cited:
        raise Never(f"The model cites messages that it was not shown: {found.message_ids}.")
    slotted = bool(found.attribute and found.value)
    return Candidate(
        content=found.content,
        category=found.category,
        topic=found.topic,
        subject=found.subject,
        evidence=tuple(Evidence(m.session_id, m.id, m.event_id, m.content[:QUOTE_CHARACTERS]) for m in cited),
        occurred_at=(found.occurred_at or cited[-1].occurred_at).astimezone(UTC),
        kind=found.kind,
        importance=found.importance,
        confidence=found.confidence,
        attribute=found.attribute if slotted else None,
        value=found.value if slotted else None,
        valid_from=_moment(found, cited) if slotted else None,
        corrects=found.corrects,
    )


def _moment(found: Found, cited: Sequence[Message]) -> datetime:
    return (found.occurred_at or cited[-1].occurred_at).astimezone(UTC)

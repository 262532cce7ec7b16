"""A turn of an agent, for adapters: what its model is shown before it, and what was said in it.

An agent goes on if its memory does not answer: a failure is logged, and the turn has no context or is not recorded.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from imprint_client import AsyncSession, ImprintError

Json = dict[str, Any]

log = logging.getLogger("imprint_client")

HEADING = "Known from earlier conversations with this user:"

SHOWN = ("instructions", "profile", "memories", "since", "focus", "knowledge")
"""Sections of a context that are about the user; the framework has the conversation itself."""

SHARES = {"system": 0.35, "long_term": 0.6, "short_term": 0.05, "reserve": 0.0}

LONGEST_QUESTION = 10_000
"""Characters of a question; the end of a longer message is asked."""


@dataclass(frozen=True)
class Recalled:
    """A text for the model, empty if nothing is known, and what it cites."""

    text: str = ""
    sources: Sequence[Json] = ()


async def recall(session: AsyncSession, question: str, max_tokens: int) -> Recalled:
    """Return what is known for a question that is asked in a conversation."""
    if not question.strip():
        return Recalled()
    asked: Json = {"max_tokens": max_tokens, "budget": SHARES, "format": "text"}
    try:
        answer = await session.context(question[-LONGEST_QUESTION:], **asked)
    except (ImprintError, httpx.TransportError) as error:
        log.warning("No context for session %s: %s", session.id, error)
        return Recalled()
    sections = {one["name"]: one for one in answer["sections"]}
    chosen = [sections[name] for name in SHOWN if name in sections and sections[name]["text"]]
    if not chosen:
        return Recalled()
    text = "\n\n".join([HEADING, *(one["text"] for one in chosen)])
    return Recalled(text, [source for one in chosen for source in one["sources"]])


async def record(session: AsyncSession, turn_id: str, said: Sequence[tuple[str, str]]) -> None:
    """Record the messages of a turn, pairs of role and text; with the same `turn_id` again it changes nothing."""
    messages = [
        {"message_id": f"{turn_id}:{number}", "role": role, "content": text}
        for number, (role, text) in enumerate(said)
        if text.strip()
    ]
    try:
        await session.publish("message.added", messages)
    except (ImprintError, httpx.TransportError) as error:
        log.error("A turn of session %s was not recorded: %s", session.id, error)  # noqa: TRY400 - no trace

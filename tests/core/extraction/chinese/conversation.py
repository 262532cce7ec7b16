"""A conversation in Chinese, and what is extracted from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.extraction.rule_extractor import statements_of_rules
from core.types import Candidate, Message

SAID_AT = datetime(2026, 5, 20, 15, tzinfo=UTC)  # a Wednesday


def talk(*lines: str) -> list[Candidate]:
    """What is kept of a conversation; a line that begins with `A:` is the assistant's."""
    return statements_of_rules([_message(place, line) for place, line in enumerate(lines, 1)])


def _message(place: int, line: str) -> Message:
    role = "assistant" if line.startswith("A:") else "user"
    at = SAID_AT + timedelta(minutes=place)
    speaker = None if role == "assistant" else "王强"
    text = line.removeprefix("A:").strip()
    return Message("s1", f"m{place}", place, f"e{place}", "wang", role, text, at, speaker)


def contents(*lines: str) -> list[str]:
    return [candidate.content for candidate in talk(*lines)]


def slots(*lines: str) -> dict[tuple[str, str | None], str | None]:
    return {(c.subject, c.attribute): c.value for c in talk(*lines) if c.attribute}

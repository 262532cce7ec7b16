"""Conversations to be summarised."""

from __future__ import annotations

from datetime import UTC, datetime

from core.types import Message


def a_message(content: str, n: int = 1, role: str = "user", speaker: str | None = None) -> Message:
    return Message("s1", f"m{n}", n, f"e{n}", "ada", role, content, datetime(2026, 11, 21, 12, tzinfo=UTC), speaker)

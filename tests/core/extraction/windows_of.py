"""Windows of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime

from core.types import Message


def messages(first: int, last: int) -> list[Message]:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    return [Message("s", f"m{n}", n, f"e{n}", "ada", "user", f"This is {n}.", noon) for n in range(first, last + 1)]

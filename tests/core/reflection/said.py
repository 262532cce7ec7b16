"""Statements of many days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from core.reflection import recurrence
from core.reflection.recurrence import DatedStatement, Recurrence, Utterance

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def on(content: str, *days: float, at: int = 0, role: str = "user", own: bool = True) -> DatedStatement:
    """One statement, made on these days after a Monday."""
    told = [MONDAY + timedelta(days=day) for day in days]
    return DatedStatement(UUID(int=at), content, told[-1], [Utterance(content, when, role, own) for when in told])


def each(contents: Sequence[str], every: float = 4, first: int = 0, role: str = "user") -> list[DatedStatement]:
    """One statement after the other, some days apart."""
    return [on(content, every * at, at=at, role=role) for at, content in enumerate(contents, first)]


def found(statements: Sequence[DatedStatement], subject: str = "Ada", names: Sequence[str] = ()) -> list[Recurrence]:
    return recurrence.recurrences(statements, subject, names)


def said(statements: Sequence[DatedStatement], subject: str = "Ada", names: Sequence[str] = ()) -> list[str]:
    """What comes of them, without the count of days."""
    return [re.split("[(（]", one.content)[0].strip() for one in found(statements, subject, names)]

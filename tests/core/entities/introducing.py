"""Introductions of people, day by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.entities import reading, resolution
from core.entities.resolution import Decision, Directory, Introduction
from core.language import introductions
from core.storage.db import Database
from tests.samples import TENANT

FIRST = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


def heard(*texts: str, decisions: tuple[Decision, ...] = (), own: frozenset[str] = frozenset()) -> Directory:
    """Return who is known by what was said, one text a day."""
    told = [Introduction(link, day(n)) for n, text in enumerate(texts) for link in introductions.links(text)]
    return resolution.resolve(told, decisions, own)


def same(form: str, other: str = "") -> Decision:
    return Decision(*sorted((form, other), key=bool, reverse=True), same=True, at=day(99))


def apart(form: str, other: str) -> Decision:
    return Decision(form, other, same=False, at=day(99))


def forms(directory: Directory) -> list[list[str]]:
    return sorted(sorted(entity.spans) for entity in directory.entities)


def bearer(app: Database, name: str, user: str = "ada") -> str | None:
    with app.tenant(TENANT) as tx:
        entity = reading.directory(tx, user).bearer_of(name)
    return entity.name if entity else None

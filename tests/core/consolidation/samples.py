"""A candidate without evidence, and a memory that it is compared with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from core.consolidation.judge import Kind
from core.memory.identity import KnownMemory
from core.types import Candidate, Category, Topic

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def a_candidate(content: str, **fields: object) -> Candidate:
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (), NOON)
    return replace(plain, **fields)  # type: ignore[arg-type]


def a_known(content: str, similarity: float | None = None, **fields: object) -> KnownMemory:
    plain = KnownMemory(uuid4(), 1, content, "ada", None, None, NOON, similarity)
    return replace(plain, **fields)  # type: ignore[arg-type]


MERGED = {Kind.CONFIRM, Kind.MERGE, Kind.REPLACE}

"""Statements drawn from a group of memories: a recurring theme by rules, anything else by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from core.errors import Never
from core.inference import ask
from core.inference.ask import ModelRefused, Prompt
from core.inference.client import ChatClient, OnCall
from core.language.terms import has_han, terms
from core.reflection import clustering
from core.statements import condense
from core.types import Category

SUPPORT: Final = 4
"""Memories that a pattern rests on at the least."""

OCCASIONS: Final = 2
"""Sessions or days that they come from at the least: what was said twice in one breath is no habit."""


class GroupedMemory(Protocol):
    """Columns of a memory that a statement may be drawn from."""

    id: UUID
    version: int
    group_id: str | None
    content: str
    subject: str
    topic: str
    importance: float
    confidence: float
    occurred_at: datetime


class RecordedMemory(GroupedMemory, Protocol):
    """Columns of a memory among the newest ones or near them."""

    session_id: str | None
    recorded_at: datetime
    vector: str | None


class DerivedStatement(NamedTuple):
    """A statement drawn from memories: its category, its words, and the memories that it rests on.

    `cited_count`: the evidence of this many members, the first, is cited; the others are only counted. `theme`: the
    recurring theme, and the number of its `days`.
    """

    category: Category
    content: str
    members: Sequence[GroupedMemory]
    cited_count: int
    theme: str | None = None
    days: int = 0


class MemoryGroup(NamedTuple):
    """Memories that belong together, and the finding by rules; None: only a model may find one."""

    members: Sequence[GroupedMemory]
    by_rules: DerivedStatement | None


Wording = Callable[[MemoryGroup], DerivedStatement | None]
"""From a group to what it shows; None: nothing."""


def by_rules(group: MemoryGroup) -> DerivedStatement | None:
    """Return the finding by rules."""
    return group.by_rules


def by_model(client: ChatClient, on_call: OnCall) -> Wording:
    """Word findings by a model, where its words bring no name or number that the memories lack; else by rules."""

    def describe(group: MemoryGroup) -> DerivedStatement | None:
        rows = group.members[: clustering.MOST]
        listed = "\n".join(f"{n}. ({row.occurred_at:%Y-%m-%d}) {row.content}" for n, row in enumerate(rows, 1))
        bare = group.by_rules or DerivedStatement(Category.PATTERN, "", group.members, len(group.members))
        answer = ask.ask(client, on_call, PROMPT, listed, lambda one: _is_grounded(one, bare.members))
        if isinstance(answer, ModelRefused):
            return group.by_rules
        if answer.category == "none":
            return None
        return bare._replace(category=Category(answer.category), content=answer.statement.strip())

    return describe


class _GeneralizationAnswer(BaseModel):
    """The model's finding for a group."""

    model_config = ConfigDict(extra="forbid")

    category: Literal["pattern", "knowledge", "none"]
    statement: Annotated[str, Field(max_length=400)]


PROMPT: Final = Prompt("patterns.v1", _GeneralizationAnswer, falls_back_on=(Never,))


def is_supported(group: Sequence[RecordedMemory]) -> bool:
    """Return whether there are enough memories, from more than one occasion."""
    sessions = {row.session_id for row in group if row.session_id}
    days = {row.occurred_at.date() for row in group}
    return len(group) >= SUPPORT and max(len(sessions), len(days)) >= OCCASIONS


def _is_grounded(answer: _GeneralizationAnswer, members: Sequence[GroupedMemory]) -> bool:
    """Return whether each name and number of the statement, and in Chinese each word, is in the memories."""
    if answer.category == "none":
        return True
    statement = answer.statement.strip()
    there = [*(row.content for row in members), members[0].subject]
    words = frozenset[str]().union(*map(condense.words_of, there))
    source_terms = {term for text in there for term in terms(text)} | OFTEN
    han = {term for term in terms(statement) if len(term) > 1 and has_han(term)}
    return bool(statement) and condense.marks(statement) <= words and han <= source_terms


OFTEN: Final = frozenset("经常 常常 通常 总是 习惯 喜欢 每天 每周 每月 多次 反复 一直 规律 偏好".split())
"""Words for what comes again, which a statement in Chinese may use of its own."""

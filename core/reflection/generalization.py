"""Statements derived from a group of memories: a recurring theme by rules, anything else by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple, Protocol
from uuid import UUID

from pydantic import Field

from core.errors import Never
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.language import languages
from core.language.scripts import has_han
from core.language.terms import terms
from core.reflection import clustering
from core.statements import condense
from core.types import Category, Json

SUPPORT: Final = 4
"""Minimum memories that support a pattern."""

OCCASIONS: Final = 2
"""Minimum sessions or days that they come from: two statements in one conversation make no habit."""


class GroupedMemory(Protocol):
    """Columns of a memory that a statement may be derived from."""

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
    """A statement derived from memories: its category, its words, and the supporting memories.

    `cited_count`: the evidence of this many members, the first ones, is cited; the others are only counted. `theme`:
    the recurring theme, with the number of its `days` and its `times` as values.
    """

    category: Category
    content: str
    members: Sequence[GroupedMemory]
    cited_count: int
    theme: str | None = None
    days: int = 0
    times: Json | None = None


class MemoryGroup(NamedTuple):
    """Memories that belong together, and the finding by rules; None: only a model may find one."""

    members: Sequence[GroupedMemory]
    by_rules: DerivedStatement | None


Wording = Callable[[MemoryGroup], DerivedStatement | None]
"""Words the finding of a group; None: there is none."""


def by_rules(group: MemoryGroup) -> DerivedStatement | None:
    """Return the finding by rules."""
    return group.by_rules


def by_model(client: ChatClient, on_call: OnCall) -> Wording:
    """Word findings with a model, unless it adds names or numbers that the memories lack; else by rules."""

    def describe(group: MemoryGroup) -> DerivedStatement | None:
        rows = group.members[: clustering.MOST]
        listed = "\n".join(f"{n}. ({row.occurred_at:%Y-%m-%d}) {row.content}" for n, row in enumerate(rows, 1))
        bare = group.by_rules or DerivedStatement(Category.PATTERN, "", group.members, len(group.members))
        answer = ask.ask(client, on_call, PROMPT, listed, lambda answer: _is_grounded(answer, bare.members))
        if isinstance(answer, ModelRefused):
            return group.by_rules
        if answer.category == "none":
            return None
        return bare._replace(category=Category(answer.category), content=answer.statement.strip())

    return describe


class _GeneralizationAnswer(ModelAnswer):
    """The model's finding for a group."""

    category: Literal["pattern", "knowledge", "none"]
    statement: Annotated[str, Field(max_length=400)]


PROMPT: Final = ModelPrompt("patterns.v1", _GeneralizationAnswer, falls_back_on=(Never,))


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


OFTEN: Final = frozenset[str]().union(*(language.activities.often for language in languages.ALL if language.activities))
"""Words for repetition, which a derived statement may add."""

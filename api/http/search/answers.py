"""Answers of searches and contexts."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, of, optional, page
from core.context.adaptive_depth import Depth
from core.search import recipes
from core.types import Category, Json, Kind, Status, Topic, Trust


class ScoreParts(Answer):
    """How well a result fits by words and by meaning."""

    lexical: float | None = Field(description="Of the words (BM25)")
    vector: float | None = Field(description="Of the meaning (cosine); null: it was found by words alone")
    parts: dict[str, float] = optional("What the score is made of, with `explain`")
    ranks: dict[str, int] = optional("Its place in each list, with `explain`")
    relevance: float = optional("By the strength formula, with `explain`")
    certainty: float = optional("How certain it is to answer the query, 0 to 1, with `rerank`")


class ResultSource(Answer):
    """Where a result comes from: a message, an event, a passage or a part of a conversation."""

    session_id: str | None
    message_id: str | None
    event_id: str | None
    quote: str
    document_id: UUID = optional()
    passage: int = optional("Number of the passage in its document")
    from_: int = Field(default_factory=lambda: 0, alias="from", description="Its first character in the document")
    to: int = optional("The character after its last in the document")
    from_position: int = optional("Position of the first message of a unit")
    to_position: int = optional("Position of the last message of a unit")


class UnitFact(Answer):
    """A dated fact of a unit."""

    text: str
    at: datetime | None = optional()
    by: str | None = optional()
    message_ids: list[str] = optional()


class FoundResult(Answer):
    """A result. Fields that a kind of result does not have are null or left out."""

    id: str
    type: str = Field(description="`memory`, `message`, `document` or `unit`")
    content: str
    score: float
    scores: ScoreParts
    kind: Kind | None
    category: Category | None
    topic: Topic | None
    importance: float | None
    strength: float | None
    confidence: float | None
    trust: Trust | None
    valid_from: datetime | None
    valid_to: datetime | None
    occurred_at: datetime | None
    sources: list[ResultSource]
    subject: str = optional("Of a memory: what it is about; of a unit: its topic")
    attribute: str | None = optional("Of a memory: a slot")
    value: str | None = optional("Of a memory: the value of the slot")
    status: Status = optional("Of a memory")
    level: int = optional("Of a memory")
    speaker: str | None = optional("Of a message")
    role: str = optional("Of a message")
    superseded: bool = optional("Of a message: whether what it says has been replaced since")
    partly_superseded: bool = optional("Of a message: whether a part of what it says has been replaced since")
    may_be_outdated: bool = optional("Whether something said later may have ended it; absent: nothing has")
    title: str = optional("Of a document")
    headings: list[str] = optional("Of a document: the headings above the passage")
    uri: str | None = optional("Of a document")
    version: int = optional("Of a document")
    narrative: str = optional("Of a unit")
    facts: list[UnitFact] = optional("Of a unit")
    participants: list[str] = optional("Of a unit")
    keywords: list[str] = optional("Of a unit")
    ended_at: datetime = optional("Of a unit")
    group_id: str | None = optional("Of a unit")
    user_id: str = optional("Whose it is, in a search over several users")


class OutsideResult(Answer):
    """A result of an installed retriever, on its own scale."""

    type: str = Field(description="`outside`")
    retriever: str
    source: str | None
    content: str
    score: float | None


class ResultGroup(Answer):
    """Results of one session or group: their positions in the list."""

    session_id: str | None = optional()
    group_id: str | None = optional()
    score: float
    results: list[int]


@of(recipes.Recipe)
class SearchRecipe(Answer):
    """A search recipe: its purpose and its parameters."""

    name: str
    include: list[str]
    formula: str | None


class ArmHit(Answer):
    """A candidate in the list of one arm."""

    rank: int
    type: str
    id: str
    session_id: str | None = Field(description="Of a message")
    score: float


class SearchExplanation(Answer):
    """The recipe and filters in effect, how many rows passed, and what each arm found."""

    recipe: SearchRecipe
    method: str
    now: datetime
    filters: Json
    considered: dict[str, int] = Field(description="Rows that passed the filters, by type")
    arms: dict[str, list[ArmHit]] = Field(description="The best of each arm: by words, by vectors, by time, …")
    took_ms: dict[str, float] = Field(
        description="Milliseconds of each stage: `embedding`, `index`, `vector`, `lexical`, `documents`, `fusion`, "
        "`order`, `texts`; empty for several users"
    )


class SearchAnswer(Answer):
    """Results of a search, best first."""

    results: list[FoundResult]
    outside: list[OutsideResult] = optional("Results of the installed retrievers")
    groups: list[ResultGroup] = optional("With `group_by`: the results by session or group")
    total: int
    next: str | None = Field(description="What to send as `after` for the next page; null: this is the last one")
    took_ms: float
    depth: Depth = optional("With `adaptive`")
    explain: SearchExplanation = optional("With `explain`")


class ModelUseOfAnswer(Answer):
    """Calls of the model, which are counted like any other."""

    calls: int
    model: str
    input_tokens: int
    output_tokens: int


class GivenAnswer(Answer):
    """An answer to a question, or that it is not known."""

    outcome: str = Field(description="`answered`, or `unknown`: nothing that is remembered tells it")
    answer: str | None
    by: str = Field(description="`model` or `statement`")
    certainty: float | None = Field(
        description="Of the statement that answers best, 0 to 1; null: a model answered, or nothing was near"
    )
    sources: list[FoundResult] = Field(description="What the answer rests on")
    note: str | None = Field(description="Why no model answered where one was to; else null")
    model: ModelUseOfAnswer | None = Field(description="Null: no model was asked")
    took_ms: float


class ModelTextPart(Answer):
    """A part of a message in Anthropic's format."""

    type: str
    text: str
    cache_control: dict[str, str] = optional("Where a cached prefix ends")


class ModelMessage(Answer):
    """A message for a model."""

    role: str
    content: str | list[ModelTextPart]


class LeftOut(Answer):
    """Items that found no room in a section."""

    ref: str
    why: str


class ContextSection(Answer):
    """A section of a context."""

    name: str
    text: str
    tokens: int
    allowed: int = Field(description="Tokens that it might have had")
    sources: list[dict[str, Any]] = Field(description="What each piece comes from")
    left_out: list[LeftOut]


class ContextAnswer(Answer):
    """A context within a token limit."""

    messages: list[ModelMessage] = optional("With the formats `messages` and `anthropic`")
    system: list[ModelTextPart] = optional("With the format `anthropic`")
    text: str = optional("With the format `text`")
    sections: list[ContextSection]
    prefix_hash: str = Field(description="Hash of the part that a provider's cache can keep")
    total_tokens: int
    limit: int
    counter: str = Field(description="How the tokens were counted")
    depth: Depth
    took_ms: float


RecipePage = page("RecipePage", SearchRecipe, "The search recipes.")

"""Answers about memories: one, lists, verdicts, history, origins, relations."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from api.authors import Authorship
from api.http.log.answers import LoggedEvent
from api.http.work.answers import Dispatch
from api.ingress.answers import Answer, Page, of, optional, page
from core.memory import relations
from core.types import Category, Json, Kind, Relation, Status, Topic, Trust


class Source(Answer):
    """Evidence: a quote from a message, or the event that stated something."""

    session_id: str = Field(description="Empty: the evidence is no message")
    message_id: str = Field(description="Id of the message, or of the event")
    event_id: str
    quote: str
    expired: bool = optional("In the origin of a memory: whether the message has left by the tenant's retention")


class Memory(Answer):
    """A long-term statement with its evidence."""

    id: UUID
    user_id: str | None
    group_id: str | None
    session_id: str | None = Field(description="Session in which it was learnt")
    subject: str = Field(description="Person or thing that it is about")
    kind: Kind
    category: Category
    topic: Topic
    content: str
    structured: Json = Field(description="Parts of the statement; `typed` has the value of the slot with its type")
    attribute: str | None = Field(description="A slot, such as `home.city`")
    value: str | None = Field(description="Value of the slot")
    importance: float = Field(description="From 0 to 1")
    confidence: float = Field(description="From 0 to 1")
    trust: Trust
    status: Status
    occurred_at: datetime = Field(description="When it happened or was said")
    valid_from: datetime | None = Field(description="Since when it is true")
    valid_to: datetime | None = Field(description="Until when it is true")
    recorded_at: datetime = Field(description="When it was first stored")
    updated_at: datetime
    expires_at: datetime | None
    half_life_days: float | None = Field(description="Of its own; null: that of its category")
    last_used_at: datetime | None
    uses: int
    fade_at: datetime | None = Field(description="When its strength falls below the threshold if it is not used")
    pinned: bool
    tags: list[str]
    audience_labels: list[str] = Field(description="A reader must hold all of them")
    level: int = Field(description="0: a statement; above: drawn from that many levels of other memories")
    version: int
    strength: float = Field(description="How alive it is now")
    source_type: str | None = Field(description="`conversation`, `event` or `derived`; null: its evidence was erased")
    sources: list[Source]


class FadingCurve(Answer):
    """Strength of a memory that nobody uses: `floor + height · 0.5^(days since / half_life_days)`."""

    since: datetime
    height: float
    floor: float
    half_life_days: float | None = Field(description="null: it does not fade")


class MemoryWithUnits(Memory):
    """A memory, the units of conversations that it rests on, and the curve by which it fades."""

    unit_ids: list[UUID]
    curve: FadingCurve


class MemoryPage(Page):
    """A page of memories."""

    items: list[Memory]
    sorted_newest: int | None = Field(
        description="Of how many of the newest these come first in the order; null: of all that match"
    )


class FetchedMemories(Page):
    """Memories by their ids."""

    items: list[Memory]
    missing: list[UUID] = Field(description="Ids of those that are not there")


class KeptStatement(Answer):
    """Verdict on a statement."""

    memory: Memory | None = Field(description="The memory that has it; null: it was not stored")
    verdict: str = Field(description="`add`, `confirm`, `merge`, `replace`, `supersede`, `predates`, `contradict`, …")
    reason: str
    decision_id: UUID = Field(description="Id of the change, for its undo")


class MemoryChange(Answer):
    """A version of a memory: what was done to it, by whom and why."""

    version: int
    change: str = Field(description="`add`, `edit`, `confirm`, `merge`, `archive`, `restore`, `pin`, …")
    reason: str
    author: Authorship
    at: datetime
    change_id: UUID | None = Field(description="Id of the change, for its undo")


class HistoricVersion(MemoryChange):
    """A version of a memory with its content."""

    snapshot: Json = Field(description="The memory as it was after the change")
    dispatch_id: UUID | None


class RuleVersion(Answer):
    """A version of a rule."""

    name: str | None
    version: int | None


class ModelCall(Answer):
    """A call of a language model."""

    id: UUID
    dispatch_id: UUID
    model: str
    prompt: str = Field(description="Name and version of the prompt")
    input_tokens: int
    output_tokens: int
    cost: float
    latency_ms: float
    outcome: str
    at: datetime


class OriginStep(MemoryChange):
    """A change of a memory; by a rule also with the event, the dispatch and the calls that led to it."""

    dispatch: Dispatch = optional()
    rule: RuleVersion = optional()
    event: LoggedEvent = optional()
    model_calls: list[ModelCall] = optional()
    expired: bool = optional("True: the dispatch has left by the tenant's retention")


class MemoryOrigin(Answer):
    """Why a memory exists."""

    memory: Memory
    steps: list[OriginStep] = Field(description="Its versions, oldest first")


class ConcernedMemory(Answer):
    """A memory that a verdict is about."""

    id: UUID
    content: str
    status: Status
    trust: Trust


class Decision(Answer):
    """A verdict on a statement."""

    change_id: UUID
    kind: str
    reason: str
    user_id: str | None
    group_id: str | None
    said: str | None = Field(description="The statement")
    sources: list[Source]
    memories: list[ConcernedMemory]
    author: str | None
    rule: RuleVersion | None
    dispatch_id: UUID | None
    at: datetime
    undoes: UUID | None = Field(description="The change that this one undid")
    undo: str | None = Field(description="Path that undoes it; null: it was undone")
    undone_by: UUID | None


class UndoneChange(Answer):
    """An undone change."""

    change_id: UUID = Field(description="Id of the undo, which is a change itself")
    undoes: UUID
    undo: str = Field(description="Path that takes the undo back")
    memories: list[Memory] = Field(description="The memories as they are now")


class MergedMemories(Answer):
    """Memories merged by hand."""

    memory: Memory = Field(description="The one that was kept")
    absorbed: list[UUID]
    change_id: UUID
    undo: str = Field(description="Path that undoes it")
    warnings: list[str] = Field(description="Objections of the judge")


class PathHop(Answer):
    """A step of the path from one memory to another."""

    source: str = Field(alias="from")
    by: str = Field(description="A relation, or what they share: evidence, a slot, a subject")
    to: str
    outward: bool | None = Field(description="Whether the relation starts at `from`; null: it is no relation")
    strength: float


class RelatedMemory(Memory):
    """A memory related to another one."""

    score: float
    path: list[PathHop]


@of(relations.StoredRelation)
class WrittenRelation(Answer):
    """A relation between two memories."""

    relation: Relation
    strength: float = Field(description="Share of the weight of its kind")


class EvidenceMessage(Answer):
    """A message that a memory rests on."""

    session_id: str = Field(description="Empty: the evidence is no message")
    message_id: str
    event_id: str
    quote: str = Field(description="Without secrets")
    at: datetime | None = Field(description="When it was said")
    role: str | None = Field(description="Null: the message has left")
    speaker: str | None
    user_id: str | None


class ConflictSide(Answer):
    """One of the memories of a conflict, with the messages that it rests on."""

    memory: Memory
    cited: list[EvidenceMessage] = Field(description="The latest 5")


class Contradiction(Answer):
    """Which of two memories denies which."""

    from_id: UUID = Field(description="The one that denies")
    to_id: UUID
    at: datetime
    change_id: UUID | None = Field(description="The verdict; undoing it ends the dispute")
    reason: str | None


class ShownConflict(Answer):
    """Disputed memories that deny each other, directly or through others."""

    id: UUID = Field(description="The newest of its memories")
    sides: list[ConflictSide] = Field(description="At most 20, newest first; a single one lost its opponents")
    contradictions: list[Contradiction]
    held: list[UUID] = Field(description="Dispatches that wait for an approval to decide it")


class ResolvedConflict(Answer):
    """What a decision about a conflict has changed."""

    change_id: UUID
    undo: str = Field(description="Path that takes the decision back")
    memories: list[Memory] = Field(description="As they are now")
    cancelled: list[UUID] = Field(description="Dispatches that waited to decide it, and were cancelled")


class QuarantineFinding(Answer):
    """Why a text is quarantined."""

    kind: str = Field(description="`instruction`, `hidden`, `blob`, `exfiltration` or `risky_instruction`")
    detail: str = Field(description="What was found; the words as far as they may be shown")
    place: Literal["content", "quote"] = Field(description="In the statement itself, or in a message that it rests on")


class QuarantinedMemory(Answer):
    """A quarantined memory, why it is, and what it rests on."""

    memory: Memory
    cause: str = Field(description="Why it was set apart; names all memories of one cause")
    findings: list[QuarantineFinding] = Field(description="What the screen finds in it today")
    cited: list[EvidenceMessage]


class ReviewedRow(Answer):
    """What became of one row."""

    id: UUID
    outcome: Literal["done", "refused"]
    detail: str | None = optional("Why it was refused")
    undo: str | None = optional("Path that takes it back")


class ReviewedRows(Answer):
    """What became of each row of a request."""

    done: int
    refused: int
    more: bool = Field(description="Others fit as well; send the request again for them")
    items: list[ReviewedRow]


class AddedStatement(Answer):
    """A statement that a rebuild would add."""

    content: str


class GoneStatement(AddedStatement):
    """A statement that a rebuild would remove."""

    memory_id: UUID


class ChangedStatement(Answer):
    """A statement that a rebuild would change."""

    memory_id: UUID
    before: str = Field(alias="from")
    after: str = Field(alias="to")


class Difference(Answer):
    """Difference that a rebuild would make."""

    added: list[AddedStatement]
    gone: list[GoneStatement]
    changed: list[ChangedStatement]
    same: int
    kept: int = Field(description="Memories that a rebuild does not touch, since they do not come from the log")
    expired: int = optional("How many of these stay because messages that they rest on have left")


class Rebuild(Answer):
    """A rebuild of a user's memories."""

    id: UUID
    user_id: str
    status: str = Field(description="`running`, `ready`, `applied`, `dropped` or `failed`")
    params: Json
    difference: Difference | None
    author: Authorship
    created_at: datetime
    ended_at: datetime | None


class AppliedRebuild(Answer):
    """A rebuild that was applied."""

    id: UUID
    status: str
    changes: dict[str, int]


class DroppedRebuild(Answer):
    """A rebuild that was dropped."""

    id: UUID
    status: str


KeptStatements = page("KeptStatements", KeptStatement, "Verdicts on several statements, in their order.")
MemoryHistory = page("MemoryHistory", HistoricVersion, "Versions of a memory, oldest first.")
DecisionPage = page("DecisionPage", Decision, "A page of verdicts.")
RelatedPage = page("RelatedPage", RelatedMemory, "Related memories, closest first.")
RelationPage = page("RelationPage", WrittenRelation, "Relations from and to a memory.")
ConflictPage = page("ConflictPage", ShownConflict, "A page of conflicts.")
QuarantinePage = page("QuarantinePage", QuarantinedMemory, "A page of quarantined memories.")
RebuildPage = page("RebuildPage", Rebuild, "A page of rebuilds.")

"""Shared vocabulary: Event, Message, Memory enums, Candidate, Evidence, Owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

Json = dict[str, Any]

LABEL: Final = "[a-z0-9][a-z0-9_.:@-]{0,62}"
"""Pattern of an audience label: a compartment, such as `finance` or `care-team`, that a reader must hold."""

SpendKey = Literal["rule", "agent", "user", "model", "prompt"]
"""Dimensions by which the cost of model calls is aggregated."""

SPEND_KEYS: Final[tuple[SpendKey, ...]] = get_args(SpendKey)


UTC_OFFSET: Final = "utc_offset"
"""Extension that keeps the UTC offset of an event's time, minutes: the database keeps the moment alone."""


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the log: something that happened, in the past tense.

    `seq` is its position in the log; `root_seq` the position of the first event of its chain; `hop` the number of
    events between the two; `lineage` the rules that acted on the way. `extensions`: what a publisher sent beside the
    payload (`traceparent`, `tracestate`, `partitionkey`), and what the service keeps for itself.
    """

    seq: int
    tenant_id: str
    id: str
    source: str
    event_type: str
    subject: str | None
    time: datetime
    payload: Json
    session_id: str | None = None
    user_id: str | None = None
    correlation_id: str = ""
    causation_id: str | None = None
    hop: int = 0
    root_seq: int = 0
    lineage: Sequence[str] = ()
    extensions: Json | None = None

    @property
    def local_time(self) -> datetime:
        """Return the time with the UTC offset that it came with."""
        minutes = (self.extensions or {}).get(UTC_OFFSET)
        return self.time.astimezone(timezone(timedelta(minutes=minutes))) if minutes else self.time


class Kind(StrEnum):
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Category(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    KNOWLEDGE = "knowledge"
    PROJECT = "project"
    PATTERN = "pattern"
    SKILL = "skill"
    EPISODE = "episode"
    EVENT = "event"
    INSTRUCTION = "instruction"
    PLAN = "plan"


class Topic(StrEnum):
    PERSONAL = "personal"
    PREFERENCE = "preference"
    HISTORY = "history"
    RELATIONSHIP = "relationship"
    WORK = "work"
    HEALTH = "health"
    FINANCE = "finance"
    LOCATION = "location"
    CONTACT = "contact"
    SKILL = "skill"
    GOAL = "goal"
    HABIT = "habit"
    OTHER = "other"


class Trust(StrEnum):
    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class Status(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    ERASED = "erased"


class DispatchStatus(StrEnum):
    HELD = "held"
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    RETRYING = "retrying"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SHADOW = "shadow"


class EpisodeType(StrEnum):
    TASK_COMPLETION = "task_completion"
    DECISION = "decision"
    INTERACTION = "interaction"
    ERROR = "error"
    SUCCESS = "success"


class Relation(StrEnum):
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    REFINES = "refines"
    SUPERSEDES = "supersedes"
    SUPERSEDES_PART = "supersedes_part"
    MAY_SUPERSEDE = "may_supersede"
    DERIVED_FROM = "derived_from"
    ABOUT = "about"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; `position` counts from 1 within its session, without gaps.

    `occurred_at` has the UTC offset of the speaker's clock, if that is known; else UTC.
    """

    session_id: str
    id: str
    position: int
    event_id: str
    user_id: str
    role: str
    content: str
    occurred_at: datetime
    speaker: str | None = None
    group_id: str | None = None
    importance: float | None = None
    audience_labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of a memory: a quote from one message.

    If it is an event other than a message (a request, an edit), `session_id` is empty and `message_id` the id of that
    event.
    """

    session_id: str
    message_id: str
    event_id: str
    quote: str


class Shown(NamedTuple):
    """A known memory as an extractor was shown it."""

    id: UUID
    version: int


class Ended(NamedTuple):
    """A known memory that a statement ends, and what remains of it, in words; empty: nothing."""

    memory: Shown
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Relations:
    """Relations of a statement to known memories, by an extractor that was shown these.

    `same_as`: the memory says all of it already. `more_of`: the statement says all of that memory, and more. `ends`:
    these no longer hold, or not as they were said.
    """

    same_as: Shown | None = None
    more_of: Shown | None = None
    ends: tuple[Ended, ...] = ()

    @property
    def named(self) -> list[Shown]:
        """Return all memories that are named, each once."""
        named = (self.same_as, self.more_of, *(end.memory for end in self.ends))
        return list(dict.fromkeys(memory for memory in named if memory is not None))

    def __or__(self, other: Relations) -> Relations:
        """Return the relations of a statement that was made twice."""
        ends = {end.memory: end for end in (*self.ends, *other.ends)}
        return Relations(self.same_as or other.same_as, self.more_of or other.more_of, tuple(ends.values()))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may be worth storing, before it is judged against stored ones.

    `subject` is the person (or group) it is about; `attribute`/`value` a slot such as `home.city` = `Lisbon`;
    `occurred_at` when it happened or was said; `said_at` when it was said last, if that is known to be another time;
    `valid_from` since when it is true, if the text says so. `trust`: initial trust: a person's request is confirmed,
    an attempt to instruct the agent is quarantined. `audience_labels`: a reader must hold all of them. `relations`:
    None: whoever read it was shown no known memories, so others judge what it repeats and ends. `tentative`: said
    earlier and not worth keeping; it is stored only if another one of its batch ends it.
    """

    content: str
    category: Category
    topic: Topic
    subject: str
    evidence: tuple[Evidence, ...]
    occurred_at: datetime
    said_at: datetime | None = None
    kind: Kind = Kind.SEMANTIC
    importance: float = 0.5
    confidence: float = 0.7
    attribute: str | None = None
    value: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    corrects: bool = False
    tags: tuple[str, ...] = ()
    structured: Json = field(default_factory=dict)
    trust: Trust = Trust.CANDIDATE
    pinned: bool = False
    expires_at: datetime | None = None
    half_life_days: float | None = None
    audience_labels: tuple[str, ...] = ()
    relations: Relations | None = None
    tentative: bool = False

    @property
    def begins_at(self) -> datetime | None:
        """Return since when it is valid: the value of a slot, if the text does not say, since it was said."""
        return self.valid_from or (self.occurred_at if self.attribute else None)

    @property
    def told_at(self) -> datetime:
        """Return when it was said, which orders statements about one thing; if unknown, when it happened."""
        return self.said_at or self.occurred_at

"""Explicit requests to remember something, from `memory.requested` and from HTTP: read, judge, write."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Invalid, Never, Problem
from core.events.parsing import AudienceLabels, Content, Name, Share, within_reach
from core.events.publishing import Author
from core.extraction import rule_extractor
from core.language import languages
from core.memory import tombstones, writer
from core.memory.changes import Add, Change, Confirm, Merge, Owner, Replace
from core.storage.db import Tx
from core.types import Candidate, Category, Event, Evidence, Json, Kind, Message, Topic, Trust

REQUESTED: Final = "memory.requested"
"""Type of the event by which a service asks for something to be remembered."""

IMPORTANCE = 0.7
"""Importance of a requested statement, unless the request or its words say more; from 0.8 on it would be announced."""

CONFIDENCE = 0.9
"""Confidence of a requested statement, which was not inferred from a conversation; each confirmation adds to it."""


UNREVIEWED: Final = "unreviewed"
"""Tag of a statement of another service that nobody has approved: it does not speak with the system's voice."""


class Wish(BaseModel):
    """Payload of a request. Fields that are not given are read from `content`, as far as it says them."""

    model_config = ConfigDict(extra="ignore")

    content: Annotated[Content, Field(min_length=1, max_length=10_000)]
    category: Category | None = None
    kind: Kind | None = None
    topic: Topic | None = None
    subject: Annotated[
        Name | None, Field(description="Person or thing that the statement is about; default: the user")
    ] = None
    attribute: Annotated[Name | None, Field(description="A slot such as `home.city`, with its `value`")] = None
    value: Annotated[Content | None, Field(min_length=1, max_length=2_000)] = None
    importance: Share | None = None
    tags: list[Name] = Field(default_factory=list, max_length=50)
    audience_labels: AudienceLabels = Field(default_factory=list)
    structured: Json = Field(default_factory=dict)
    pinned: bool = False
    occurred_at: Annotated[AwareDatetime | None, Field(description="Default: the day that `content` names, or now")] = (
        None
    )
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    expires_at: Annotated[AwareDatetime | None, Field(description="From then on it is not served any more")] = None
    half_life_days: Annotated[float | None, Field(gt=0, le=36_500)] = None
    group_id: Name | None = None

    @field_validator("content")
    @classmethod
    def _says_something(cls, content: str) -> str:
        if not content.strip():
            raise ValueError("must contain a statement")
        return content.strip()

    @field_validator("occurred_at", "valid_from", "valid_to", "expires_at")
    @classmethod
    def _within_reach(cls, time: datetime | None) -> datetime | None:
        return time and within_reach(time).astimezone(UTC)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.attribute is None) != (self.value is None):
            raise ValueError("give `attribute` and `value` together, or neither")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("`valid_to` is before `valid_from`")
        return self


def read_request(event: Event, requested_at: datetime | None = None) -> tuple[Owner, Candidate]:
    """Return the owner and the candidate of a `memory.requested` event. Never: its payload is invalid.

    `requested_at`: its time on the user's clock; default: as it came.
    """
    try:
        wish = Wish.model_validate_json(json.dumps(event.payload), strict=True)
        if not event.user_id:
            raise Invalid([Problem("/user_id", "is required")])
        return Owner(event.user_id, wish.group_id), statement(
            wish, event.user_id, event.id, requested_at or event.local_time
        )
    except ValidationError as error:
        raise Never(
            _refusal(
                event, {"".join(f"/{part}" for part in e["loc"]): e["msg"] for e in error.errors(include_url=False)}
            )
        ) from None
    except Invalid as error:
        raise Never(_refusal(event, {p.pointer: p.detail for p in error.problems})) from None


def statement(wish: Wish, user_id: str, event_id: str, requested_at: datetime) -> Candidate:
    """Turn a wish into a candidate whose evidence is the event that made it. Invalid: it would have expired by then."""
    if wish.expires_at is not None and wish.expires_at <= requested_at:
        raise Invalid([Problem("/expires_at", "is before the time of the request; leave it out or give a later time")])
    subject = wish.subject or user_id
    category, topic = _classify(wish.content)
    candidate = Candidate(
        content=wish.content,
        category=category,
        topic=topic,
        subject=subject,
        evidence=(Evidence("", event_id, event_id, wish.content),),
        occurred_at=requested_at,
        importance=IMPORTANCE,
    )
    read = candidate if wish.category and wish.attribute else _read_words(candidate, user_id)
    return _apply_wish(read, wish)


@dataclass(frozen=True, slots=True)
class PendingRequests:
    """Changes that carry out requests to remember something, by owner; not written yet."""

    tenant_id: str
    changes: Mapping[Owner, Sequence[Change]]

    def write(self, tx: Tx, author: Author) -> Json:
        """Apply the changes. A statement that was erased and is asked for again may be learnt from now on.

        Owners are locked in one order: without it, two requests about the same people would deadlock.
        """
        counts: Counter[str] = Counter()
        for owner in sorted(self.changes, key=lambda owner: owner.user_id):
            counts.update(writer.apply(tx, self.tenant_id, owner, self.changes[owner], author))
            stored = [c.candidate for c in self.changes[owner] if isinstance(c, Add | Confirm | Merge | Replace)]
            believed = [candidate for candidate in stored if candidate.trust is not Trust.QUARANTINED]
            tombstones.lift(tx, self.tenant_id, owner.user_id, believed)
        return dict(counts)


def remember(
    consolidation: Consolidation, tenant_id: str, candidates_by_owner: Mapping[Owner, Sequence[Candidate]]
) -> PendingRequests:
    """Decide what statements change that someone asked to keep. No transaction is open while models run."""
    changes = {
        owner: pipeline.consolidate(consolidation, tenant_id, owner, candidates, explicit=True)
        for owner, candidates in candidates_by_owner.items()
    }
    return PendingRequests(tenant_id, changes)


def _read_words(candidate: Candidate, user_id: str) -> Candidate:
    """Return the statement as the rule extractor reads it, if that reads all of it as one; else as it was put."""
    spoken = _in_first_person(candidate.content, candidate.subject)
    evidence = candidate.evidence[0]
    message = Message(
        "", evidence.message_id, 1, evidence.event_id, user_id, "user", spoken, candidate.occurred_at, candidate.subject
    )
    candidates = rule_extractor.restated(message)
    if not candidates or candidates[0].evidence[0].quote != spoken:
        return candidate
    first = candidates[0]
    # Put in the third person, it stays as it was put; but "next week" says nothing in a month.
    verbatim = spoken != candidate.content and "date_precision" not in first.structured
    verbatim = verbatim or first.content.startswith(f"{candidate.subject}：")
    read = replace(
        first,
        content=candidate.content if verbatim or ADDRESSED.match(first.content) else first.content,
        evidence=candidate.evidence,
        importance=max(first.importance, IMPORTANCE),
    )
    return read if len(candidates) == 1 else _without_slot(read)


def _in_first_person(content: str, subject: str) -> str:
    """Rewrite a statement about the user in the first person, which is what the rule extractor reads."""
    # No pattern with a name in it: `re` caches patterns.
    for name in ("用户", subject):
        if content.startswith(name) and _HAN.match(content, len(name)):
            return f"我{content[len(name) :]}"
    for name in ("the user", "user", subject):
        if content[: len(name)].lower() == name.lower():
            if owns := _OWNS.match(content, len(name)):
                return f"My {content[owns.end() :]}"
            if does := _DOES.match(content, len(name)):
                return _first_person(does) + content[does.end() :]
    return content


_HAN = re.compile(r"[\u4e00-\u9fff]")
_OWNS = re.compile(r"['’]s (?=\S)", re.IGNORECASE)
_DOES = re.compile(r" ([a-z]+(?:n['’]t)?)\b", re.IGNORECASE)


def _first_person(match: re.Match[str]) -> str:
    verb = match[1].lower()
    if verb in FIRST_PERSON:
        return f"I {FIRST_PERSON[verb]}"
    verb = re.sub(r"(?<=[a-z]{2})ies$", "y", verb)
    return "I " + re.sub(r"(?<=ch|sh|ss)es$|(?<=[xzo])es$|(?<=[^s])s$", "", verb)


def _without_slot(candidate: Candidate) -> Candidate:
    return replace(candidate, attribute=None, value=None, structured={})


def _apply_wish(read: Candidate, wish: Wish) -> Candidate:
    """Replace what was read by what was given. A slot read from the words is dropped if another category was given."""
    if wish.attribute is not None or wish.category not in {None, read.category}:
        read = _without_slot(read)
    explicit = {name: value for name in GIVEN if (value := getattr(wish, name)) is not None}
    is_reviewed = UNREVIEWED not in wish.tags
    is_order = (wish.category or read.category) is Category.INSTRUCTION
    kind = wish.kind or (KINDS.get(wish.category, Kind.SEMANTIC) if wish.category else read.kind)
    return replace(
        read,
        kind=kind,
        confidence=CONFIDENCE,
        trust=Trust.CONFIRMED if is_reviewed or not is_order else Trust.CANDIDATE,
        tags=tuple(dict.fromkeys(wish.tags)),
        audience_labels=tuple(sorted(set(wish.audience_labels))),
        structured=read.structured | wish.structured,
        pinned=wish.pinned and is_reviewed,
        **explicit,
    )


def _classify(content: str) -> tuple[Category, Topic]:
    """Return category and topic as far as single words show them."""
    language = languages.grammar_of(content)
    category = next((cue.category for cue in language.categories if cue.regex.search(content)), Category.FACT)
    topic = next((theme.topic for theme in language.themes if theme.regex.search(content)), Topic.OTHER)
    return category, topic


def _refusal(event: Event, faults: Mapping[str, str]) -> str:
    listed = "; ".join(f"/payload{pointer} {fault.removeprefix('Value error, ')}" for pointer, fault in faults.items())
    return f"{event.event_type} {event.id!r} has an invalid payload: {listed}. Send it again, with another id."


FIRST_PERSON = {
    "is": "am",
    "isn't": "am not",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
    "was": "was",
}
"""Irregular verbs: third person to first."""

ADDRESSED = re.compile(
    r"(?:please|remember|note|save|store|keep in mind|don't forget)\b|请|記住|记住|记得", re.IGNORECASE
)
"""Beginning of a request that the rule extractor could not turn into a statement about someone."""

GIVEN = (
    "category",
    "topic",
    "subject",
    "attribute",
    "value",
    "importance",
    "occurred_at",
    "valid_from",
    "valid_to",
    "expires_at",
    "half_life_days",
)
"""Fields of a wish that replace those of a candidate."""

KINDS = {Category.EPISODE: Kind.EPISODIC, Category.EVENT: Kind.EPISODIC, Category.SKILL: Kind.PROCEDURAL}
"""The kind of each category that is not semantic."""

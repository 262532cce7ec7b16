"""The one door for writing: memory, version, evidence, relation, index entry and the event that says so, together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core import events, judge, memories
from core.db import Tx
from core.errors import Conflict
from core.events import Cause, Emission
from core.search import index
from core.types import Candidate, Evidence, Json, Relation, Status, Trust

IMPORTANT = 0.8
"""Importance from which a new memory is announced by `memory.write.important`."""

CONFIRMED_STEP = 0.5
"""Each confirmation closes this share of the gap between a memory's confidence and certainty."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory it is: a user, and the group where it was said in one."""

    user_id: str
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """Keep a new statement. `supersedes`: what it takes the place of. `past`: it is history already, since then."""

    candidate: Candidate
    reason: str
    vector: Vector | None = None
    supersedes: judge.Known | None = None
    past: datetime | None = None
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Confirm:
    """Something known was said again: more evidence, more confidence, no new row."""

    known: judge.Known
    evidence: Sequence[Evidence]
    reason: str


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories have to do with each other."""

    from_id: UUID
    relation: Relation
    to_id: UUID


Change = Add | Confirm | Link


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes: an agent or a key, by which rule, as what followed from an event."""

    name: str
    cause: Cause
    rule: str | None = None
    rule_version: int | None = None

    def as_json(self) -> Json:
        return {"name": self.name, "rule": self.rule, "rule_version": self.rule_version}


def apply(tx: Tx, tenant_id: str, owner: Owner, changes: Sequence[Change], author: Author) -> dict[str, int]:
    """Carry the changes out in this transaction; answers how many of each kind.

    Conflict: what the changes were decided on has been changed by someone else meanwhile; nothing is kept.
    """
    if not changes:
        return {}
    tx.execute(_LOCK, {"owner": f"{tenant_id}/{owner.user_id}"})
    adds = [c for c in changes if isinstance(c, Add)]
    confirms = [c for c in changes if isinstance(c, Confirm)]
    _refuse_overtaken(tx, owner, adds)
    _supersede(tx, adds, author)
    _add(tx, tenant_id, owner, adds, author)
    _confirm(tx, tenant_id, confirms, author)
    _link(tx, tenant_id, [*_succession(adds), *(c for c in changes if isinstance(c, Link))])
    events.emit(tx, tenant_id, author.cause, [*_announce_adds(owner, adds), *_announce_confirms(owner, confirms)])
    counts = {"added": len(adds), "confirmed": len(confirms), "superseded": sum(a.supersedes is not None for a in adds)}
    return {name: n for name, n in counts.items() if n}


def _refuse_overtaken(tx: Tx, owner: Owner, adds: Sequence[Add]) -> None:
    """Under the owner's lock: nothing may have come in meanwhile that the judgement would have had to see."""
    if not adds:
        return
    values = {
        "user": owner.user_id,
        "keys": [judge.statement_key(a.candidate.subject, a.candidate.content) for a in adds],
        "subjects": [a.candidate.subject for a in adds if a.candidate.attribute],
        "attributes": [a.candidate.attribute for a in adds if a.candidate.attribute],
        "seen": [a.supersedes.id for a in adds if a.supersedes] or None,
        "past": [a.candidate.attribute for a in adds if a.past],
    }
    if tx.execute(_OVERTAKEN, values).first() is not None:
        raise Conflict("Another writer has stored something about the same while this was being judged.")


def _supersede(tx: Tx, adds: Sequence[Add], author: Author) -> None:
    """The old statement stays, as what was true until now."""
    for add in adds:
        if add.supersedes is None:
            continue
        until = add.candidate.valid_from or add.candidate.occurred_at
        values = {"id": add.supersedes.id, "version": add.supersedes.version, "until": until}
        row = tx.execute(_SUPERSEDE, values).one_or_none()
        if row is None:
            raise Conflict("The memory to be superseded was changed while this was being judged.")
        _record(tx, [_version_row(memories.snapshot(row), "supersede", add.reason)], author)


def _add(tx: Tx, tenant_id: str, owner: Owner, adds: Sequence[Add], author: Author) -> None:
    if not adds:
        return
    rows = [_memory_row(tenant_id, owner, add) for add in adds]
    stored = tx.execute(_ADD, {name: [row[name] for row in rows] for name in rows[0]}).all()
    reasons = {add.id: add.reason for add in adds}
    _record(tx, [_version_row(memories.snapshot(row), "add", reasons[row.id]) for row in stored], author)
    _cite(tx, tenant_id, [(add.id, e) for add in adds for e in add.candidate.evidence])
    entries = [index.MemoryEntry(str(a.id), a.candidate.content, a.candidate.occurred_at, a.vector) for a in adds]
    index.put_memories(tx, tenant_id, owner.user_id, owner.group_id, entries)


def _confirm(tx: Tx, tenant_id: str, confirms: Sequence[Confirm], author: Author) -> None:
    # Several of one batch may confirm the same memory: the row changes once.
    merged: dict[UUID, Confirm] = {}
    for confirm in confirms:
        before = merged.get(confirm.known.id)
        both = confirm if before is None else replace(before, evidence=[*before.evidence, *confirm.evidence])
        merged[confirm.known.id] = both
    for confirm in merged.values():
        values = {"id": confirm.known.id, "version": confirm.known.version, "step": CONFIRMED_STEP}
        row = tx.execute(_CONFIRM, values).one_or_none()
        if row is None:
            raise Conflict("The memory to be confirmed was changed while this was being judged.")
        _record(tx, [_version_row(memories.snapshot(row), "confirm", confirm.reason)], author)
    _cite(tx, tenant_id, [(c.known.id, e) for c in merged.values() for e in c.evidence])


def _memory_row(tenant_id: str, owner: Owner, add: Add) -> dict[str, Any]:
    c = add.candidate
    return {
        "tenant_id": tenant_id,
        "id": add.id,
        "user_id": owner.user_id,
        "group_id": owner.group_id,
        "session_id": c.evidence[0].session_id if c.evidence else None,
        "subject": c.subject,
        "kind": c.kind,
        "category": c.category,
        "topic": c.topic,
        "content": c.content,
        "statement_key": judge.statement_key(c.subject, c.content),
        "structured": json.dumps(c.structured, ensure_ascii=False),
        "attribute": c.attribute,
        "value": c.value,
        "importance": c.importance,
        "confidence": c.confidence,
        "trust": Trust.CANDIDATE,
        "status": Status.SUPERSEDED if add.past else Status.ACTIVE,
        "occurred_at": c.occurred_at,
        "valid_from": c.valid_from or (c.occurred_at if c.attribute else None),
        "valid_to": add.past or c.valid_to,
        # unnest would flatten a list of lists.
        "tags": json.dumps(c.tags, ensure_ascii=False),
    }


def _version_row(snapshot: Json, change: str, reason: str) -> Json:
    return {"snapshot": snapshot, "change": change, "reason": reason}


def _record(tx: Tx, versions: Sequence[Json], author: Author) -> None:
    snapshots = [v["snapshot"] for v in versions]
    values = {
        "tenants": [s["tenant_id"] for s in snapshots],
        "ids": [s["id"] for s in snapshots],
        "versions": [s["version"] for s in snapshots],
        "changes": [v["change"] for v in versions],
        "reasons": [v["reason"] for v in versions],
        "author": json.dumps(author.as_json(), ensure_ascii=False),
        "snapshots": [json.dumps(s, ensure_ascii=False) for s in snapshots],
        "dispatch": author.cause.dispatch_id,
    }
    tx.execute(_RECORD, values)


def _cite(tx: Tx, tenant_id: str, cited: Sequence[tuple[UUID, Evidence]]) -> None:
    if not cited:
        return
    values = {
        "tenant": tenant_id,
        "memories": [memory for memory, _ in cited],
        "sessions": [e.session_id for _, e in cited],
        "messages": [e.message_id for _, e in cited],
        "events": [e.event_id for _, e in cited],
        "quotes": [e.quote for _, e in cited],
    }
    tx.execute(_CITE, values)


def _succession(adds: Iterable[Add]) -> list[Link]:
    return [Link(a.id, Relation.SUPERSEDES, a.supersedes.id) for a in adds if a.supersedes]


def _link(tx: Tx, tenant_id: str, links: Sequence[Link]) -> None:
    if not links:
        return
    values = {
        "tenant": tenant_id,
        "from": [link.from_id for link in links],
        "relations": [link.relation for link in links],
        "to": [link.to_id for link in links],
    }
    tx.execute(_LINK, values)


def _announce_adds(owner: Owner, adds: Sequence[Add]) -> list[Emission]:
    emissions = []
    for add in adds:
        payload = _payload(owner, add)
        emissions.append(_about(add.id, "memory.created", payload))
        if add.candidate.importance >= IMPORTANT:
            emissions.append(_about(add.id, "memory.write.important", payload))
        if add.supersedes:
            old = {
                "user_id": owner.user_id,
                "memory_id": str(add.supersedes.id),
                "by": str(add.id),
                "reason": add.reason,
            }
            emissions.append(_about(add.supersedes.id, "memory.superseded", old))
    return emissions


def _announce_confirms(owner: Owner, confirms: Sequence[Confirm]) -> list[Emission]:
    base = {"user_id": owner.user_id, "change": "confirm"}
    distinct = {c.known.id: c for c in confirms}.values()
    return [
        _about(c.known.id, "memory.updated", base | {"memory_id": str(c.known.id), "reason": c.reason})
        for c in distinct
    ]


def _payload(owner: Owner, add: Add) -> Json:
    c = add.candidate
    payload = {
        "user_id": owner.user_id,
        "group_id": owner.group_id,
        "memory_id": str(add.id),
        "content": c.content,
        "category": c.category.value,
        "topic": c.topic.value,
        "importance": c.importance,
        "attribute": c.attribute,
        "value": c.value,
        "session_id": c.evidence[0].session_id if c.evidence else None,
    }
    return {name: value for name, value in payload.items() if value is not None}


def _about(memory_id: UUID, event_type: str, payload: Json) -> Emission:
    return Emission(event_type, payload, subject=f"memory:{memory_id}")


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:owner, 0))")
"""One writer an owner at a time, and only while writing: thinking happens before."""

_OVERTAKEN = text("""
    SELECT FROM memories
    WHERE user_id = :user AND status = 'active'
      AND (statement_key = ANY(:keys)
           OR (attribute <> ALL(:past)
               AND (subject, attribute) IN (
                   SELECT * FROM unnest(cast(:subjects AS text[]), cast(:attributes AS text[])))
               AND id <> ALL(coalesce(cast(:seen AS uuid[]), '{}'))))
    LIMIT 1
""")

_ADD = text("""
    INSERT INTO memories (tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
                          statement_key, structured, attribute, value, importance, confidence, trust, status,
                          occurred_at, valid_from, valid_to, tags)
    SELECT tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
           statement_key, structured::jsonb, attribute, value, importance, confidence, trust, status,
           occurred_at, valid_from, valid_to, ARRAY(SELECT jsonb_array_elements_text(tags::jsonb))
    FROM unnest(cast(:tenant_id AS text[]), cast(:id AS uuid[]), cast(:user_id AS text[]), cast(:group_id AS text[]),
                cast(:session_id AS text[]), cast(:subject AS text[]), cast(:kind AS text[]), cast(:category AS text[]),
                cast(:topic AS text[]), cast(:content AS text[]), cast(:statement_key AS text[]),
                cast(:structured AS text[]), cast(:attribute AS text[]), cast(:value AS text[]),
                cast(:importance AS float8[]), cast(:confidence AS float8[]), cast(:trust AS text[]),
                cast(:status AS text[]), cast(:occurred_at AS timestamptz[]), cast(:valid_from AS timestamptz[]),
                cast(:valid_to AS timestamptz[]), cast(:tags AS text[]))
         AS m (tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
               statement_key, structured, attribute, value, importance, confidence, trust, status,
               occurred_at, valid_from, valid_to, tags)
    RETURNING *
""")

_SUPERSEDE = text("""
    UPDATE memories SET status = 'superseded', valid_to = greatest(:until, valid_from),
                        version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_CONFIRM = text("""
    UPDATE memories SET confidence = confidence + (1 - confidence) * :step, trust = 'confirmed',
                        version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_RECORD = text("""
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, author, snapshot, dispatch_id)
    SELECT tenant_id, id, version, change, reason, cast(:author AS jsonb), snapshot::jsonb, cast(:dispatch AS uuid)
    FROM unnest(cast(:tenants AS text[]), cast(:ids AS uuid[]), cast(:versions AS int[]), cast(:changes AS text[]),
                cast(:reasons AS text[]), cast(:snapshots AS text[]))
         AS v (tenant_id, id, version, change, reason, snapshot)
""")

_CITE = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT :tenant, * FROM unnest(cast(:memories AS uuid[]), cast(:sessions AS text[]), cast(:messages AS text[]),
                                  cast(:events AS text[]), cast(:quotes AS text[]))
    ON CONFLICT DO NOTHING
""")

_LINK = text("""
    INSERT INTO relations (tenant_id, from_id, relation, to_id)
    SELECT :tenant, * FROM unnest(cast(:from AS uuid[]), cast(:relations AS text[]), cast(:to AS uuid[]))
    ON CONFLICT DO NOTHING
""")

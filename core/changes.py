"""The one door for writing: memory, version, evidence, relation, index entry and the event that says so, together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import TextClause, text
from uuid_utils.compat import uuid7

from core import events, fading, forget, judge, memories
from core.db import Tx, recordset
from core.errors import Conflict
from core.events import Announcement, Cause, Emission
from core.fading import Policy
from core.search import index
from core.types import Candidate, Evidence, Json, Relation, Status, Trust

IMPORTANT = 0.8
"""Importance from which a new memory is announced by `memory.write.important`."""

CONFIRMED_STEP = 0.5
"""Each confirmation closes this share of the gap between a memory's confidence and certainty."""

Vector = NDArray[np.float32]
Versions = dict[UUID, int]


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
class Merge:
    """Two statements of one thing become the known one: evidence and tags of both, and the wording that says more.

    `candidate`: what was said now; its wording is taken over with `vector`, and left where that is None.
    `absorbs`: the memory that said it, where it is one already; it is archived.
    """

    known: judge.Known
    candidate: Candidate
    reason: str
    vector: Vector | None = None
    absorbs: judge.Known | None = None


@dataclass(frozen=True, slots=True)
class Replace:
    """A known statement is put right where it stands; its history keeps what it said before."""

    known: judge.Known
    candidate: Candidate
    reason: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Dispute:
    """One statement denies another, and nothing tells which holds: both stay, neither is trusted."""

    one: judge.Known
    other: judge.Known
    reason: str


@dataclass(frozen=True, slots=True)
class Ignore:
    """Not worth keeping: nothing is written, and only counted."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories have to do with each other."""

    from_id: UUID
    relation: Relation
    to_id: UUID


@dataclass(frozen=True, slots=True)
class Archive:
    """It is served no longer, unless asked for; nothing of it is lost. `version`: the one this was decided on."""

    id: UUID
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """What was archived is served again, and begins to fade anew."""

    id: UUID
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Pin:
    """It shall never fade, or shall again as others do."""

    id: UUID
    version: int
    pinned: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Use:
    """It was recalled. Makes no version and no event.

    Nothing that it says has changed, a history of recalls would bury the one of changes, and whoever reads must not
    stand in the way of who writes.
    """

    id: UUID


Change = Add | Confirm | Merge | Replace | Dispute | Ignore | Link | Archive | Restore | Pin | Use


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes: an agent or a key, by which rule, as what followed from an event; a person follows from none."""

    name: str
    cause: Cause | None = None
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
    rewrites = [c for c in changes if isinstance(c, Merge | Replace)]
    disputes = [c for c in changes if isinstance(c, Dispute)]
    versions: Versions = {}
    _confirm(tx, tenant_id, confirms, author, versions)
    _rewrite(tx, tenant_id, owner, rewrites, author, versions)
    _supersede(tx, adds, author, versions)
    _add(tx, tenant_id, owner, adds, author)
    _dispute(tx, tenant_id, disputes, author, versions)
    links = [c for c in changes if isinstance(c, Link)]
    _link(tx, tenant_id, [*_succession(adds), *links])
    kept, told = _keep(tx, changes, author)
    fading.plan(tx, tenant_id, [*_strengthened(confirms, rewrites, links), *kept])
    said = [*_announce_adds(owner, adds), *_announce_confirms(owner, confirms)]
    said += [*_announce_rewrites(owner, rewrites), *_announce_disputes(owner, disputes)]
    _tell(tx, tenant_id, author, [*said, *told])
    counts = {
        "added": len(adds),
        "confirmed": len(confirms),
        "superseded": sum(a.supersedes is not None for a in adds),
        "merged": sum(isinstance(c, Merge) for c in rewrites),
        "replaced": sum(isinstance(c, Replace) for c in rewrites),
        "disputed": len(disputes),
        "ignored": sum(isinstance(c, Ignore) for c in changes),
        "archived": sum(isinstance(c, Archive) for c in changes),
        "restored": sum(isinstance(c, Restore) for c in changes),
        "pinned": sum(isinstance(c, Pin) for c in changes),
        "used": sum(isinstance(c, Use) and c.id in kept for c in changes),
    }
    return {name: n for name, n in counts.items() if n}


def archive(tx: Tx, tenant_id: str, archives: Sequence[Archive], author: Author) -> int:
    """Archive memories of any of a tenant's users at once; how many. Conflict: one was changed meanwhile.

    Without the owners' locks: who decides on a memory that is then archived notices by its version.
    """
    _tell(tx, tenant_id, author, _archive(tx, archives, author))
    return len(archives)


def _tell(tx: Tx, tenant_id: str, author: Author, emissions: Sequence[Emission]) -> None:
    """Say what has changed: in the chain of its cause or, where a person did it, as the beginning of one."""
    if author.cause is not None:
        events.emit(tx, tenant_id, author.cause, emissions)
        return
    now = datetime.now(UTC)
    begun = [Announcement(str(uuid7()), e.event_type, now, e.payload, e.subject) for e in emissions]
    events.announce(tx, tenant_id, begun)


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


def _version(versions: Versions, known: judge.Known) -> int:
    """The version that a memory must have: the one it was judged in, or the one this batch has brought it to."""
    return versions.get(known.id, known.version)


def _change(tx: Tx, statement: TextClause, values: Json, change: str, reason: str, author: Author) -> Any:
    """Carry a statement out on the one memory it names and record its version; the row as it is now.

    Conflict: it is no longer as it was judged.
    """
    row = tx.execute(statement, values).one_or_none()
    if row is None:
        raise Conflict(f"The memory to {change} was changed while this was being judged.")
    _record(tx, [_version_row(memories.snapshot(row), change, reason)], author)
    return row


def _supersede(tx: Tx, adds: Sequence[Add], author: Author, versions: Versions) -> None:
    """The old statement stays, as what was true until now."""
    for add in adds:
        if add.supersedes is None:
            continue
        until = add.candidate.valid_from or add.candidate.occurred_at
        values = {"id": add.supersedes.id, "version": _version(versions, add.supersedes), "until": until}
        _change(tx, _SUPERSEDE, values, "supersede", add.reason, author)


def _add(tx: Tx, tenant_id: str, owner: Owner, adds: Sequence[Add], author: Author) -> None:
    if not adds:
        return
    policy = fading.policy(tx, tenant_id)
    rows = [_memory_row(tenant_id, owner, add, policy) for add in adds]
    stored = tx.execute(_ADD, {name: [row[name] for row in rows] for name in rows[0]}).all()
    reasons = {add.id: add.reason for add in adds}
    _record(tx, [_version_row(memories.snapshot(row), "add", reasons[row.id]) for row in stored], author)
    _cite(tx, tenant_id, [(add.id, e) for add in adds for e in add.candidate.evidence])
    entries = [index.MemoryEntry(str(a.id), a.candidate.content, a.candidate.occurred_at, a.vector) for a in adds]
    index.put_memories(tx, tenant_id, owner.user_id, owner.group_id, entries)


def _confirm(tx: Tx, tenant_id: str, confirms: Sequence[Confirm], author: Author, versions: Versions) -> None:
    # Several of one batch may confirm the same memory: the row changes once.
    merged: dict[UUID, Confirm] = {}
    for confirm in confirms:
        before = merged.get(confirm.known.id)
        both = confirm if before is None else replace(before, evidence=[*before.evidence, *confirm.evidence])
        merged[confirm.known.id] = both
    for confirm in merged.values():
        values = {"id": confirm.known.id, "version": confirm.known.version, "step": CONFIRMED_STEP}
        versions[confirm.known.id] = _change(tx, _CONFIRM, values, "confirm", confirm.reason, author).version
    _cite(tx, tenant_id, [(c.known.id, e) for c in merged.values() for e in c.evidence])


def _rewrite(
    tx: Tx, tenant_id: str, owner: Owner, rewrites: Sequence[Merge | Replace], author: Author, versions: Versions
) -> None:
    """Bring known memories up to date in place: words, tags, evidence, index entry."""
    for change in rewrites:
        known, c = change.known, change.candidate
        worded = change.vector is not None
        values = {
            "id": known.id,
            "version": _version(versions, known),
            "content": c.content if worded else None,
            "key": judge.statement_key(c.subject, c.content) if worded else None,
            "structured": json.dumps(c.structured, ensure_ascii=False) if isinstance(change, Replace) else None,
            "tags": list(c.tags),
            "importance": c.importance,
            "step": CONFIRMED_STEP if isinstance(change, Merge) else 0,
            "absorbed": change.absorbs.id if isinstance(change, Merge) and change.absorbs else None,
        }
        name = "replace" if isinstance(change, Replace) else "merge"
        row = _change(tx, _REWRITE, values, name, change.reason, author)
        versions[known.id] = row.version
        if isinstance(change, Merge) and change.absorbs:
            _absorb(tx, tenant_id, known.id, change.absorbs, change.reason, author)
        if worded:
            tx.execute(_UNINDEX, {"ref": str(known.id)})
            entry = index.MemoryEntry(str(known.id), c.content, row.occurred_at, change.vector)
            index.put_memories(tx, tenant_id, owner.user_id, row.group_id, [entry])
    _cite(tx, tenant_id, [(change.known.id, e) for change in rewrites for e in change.candidate.evidence])


def _absorb(tx: Tx, tenant_id: str, keeper: UUID, absorbed: judge.Known, reason: str, author: Author) -> None:
    """The younger of two memories is put away; what it rests on goes over, and a relation leads back to it."""
    values = {"id": absorbed.id, "version": absorbed.version}
    _change(tx, _ABSORB, values, "merge", f"Merged into memory {keeper}. {reason}", author)
    tx.execute(_CITE_TOO, {"keeper": keeper, "absorbed": absorbed.id})
    _link(tx, tenant_id, [Link(keeper, Relation.DERIVED_FROM, absorbed.id)])


def _dispute(tx: Tx, tenant_id: str, disputes: Sequence[Dispute], author: Author, versions: Versions) -> None:
    """Neither side is trusted from now on. A memory may be in several disputes of one batch, and changes once."""
    reasons = {side.id: (side, d.reason) for d in disputes for side in (d.one, d.other)}
    for side, reason in reasons.values():
        _change(tx, _DISPUTE, {"id": side.id, "version": _version(versions, side)}, "dispute", reason, author)
    _link(tx, tenant_id, [Link(d.one.id, Relation.CONTRADICTS, d.other.id) for d in disputes])


def _keep(tx: Tx, changes: Sequence[Change], author: Author) -> tuple[list[UUID], list[Emission]]:
    """What people and sweeps do to whole memories; the ids of those that fade anew from now on, and what to say."""
    restores = [c for c in changes if isinstance(c, Restore)]
    pins = [c for c in changes if isinstance(c, Pin)]
    told = _archive(tx, [c for c in changes if isinstance(c, Archive)], author)
    told += _restore(tx, restores, author)
    told += _pin(tx, pins, author)
    used = _use(tx, [c.id for c in changes if isinstance(c, Use)])
    return [*(c.id for c in restores), *(c.id for c in pins), *used], told


def _archive(tx: Tx, archives: Sequence[Archive], author: Author) -> list[Emission]:
    rows = _change_all(tx, _ARCHIVE, archives)
    reasons = {a.id: a.reason for a in archives}
    _record(tx, [_version_row(memories.snapshot(row), "archive", reasons[row.id]) for row in rows], author)
    return [
        _about(row.id, "memory.archived", _named(row) | {"category": row.category, "reason": reasons[row.id]})
        for row in rows
    ]


def _restore(tx: Tx, restores: Sequence[Restore], author: Author) -> list[Emission]:
    rows = _change_all(tx, _RESTORE, restores)
    if rows and tx.execute(_TAKEN, {"ids": [row.id for row in rows]}).first() is not None:
        raise Conflict("Another active memory makes its statement or fills its slot; that one has to go first.")
    reasons = {r.id: r.reason for r in restores}
    _record(tx, [_version_row(memories.snapshot(row), "restore", reasons[row.id]) for row in rows], author)
    return [_about(row.id, "memory.restored", _named(row) | {"reason": reasons[row.id]}) for row in rows]


def _pin(tx: Tx, pins: Sequence[Pin], author: Author) -> list[Emission]:
    rows = _change_all(tx, _PIN, pins)
    reasons = {pin.id: pin.reason for pin in pins}
    words = {row.id: "pin" if row.pinned else "unpin" for row in rows}
    _record(tx, [_version_row(memories.snapshot(row), words[row.id], reasons[row.id]) for row in rows], author)
    return [
        _about(row.id, "memory.updated", _named(row) | {"change": words[row.id], "reason": reasons[row.id]})
        for row in rows
    ]


def _use(tx: Tx, ids: Sequence[UUID]) -> list[UUID]:
    """Count uses, where they come long enough after the last counted one; the memories for which one did."""
    if not ids:
        return []
    values = {"ids": list(ids), "spacing": forget.SPACING.total_seconds()}
    return list(tx.execute(_USE, values).scalars())


def _change_all(tx: Tx, change: TextClause, wanted: Sequence[Archive | Restore | Pin]) -> Sequence[Any]:
    """Carry a statement out on each memory that stands at the version given. Conflict: one does not."""
    if not wanted:
        return []
    asked = [{"id": c.id, "version": c.version, "pinned": isinstance(c, Pin) and c.pinned} for c in wanted]
    rows = tx.execute(change, {"rows": recordset(asked)}).all()
    if len(rows) != len(wanted):
        raise Conflict("A memory that this was decided on has been changed meanwhile, or is not in the state for it.")
    return rows


def _named(row: Any) -> Json:
    return {"user_id": row.user_id, "memory_id": str(row.id)}


def _strengthened(
    confirms: Sequence[Confirm], rewrites: Sequence[Merge | Replace], links: Sequence[Link]
) -> list[UUID]:
    known = [change.known.id for change in (*confirms, *rewrites)]
    return [*known, *(end for link in links for end in (link.from_id, link.to_id))]


def _memory_row(tenant_id: str, owner: Owner, add: Add, policy: Policy) -> dict[str, Any]:
    c = add.candidate
    facts = forget.Facts(c.importance, c.category, evidence=len(set(c.evidence)))
    curve = fading.columns(facts, policy.now, policy)
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
        "recorded_at": policy.now,
        **(curve | {"fade_at": None} if add.past else curve),
    }


def _version_row(snapshot: Json, change: str, reason: str) -> Json:
    return {"snapshot": snapshot, "change": change, "reason": reason}


def _record(tx: Tx, versions: Sequence[Json], author: Author) -> None:
    if not versions:
        return
    snapshots = [v["snapshot"] for v in versions]
    values = {
        "tenants": [s["tenant_id"] for s in snapshots],
        "ids": [s["id"] for s in snapshots],
        "versions": [s["version"] for s in snapshots],
        "changes": [v["change"] for v in versions],
        "reasons": [v["reason"] for v in versions],
        "author": json.dumps(author.as_json(), ensure_ascii=False),
        "snapshots": [json.dumps(s, ensure_ascii=False) for s in snapshots],
        "dispatch": author.cause and author.cause.dispatch_id,
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


def _announce_rewrites(owner: Owner, rewrites: Sequence[Merge | Replace]) -> list[Emission]:
    emissions = []
    for change in rewrites:
        payload = {"user_id": owner.user_id, "memory_id": str(change.known.id), "reason": change.reason}
        if isinstance(change, Replace):
            emissions.append(_about(change.known.id, "memory.updated", payload | {"change": "replace"}))
            continue
        absorbed = {"absorbed": str(change.absorbs.id)} if change.absorbs else {}
        emissions.append(_about(change.known.id, "memory.merged", payload | absorbed))
    return emissions


def _announce_disputes(owner: Owner, disputes: Sequence[Dispute]) -> list[Emission]:
    return [
        _about(
            d.other.id,
            "memory.conflicted",
            {"user_id": owner.user_id, "memory_id": str(d.other.id), "with": str(d.one.id), "reason": d.reason},
        )
        for d in disputes
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
    WHERE user_id = :user AND status = 'active' AND (expires_at IS NULL OR expires_at > now())
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
                          occurred_at, valid_from, valid_to, tags, recorded_at, fade_height, fade_floor,
                          fade_half_life, fade_at)
    SELECT tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
           statement_key, structured::jsonb, attribute, value, importance, confidence, trust, status,
           occurred_at, valid_from, valid_to, ARRAY(SELECT jsonb_array_elements_text(tags::jsonb)),
           recorded_at, fade_height, fade_floor, fade_half_life, fade_at
    FROM unnest(cast(:tenant_id AS text[]), cast(:id AS uuid[]), cast(:user_id AS text[]), cast(:group_id AS text[]),
                cast(:session_id AS text[]), cast(:subject AS text[]), cast(:kind AS text[]), cast(:category AS text[]),
                cast(:topic AS text[]), cast(:content AS text[]), cast(:statement_key AS text[]),
                cast(:structured AS text[]), cast(:attribute AS text[]), cast(:value AS text[]),
                cast(:importance AS float8[]), cast(:confidence AS float8[]), cast(:trust AS text[]),
                cast(:status AS text[]), cast(:occurred_at AS timestamptz[]), cast(:valid_from AS timestamptz[]),
                cast(:valid_to AS timestamptz[]), cast(:tags AS text[]), cast(:recorded_at AS timestamptz[]),
                cast(:fade_height AS float8[]), cast(:fade_floor AS float8[]), cast(:fade_half_life AS float8[]),
                cast(:fade_at AS timestamptz[]))
         AS m (tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
               statement_key, structured, attribute, value, importance, confidence, trust, status,
               occurred_at, valid_from, valid_to, tags, recorded_at, fade_height, fade_floor, fade_half_life, fade_at)
    RETURNING *
""")

_SUPERSEDE = text("""
    UPDATE memories SET status = 'superseded', valid_to = greatest(:until, valid_from), fade_at = NULL,
                        version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_CONFIRM = text("""
    UPDATE memories SET confidence = confidence + (1 - confidence) * :step,
                        trust = CASE trust WHEN 'candidate' THEN 'confirmed' ELSE trust END,
                        version = version + 1, updated_at = clock_timestamp(), last_used_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_REWRITE = text("""
    UPDATE memories SET content = coalesce(:content, content), statement_key = coalesce(:key, statement_key),
                        structured = coalesce(cast(:structured AS jsonb), structured),
                        tags = tags || ARRAY(SELECT unnest(cast(:tags AS text[])) EXCEPT SELECT unnest(tags)),
                        importance = greatest(importance, :importance),
                        confidence = confidence + (1 - confidence) * cast(:step AS float8),
                        trust = CASE WHEN trust = 'candidate' AND :step > 0 THEN 'confirmed' ELSE trust END,
                        pinned = pinned OR EXISTS (SELECT FROM memories a WHERE a.id = :absorbed AND a.pinned),
                        version = version + 1, updated_at = clock_timestamp(), last_used_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_ABSORB = text("""
    UPDATE memories SET status = 'archived', fade_at = NULL, version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_CITE_TOO = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT tenant_id, :keeper, session_id, message_id, event_id, quote FROM evidence WHERE memory_id = :absorbed
    ON CONFLICT DO NOTHING
""")
"""Both memories rest on it: the one that was put away may come back."""

_UNINDEX = text("DELETE FROM search_index WHERE type = 'memory' AND session_id = '' AND ref = :ref")
"""A row of the index is written once; for other words it is written anew."""

_DISPUTE = text("""
    UPDATE memories SET trust = 'disputed', version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_CHANGING = """
    version = m.version + 1, updated_at = clock_timestamp()
    FROM json_to_recordset(cast(:rows AS json)) AS c (id uuid, version int, pinned bool)
    WHERE m.id = c.id AND m.version = c.version
"""

_ARCHIVE = text(f"""
    UPDATE memories m SET status = 'archived', fade_at = NULL, {_CHANGING} AND m.status = 'active' RETURNING m.*
""")

_RESTORE = text(f"""
    UPDATE memories m SET status = 'active', last_used_at = clock_timestamp(),
                          expires_at = CASE WHEN m.expires_at > clock_timestamp() THEN m.expires_at END,
                          {_CHANGING} AND m.status = 'archived' RETURNING m.*
""")
"""An expiry that has passed goes, for it would archive the memory again at once."""

_PIN = text(f"UPDATE memories m SET pinned = c.pinned, {_CHANGING} AND m.status = 'active' RETURNING m.*")

_TAKEN = text("""
    SELECT FROM memories m
    JOIN memories o ON o.user_id = m.user_id AND o.id <> m.id AND o.status = 'active'
         AND (o.expires_at IS NULL OR o.expires_at > now())
         AND (o.statement_key = m.statement_key OR (o.subject = m.subject AND o.attribute = m.attribute))
    WHERE m.id = ANY(:ids) LIMIT 1
""")

_USE = text("""
    UPDATE memories SET uses = uses + 1, last_used_at = clock_timestamp()
    WHERE id = ANY(:ids) AND status = 'active'
      AND (last_used_at IS NULL OR last_used_at <= clock_timestamp() - make_interval(secs => :spacing))
    RETURNING id
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

"""The only writer of memories: apply()."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memoize import memo_scope
from core.memory import (
    announcements,
    feature_cache,
    identity,
    insertions,
    memories,
    nearest_vectors,
    retention,
    updates,
    verdicts,
)
from core.memory import versions as history
from core.memory.changes import (
    Add,
    Archive,
    Change,
    Confirm,
    Derive,
    Dispute,
    Edit,
    Ignore,
    Joined,
    Link,
    Merge,
    Owner,
    Pin,
    Replace,
    Restore,
    Unlink,
    Use,
)
from core.memory.retention import FadingPolicy
from core.memory.rows import MemoryRow
from core.memory.versions import Citation, RowChange
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import Json, Relation, Trust

CONFIRMED_STEP = 0.5
"""Each confirmation closes this share of the gap between a memory's confidence and certainty."""

MOST_TAGS = 50
"""Tags of a memory; those of a statement said again are added up to this number."""

COUNTED = {
    Add: "added",
    Confirm: "confirmed",
    Merge: "merged",
    Replace: "replaced",
    Dispute: "disputed",
    Ignore: "ignored",
    Derive: "derived",
    Edit: "edited",
    Archive: "archived",
    Restore: "restored",
    Pin: "pinned",
}
"""Counter of each kind of change."""

Rows = dict[UUID, MemoryRow]
"""Memories as changed by this batch so far, by id."""


@memo_scope()
def apply(tx: Tx, tenant_id: str, owner: Owner, changes: Sequence[Change], author: Author) -> dict[str, int]:
    """Carry out the changes in this transaction; return how many there were of each kind.

    Conflict: what the changes were decided on has been changed in the meantime; nothing is stored.
    """
    if not changes:
        return {}
    adds = [c for c in changes if isinstance(c, Add)]
    confirms = [c for c in changes if isinstance(c, Confirm)]
    policy = _lock_current(tx, tenant_id, owner, adds)
    rewrites = [c for c in changes if isinstance(c, Merge | Replace)]
    disputes = [c for c in changes if isinstance(c, Dispute)]
    derived = [c for c in changes if isinstance(c, Derive)]
    rows: Rows = {}
    mattering: dict[UUID, Emission] = {}
    if rewrites:  # They may change what confirmations have changed.
        before = _Stored(tenant_id, owner, (), confirms)
        run_together(tx, *before.write(tx, policy, author, rows))
        mattering = _important(tx, before.confirmed) | _rewrite(tx, tenant_id, rewrites, author, rows)
    stored = _Stored(tenant_id, owner, adds, () if rewrites else confirms)
    following = stored.write(tx, policy, author, rows)
    mattering |= _important(tx, stored.confirmed)
    links = [c for c in changes if isinstance(c, Link)]
    unlinks = [c for c in changes if isinstance(c, Unlink)]
    if not _is_plain(changes):
        run_together(tx, *following)
        following = []
    derived_events = insertions.derive(tx, tenant_id, owner, derived, author)
    _dispute(tx, tenant_id, disputes, author, rows)
    history.unlink(tx, unlinks)
    succession = [Link(a.id, Relation.SUPERSEDES, end.known.id, a.change_id) for a in adds for end in a.retired]
    following += history.linking(tenant_id, [*succession, *links])
    if not _is_plain(changes):
        run_together(tx, *following)
        following = []
    kept, more = updates.apply_updates(tx, tenant_id, changes, author)
    linked: list[Link | Unlink] = [*links, *unlinks]
    ends = [end for link in linked for end in (link.from_id, link.to_id)]
    strengthened = retention.asking_facts([*(c.known.id for c in [*confirms, *rewrites]), *ends, *kept])
    emissions = [*mattering.values(), *derived_events, *more]
    announced: list[BoundStatement | None] = []

    def announce() -> None:
        announced.extend(_announcing(tenant_id, owner, changes, rows, emissions, author))

    if strengthened:
        *_, facts = run_together(tx, *following, strengthened, meanwhile=announce)
        following = [retention.drawing(policy, facts)]
    else:
        announce()
    run_together(tx, *following, *announced, meanwhile=lambda: stored.note(tx))
    return _counts(changes, kept)


def _announcing(
    tenant_id: str, owner: Owner, changes: Sequence[Change], rows: Rows, emissions: Sequence[Emission], author: Author
) -> list[BoundStatement | None]:
    """Return the statements that store verdicts and events; `emissions`: further events, behind those of changes."""
    events = [
        *announcements.of_adds(owner, [c for c in changes if isinstance(c, Add)], rows),
        *announcements.of_confirms([c for c in changes if isinstance(c, Confirm)], rows),
        *announcements.of_rewrites([c for c in changes if isinstance(c, Merge | Replace)], rows),
        *announcements.of_disputes([c for c in changes if isinstance(c, Dispute)], rows),
        *announcements.of_derivations(owner, [c for c in changes if isinstance(c, Derive)]),
        *emissions,
    ]
    recorded = verdicts.recording(tenant_id, owner, changes, author)
    return [recorded, publishing.publishing(tenant_id, author, events)]


def lock(tx: Tx, tenant_id: str, user_id: str) -> None:
    """Lock a user's memories for writing until the transaction ends."""
    tx.execute(_LOCK, {"owner": f"{tenant_id}/{user_id}"})


def archive(tx: Tx, tenant_id: str, archives: Sequence[Archive], author: Author) -> int:
    """Archive memories of any users of a tenant; return how many. Conflict: one was changed in the meantime.

    Without the owners' locks: whoever decides on a memory that is then archived notices by its version.
    """
    publishing.publish(tx, tenant_id, author, updates.archive(tx, archives, author))
    return len(archives)


def _counts(changes: Sequence[Change], kept: Sequence[UUID]) -> dict[str, int]:
    counts = Counter(COUNTED[type(c)] for c in changes if type(c) in COUNTED)
    counts["superseded"] = sum(len(c.retired) for c in changes if isinstance(c, Add))
    counts["quarantined"] = sum(isinstance(c, Add) and c.candidate.trust is Trust.QUARANTINED for c in changes)
    counts["used"] = sum(isinstance(c, Use) and c.id in kept for c in changes)
    counts["archived"] += sum(len(c.parts) for c in changes if isinstance(c, Derive) and c.retires)
    return {name: n for name, n in counts.items() if n}


def _is_plain(changes: Sequence[Change]) -> bool:
    """Return whether none of the changes needs to read in between what the others write."""
    return all(isinstance(c, Add | Confirm | Link | Ignore | Joined) for c in changes)


def _lock_current(tx: Tx, tenant_id: str, owner: Owner, adds: Sequence[Add]) -> FadingPolicy:
    """Lock the user's memories; return the tenant's policy.

    Conflict: something was stored since that the judgement would have had to see.
    """
    by_labels: defaultdict[tuple[str, ...], list[Add]] = defaultdict(list)
    for add in adds:
        if add.candidate.trust is not Trust.QUARANTINED:
            by_labels[add.candidate.audience_labels].append(add)
    statements = [_overtaking(owner, labels, judged) for labels, judged in by_labels.items()]
    # Each statement of a round trip has its own snapshot, those after the lock a later one.
    _, policy, *overtaking = run_together(
        tx,
        (_LOCK, {"owner": f"{tenant_id}/{owner.user_id}"}),
        retention.asking_policy(tenant_id),
        *statements,
        meanwhile=lambda: insertions.read_ahead(adds),
    )
    if any(overtaking):
        raise Conflict("Another writer stored a statement on the same subject while this one was being judged.")
    return retention.policy_of(policy)


def _overtaking(owner: Owner, labels: tuple[str, ...], adds: Sequence[Add]) -> BoundStatement:
    """Select what overtook additions with these labels, which were compared with memories that have the same."""
    values: Json = {
        "user": owner.user_id,
        "group": owner.group_id,
        "labels": sorted(labels),
        "keys": [identity.statement_key(a.candidate.subject, a.candidate.content) for a in adds],
        "seen": [end.known.id for a in adds for end in a.retired] or None,
    }
    slots = [a for a in adds if a.candidate.attribute]
    if not slots:
        return _SAME_STORED, values
    return _OVERTAKEN, values | {
        "subjects": [a.candidate.subject for a in slots],
        "attributes": [a.candidate.attribute for a in slots],
        "past": [a.candidate.attribute for a in adds if a.past],
    }


def _version(rows: Rows, known: identity.KnownMemory) -> int:
    """Return the version a memory must have: the one it was judged in, or the one this batch has brought it to."""
    return int(rows[known.id].version) if known.id in rows else known.version


@dataclass(slots=True)
class _Stored:
    """New memories with what they retire, and confirmations, which are written in one round trip.

    `confirmed`: the rows of confirmed memories, once they are written; `written`: of all of them.
    """

    tenant_id: str
    owner: Owner
    adds: Sequence[Add]
    confirms: Sequence[Confirm]
    confirmed: Sequence[MemoryRow] = ()
    written: Sequence[MemoryRow] = ()

    def write(self, tx: Tx, policy: FadingPolicy, author: Author, rows: Rows) -> list[BoundStatement | None]:
        """Write the rows; return the statements that store their versions, evidence and index entries."""
        confirming, retiring = _confirmations(self.confirms), _retirements(self.adds, self.confirms, rows)
        following: list[BoundStatement | None] = []
        confirmed, retired, added = run_together(
            tx,
            history.changing(_CONFIRM, confirming),
            history.changing(_SUPERSEDE, retiring),
            insertions.adding(self.tenant_id, self.owner, self.adds, policy),
            meanwhile=lambda: following.extend(self._following()),
        )
        self.confirmed = confirmed
        confirmed_rows, confirmed_steps = history.changed(confirmed, confirming)
        retired_rows, retired_steps = history.changed(retired, retiring)
        rows |= confirmed_rows
        rows |= retired_rows
        self.written = [*confirmed, *retired, *added]
        steps = [*confirmed_steps, *retired_steps, *insertions.first_versions(self.adds, added, "add")]
        return [history.recording(steps, author), *following]

    def note(self, tx: Tx) -> None:
        """Let the caches of this process take over what is written; what is rolled back nobody asks for."""
        feature_cache.of(tx.engine).written(self.tenant_id, self.owner.user_id, self.written)
        nearest_vectors.written(tx, self.tenant_id, self.owner.user_id, self.written)

    def _following(self) -> list[BoundStatement | None]:
        cited = [*_cited(self.confirms), *insertions.cited(self.adds)]
        return [history.citing(self.tenant_id, cited), *insertions.accompanying(self.tenant_id, self.owner, self.adds)]


def _retirements(adds: Sequence[Add], confirms: Sequence[Confirm], rows: Rows) -> list[RowChange]:
    """Return the changes that keep replaced statements as what was true until now."""
    raised = {c.known.id for c in confirms}
    return [
        (
            {
                "id": known.id,
                "version": _version(rows, known) + (known.id in raised),
                "until": add.candidate.valid_from or add.candidate.occurred_at,
            },
            ("supersede", reason, add.change_id),
        )
        for add in adds
        for known, reason, *_ in add.retired
    ]


def _confirmations(confirms: Sequence[Confirm]) -> list[RowChange]:
    """Return the changes that raise confidence and, for weightier candidates, importance."""
    # Several of one batch may confirm the same memory; its row changes once.
    first = {c.known.id: c for c in reversed(confirms)}
    return [
        (
            _confirmation([c for c in confirms if c.known.id == memory_id]),
            ("confirm", confirm.reason, confirm.change_id),
        )
        for memory_id, confirm in first.items()
    ]


def _important(tx: Tx, confirmed: Sequence[MemoryRow]) -> dict[UUID, Emission]:
    """Return events for memories that confirmations have made important."""
    return {
        row.id: updates.important_event(row)
        for row in confirmed
        if row.importance >= announcements.IMPORTANT and _was_unimportant(tx, row)
    }


def _cited(changes: Sequence[Confirm | Merge | Replace]) -> list[Citation]:
    return [Citation(c.known.id, e, c.change_id) for c in changes for e in c.candidate.evidence]


def _confirmation(confirms: Sequence[Confirm]) -> Json:
    """Return the values of `_CONFIRM` for one memory."""
    known, again = confirms[0].known, [c.candidate for c in confirms]
    return {
        "id": known.id,
        "version": known.version,
        "importance": max(c.importance for c in again),
        "said": max(c.told_at for c in again),
        "tags": list(dict.fromkeys(tag for c in again for tag in c.tags)),
    }


def _rewrite(
    tx: Tx, tenant_id: str, rewrites: Sequence[Merge | Replace], author: Author, rows: Rows
) -> dict[UUID, Emission]:
    """Update known memories in place: words, tags, evidence, index; return events for newly important ones."""
    mattering: dict[UUID, Emission] = {}
    for change in rewrites:
        known, c = change.known, change.candidate
        worded = change.vector is not None
        values = {
            "id": known.id,
            "version": _version(rows, known),
            "content": c.content if worded else None,
            "key": identity.statement_key(known.subject, c.content) if worded else None,
            "attribute": c.attribute if isinstance(change, Merge) else None,
            "value": c.value if isinstance(change, Merge) else None,
            "structured": json.dumps(c.structured, ensure_ascii=False) if isinstance(change, Replace) else None,
            "tags": list(c.tags),
            "importance": c.importance,
            "said": c.told_at,
            "step": CONFIRMED_STEP if isinstance(change, Merge) else 0,
            "absorbed": change.absorbs.id if isinstance(change, Merge) and change.absorbs else None,
        }
        name = "replace" if isinstance(change, Replace) else "merge"
        row = history.change_one(tx, _REWRITE, values, (name, change.reason, change.change_id), author)
        rows[known.id] = row
        if isinstance(change, Merge) and change.absorbs:
            _absorb(tx, tenant_id, change, change.absorbs, author)
        if worded:
            updates.replace_index_entry(tx, tenant_id, row, change.vector)
        if c.importance >= announcements.IMPORTANT and _was_unimportant(tx, row):
            mattering[row.id] = updates.important_event(row)
    history.cite(tx, tenant_id, _cited(rewrites))
    return mattering


def _was_unimportant(tx: Tx, row: MemoryRow) -> bool:
    """Return whether the previous version of a memory was not important yet."""
    values = {"id": row.id, "version": row.version - 1, "important": announcements.IMPORTANT}
    return tx.execute(_WAS_UNIMPORTANT, values).first() is not None


def _absorb(tx: Tx, tenant_id: str, merge: Merge, absorbed: identity.KnownMemory, author: Author) -> None:
    """Archive the younger of two memories; move its evidence and add a relation to it."""
    keeper, values = merge.known.id, {"id": absorbed.id, "version": absorbed.version}
    step = ("merge", f"Merged into memory {keeper}. {merge.reason}", merge.change_id)
    history.change_one(tx, _ABSORB, values, step, author)
    history.cite_too(tx, tenant_id, keeper, [absorbed.id], merge.change_id)
    history.link(tx, tenant_id, [Link(keeper, Relation.DERIVED_FROM, absorbed.id, merge.change_id)])


def _dispute(tx: Tx, tenant_id: str, disputes: Sequence[Dispute], author: Author, rows: Rows) -> None:
    """Mark both sides as disputed. A memory may be in several disputes of one batch, and changes once."""
    sides = {side.id: (side, d) for d in disputes for side in (d.memory, d.other)}
    for side, dispute in sides.values():
        values = {"id": side.id, "version": _version(rows, side)}
        step = ("dispute", dispute.reason, dispute.change_id)
        rows[side.id] = history.change_one(tx, _DISPUTE, values, step, author)
    history.link(tx, tenant_id, [Link(d.memory.id, Relation.CONTRADICTS, d.other.id, d.change_id) for d in disputes])


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:owner, 0))")
"""One writer per owner at a time, and only while writing: no model is called under the lock."""

_OF_JUDGED = f"""
    m.group_id IS NOT DISTINCT FROM cast(:group AS text) AND m.audience_labels = cast(:labels AS text[])
    AND {memories.ACTIVE_SQL} AND m.id <> ALL(coalesce(cast(:seen AS uuid[]), '{{}}'))
"""

_SAME_STORED = text(f"""
    SELECT FROM memories m WHERE m.user_id = :user AND m.statement_key = ANY(:keys) AND {_OF_JUDGED} LIMIT 1
""")
"""For statements without slots: planned in half the time of both."""

_OVERTAKEN = text(f"""
    SELECT FROM (
        SELECT * FROM memories WHERE user_id = :user AND statement_key = ANY(:keys)
        UNION ALL
        SELECT s.* FROM unnest(cast(:subjects AS text[]), cast(:attributes AS text[])) AS a (subject, attribute)
        JOIN memories s ON s.user_id = :user AND s.subject = a.subject AND s.attribute = a.attribute
        WHERE s.attribute <> ALL(:past)
    ) AS m
    WHERE {_OF_JUDGED}
    LIMIT 1
""")
"""UNION, so that each half uses its own index."""

_SUPERSEDE = text("""
    UPDATE memories m SET status = 'superseded', valid_from = since.at,
                          valid_to = greatest(least(m.valid_to, since.until), since.at), fade_at = NULL,
                          version = m.version + 1, updated_at = clock_timestamp()
    FROM (SELECT r.*, CASE WHEN s.valid_from = s.occurred_at AND s.valid_from > r.until
                                AND NOT jsonb_exists(s.structured, 'date_precision')
                           THEN NULL ELSE s.valid_from END AS at
          FROM json_to_recordset(cast(:rows AS json)) AS r (id uuid, version int, until timestamptz)
          JOIN memories s ON s.id = r.id) AS since
    WHERE m.id = since.id AND m.version = since.version AND m.status = 'active'
    RETURNING m.*
""")
"""A state without a date began some time before it was said: if it ended before that, its beginning is unknown."""

_TAGGED = f"""
    CASE WHEN cardinality(m.tags) < {MOST_TAGS} THEN (m.tags || ARRAY(
        SELECT unnest({{more}}) EXCEPT SELECT unnest(m.tags)))[1 : {MOST_TAGS}] ELSE m.tags END
"""
"""Tags with those of a statement; what a person has given a memory is never cut."""

_CONFIRM = text(f"""
    UPDATE memories m SET confidence = m.confidence + (1 - m.confidence) * {CONFIRMED_STEP},
                          importance = greatest(m.importance, r.importance), said_at = greatest(m.said_at, r.said),
                          tags = {_TAGGED.format(more="r.tags")},
                          trust = CASE m.trust WHEN 'candidate' THEN 'confirmed' ELSE m.trust END,
                          version = m.version + 1, updated_at = clock_timestamp(), last_used_at = clock_timestamp()
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        id uuid, version int, importance float8, said timestamptz, tags text[])
    WHERE m.id = r.id AND m.version = r.version AND m.status = 'active'
    RETURNING m.*
""")

_REWRITE = text(f"""
    UPDATE memories m SET content = coalesce(:content, content), statement_key = coalesce(:key, statement_key),
                        structured = coalesce(cast(:structured AS jsonb), structured),
                        attribute = coalesce(attribute, :attribute),
                        value = CASE WHEN attribute IS NULL THEN :value ELSE value END,
                        tags = {_TAGGED.format(more="cast(:tags AS text[])")},
                        importance = greatest(importance, :importance), said_at = greatest(said_at, :said),
                        confidence = confidence + (1 - confidence) * cast(:step AS float8),
                        trust = CASE WHEN trust = 'candidate' AND :step > 0 THEN 'confirmed' ELSE trust END,
                        pinned = pinned OR EXISTS (SELECT FROM memories a WHERE a.id = :absorbed AND a.pinned),
                        version = version + 1, updated_at = clock_timestamp(), last_used_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_WAS_UNIMPORTANT = text("""
    SELECT FROM memory_versions
    WHERE memory_id = :id AND version = :version AND cast(snapshot ->> 'importance' AS float8) < :important
""")

_ABSORB = text("""
    UPDATE memories SET status = 'archived', fade_at = NULL, version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

_DISPUTE = text("""
    UPDATE memories SET trust = 'disputed', version = version + 1, updated_at = clock_timestamp()
    WHERE id = :id AND version = :version AND status = 'active'
    RETURNING *
""")

"""Rebuilds a user's memories from the log, under other rules, another extractor or another embedding model.

They are built in a tenant of their own (`core.memory.shadow`), compared with the current ones, and applied in one
transaction, or dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.agents import EXTRACTORS, KEEPER
from core.consolidation import dedup_sweep, pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict, Invalid, Never
from core.events.publishing import Author
from core.extraction import message_tags
from core.extraction import session as extraction
from core.extraction.message_tags import TagsByMessage
from core.extraction.session import CandidateReader
from core.memory import shadow, versions, writer
from core.memory.changes import Add, Archive, Change, Edit, Owner, Vector
from core.memory.shadow import ComparedMemory, Contrast
from core.memory.versions import Citation
from core.remembering import requests
from core.sessions import sessions
from core.storage.db import Database, Tx
from core.types import Candidate, Json, Message
from rules.backtest import replay
from rules.backtest.replay import ReplayedRequest, SessionReading
from rules.document.schema import Rule, parse
from rules.document.targets import TARGETS
from rules.engine.similarity import Meanings

AUTHOR: Final = "memory_rebuilder"

READ: Final = 200
"""Maximum messages per extraction."""

TAKEN: Final = ("content", "value", "attribute", "category", "kind", "topic", "structured", "occurred_at", "valid_from")
"""Fields that a changed memory takes from the rebuilt one."""


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """A requested rebuild: owner, rules, and time up to which events are used."""

    user_id: str
    rules: Sequence[tuple[Rule, int]]
    until: datetime


def check_rules(documents: Sequence[Json]) -> None:
    """Check the rules of a requested rebuild. Invalid: one is not a rule; pointers are relative to the request."""
    for index, document in enumerate(documents):
        try:
            parse(document, TARGETS)
        except Invalid as error:
            raise error.below(f"/rules/{index}") from None


def run(
    consolidation: Consolidation,
    tenant_id: str,
    shadow_id: str,
    plan: RebuildPlan,
    extract: CandidateReader,
    meanings: Meanings,
) -> Json:
    """Rebuild a user's memories in the shadow; return the number of sessions and messages read, and the results.

    Results of an earlier attempt are deleted first.
    """
    shadow.drop(consolidation.db, shadow_id)
    shadow.create(consolidation.db, tenant_id, shadow_id)
    read: defaultdict[str, int] = defaultdict(int)
    counts = {"readings": 0, "messages": 0, "requests": 0}
    for step in replay.read(consolidation.db, tenant_id, plan.user_id, plan.rules, plan.until, meanings):
        if isinstance(step, ReplayedRequest):
            counts["requests"] += _keep_request(consolidation, shadow_id, plan.user_id, step)
            continue
        counts["readings"] += 1
        for messages, tags in _unread(consolidation.db, tenant_id, step, read, plan.until):
            counts["messages"] += len(messages)
            own = {m.id for m in messages if m.user_id == plan.user_id}
            candidates = message_tags.tagged((c for c in extract(messages) if c.evidence[0].message_id in own), tags)
            _store(consolidation, shadow_id, messages, candidates, link=step.link)
    _merge_all(consolidation, shadow_id, plan.user_id)
    return {**counts}


def compare(db: Database, tenant_id: str, shadow_id: str, user_id: str) -> Contrast:
    """Compare the live memories with the rebuilt ones."""
    with db.tenant(tenant_id) as tx:
        old, away = shadow.active_memories(tx, user_id, EXTRACTORS | {KEEPER}), shadow.rejected_statements(tx, user_id)
    with db.tenant(shadow_id) as tx:
        new = shadow.active_memories(tx, user_id)
    return shadow.difference(old, new, away)


def take_over(
    consolidation: Consolidation,
    tenant_id: str,
    shadow_id: str,
    rebuild_id: UUID,
    user_id: str,
    seen: Json,
    author: Author,
) -> Json:
    """Replace the old set by the new one in one transaction, as one change that the rebuild's id undoes.

    `seen`: the difference shown to the person. Conflict: it has changed since.
    """
    difference = compare(consolidation.db, tenant_id, shadow_id, user_id)
    if difference.as_json() != seen:
        raise Conflict("The memories have changed since the difference was computed. Start a new rebuild.")
    contents = [s.candidate.content for s in (*difference.added, *(new for _, new in difference.changed))]
    vectors = dict(zip(contents, consolidation.embedder.embed(contents), strict=True)) if contents else {}
    with consolidation.db.tenant(tenant_id) as tx:
        if tx.execute(_APPLIED, {"id": rebuild_id}).rowcount == 0:
            raise Conflict("The rebuild was applied or dropped in the meantime.")
        counts = _apply(tx, tenant_id, user_id, rebuild_id, difference, vectors, author)
    shadow.drop(consolidation.db, shadow_id)
    return counts


def _apply(
    tx: Tx,
    tenant_id: str,
    user_id: str,
    change_id: UUID,
    difference: Contrast,
    vectors: dict[str, Vector],
    author: Author,
) -> Json:
    by_group: defaultdict[str | None, list[Change]] = defaultdict(list)
    for stand in difference.gone:
        by_group[stand.group_id].append(Archive(stand.id, stand.version, "Not in the rebuilt memories.", change_id))
    for old, new in difference.changed:
        by_group[old.group_id].append(_edit(old, new, change_id, vectors))
    for stand in difference.added:
        vector = vectors[stand.candidate.content]
        by_group[stand.group_id].append(Add(stand.candidate, "Rebuilt from the log.", vector, change_id=change_id))
    counts: defaultdict[str, int] = defaultdict(int)
    for group, changes in by_group.items():
        for name, n in writer.apply(tx, tenant_id, Owner(user_id, group), changes, author).items():
            counts[name] += n
    cited = [Citation(old.id, e, change_id) for old, new in difference.changed for e in new.candidate.evidence]
    versions.cite(tx, tenant_id, cited)
    return {**counts}


def _edit(old: ComparedMemory, new: ComparedMemory, change_id: UUID, vectors: dict[str, Vector]) -> Edit:
    fields = {name: getattr(new.candidate, name) for name in TAKEN}
    vector = vectors[new.candidate.content]
    return Edit(old.id, old.version, fields, "Rebuilt from the log.", vector, change_id)


def _unread(
    db: Database, tenant_id: str, step: SessionReading, read: defaultdict[str, int], until: datetime
) -> Iterator[tuple[Sequence[Message], TagsByMessage]]:
    """Yield pages of a session's messages that existed by then and were unread, with their tags.

    `read`: the cursor of each session.
    """
    while True:
        with db.tenant(tenant_id) as tx:
            values = {"session": step.session_id, "after": read[step.session_id], "upto": step.upto, "until": until}
            messages = [sessions.message_of(row) for row in tx.execute(_MESSAGES, values | {"limit": READ})]
            tags = message_tags.of_messages(tx, step.session_id, [m.id for m in messages])
        if not messages:
            return
        read[step.session_id] = messages[-1].position
        yield messages, tags


def _store(
    consolidation: Consolidation,
    shadow_id: str,
    messages: Sequence[Message],
    extracted: Sequence[Candidate],
    *,
    link: bool,
) -> None:
    assistant = extraction.generated_ids(messages)
    for owner, candidates in extraction.by_owner(messages, extracted):
        decided = pipeline.consolidate(consolidation, shadow_id, owner, candidates, assistant=assistant, link=link)
        _write(consolidation.db, shadow_id, owner, decided)


def _keep_request(consolidation: Consolidation, shadow_id: str, user_id: str, step: ReplayedRequest) -> int:
    """Store a request; one that cannot be stored was refused originally, too."""
    with suppress(Never):
        owner, candidate = requests.read_request(step.event)
        decided = pipeline.consolidate(consolidation, shadow_id, owner, [candidate], explicit=True)
        if owner.user_id == user_id:
            _write(consolidation.db, shadow_id, owner, decided)
            return 1
    return 0


def _merge_all(consolidation: Consolidation, shadow_id: str, user_id: str) -> None:
    more = True
    while more:
        swept = dedup_sweep.sweep(consolidation.db, shadow_id, user_id, consolidation.thresholds)
        with consolidation.db.tenant(shadow_id) as tx:
            swept.write(tx, Author(AUTHOR))
        more = swept.more


def _write(db: Database, shadow_id: str, owner: Owner, decided: Sequence[Change]) -> None:
    with db.tenant(shadow_id) as tx:
        writer.apply(tx, shadow_id, owner, decided, Author(AUTHOR))


_MESSAGES = text("""
    SELECT * FROM messages
    WHERE session_id = :session AND position > :after AND event_seq <= :upto AND occurred_at <= :until
    ORDER BY position LIMIT :limit
""")

_APPLIED = text("""
    UPDATE rebuilds SET status = 'applied', ended_at = clock_timestamp() WHERE id = :id AND status = 'ready'
""")
"""Only one of several concurrent requests to apply or drop it succeeds. The shadow is deleted after the commit."""

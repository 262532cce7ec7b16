"""Finds patterns across memories and writes them.

Recurring themes are found by words and days (`core.reflection.recurrence`), groups about one thing by vectors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.consolidation import judge
from core.events.publishing import Author
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.memory import identity, memories, nearest_vectors, neighbours, writer
from core.memory.changes import Change, Derive, Link, Owner, Part, Replace, Vector
from core.reflection import clustering, generalization, recurrence
from core.reflection.generalization import DerivedStatement, GroupedMemory, MemoryGroup, RecordedMemory, Wording
from core.reflection.recurrence import CITED, DatedStatement, Utterance
from core.storage.db import Database, Tx
from core.types import Candidate, Category, Evidence, Json, Relation, Topic

NEW: Final = 200
"""New memories examined in one dispatch."""

BESIDE: Final = 20
"""Nearest memories examined for each new one."""

ALIKE: Final = 0.5
"""Share of common memories from which two patterns are the same."""

READ: Final = 2_000
"""Newest memories of a user searched for recurring themes."""


@dataclass(frozen=True, slots=True)
class PendingPatterns:
    """Findings of one page, ready to be written; `since`: start of the next page, if there is one."""

    tenant_id: str
    looked_at: int
    since: str | None
    changes: Sequence[tuple[Owner, Sequence[Change]]]

    def write(self, tx: Tx, author: Author) -> Json:
        """Apply the changes. Conflict: one of the memories was changed in the meantime."""
        counts: Counter[str] = Counter(looked_at=self.looked_at)
        for owner, changes in self.changes:
            counts.update(writer.apply(tx, self.tenant_id, owner, changes, author))
        return dict(counts)


@dataclass(frozen=True, slots=True)
class _Read:
    """New memories and those near them, with their vectors, and the existing patterns with their parts.

    `subject_memories`: all memories of their subjects, with the times at which they were said.
    """

    rows: Sequence[RecordedMemory]
    new: frozenset[UUID]
    vectors: clustering.Vectors
    patterns: Sequence[Any]
    subject_memories: Sequence[Any] = ()


def find(
    db: Database, tenant_id: str, user_id: str, embedder: Embedder, wording: Wording, since: str | None = None
) -> PendingPatterns:
    """Read the memories recorded since the user's newest pattern, the newest `NEW` of them; nothing is written yet.

    With `since`, read those recorded after it, oldest first; `PendingPatterns.since` is where to continue.
    """
    with db.tenant(tenant_id) as tx:
        read = _read(tx, user_id, None if since is None else datetime.fromisoformat(since))
    due = [group for group in _groups(read) if _is_due(group.by_rules, read.patterns)]
    statements = [statement for group in due if (statement := wording(group)) is not None]
    fresh = [(statement, _existing_pattern(statement, read.patterns)) for statement in statements]
    findings = _select_findings(fresh)
    by_owner = _changes(db, tenant_id, user_id, embedder, findings)
    last = max((row.recorded_at for row in read.rows if row.id in read.new), default=None)
    more = since is not None and last is not None and len(read.new) == NEW
    return PendingPatterns(
        tenant_id, len(read.new), last.isoformat() if more and last else None, list(by_owner.items())
    )


def _read(tx: Tx, user_id: str, since: datetime | None) -> _Read:
    patterns = tx.execute(_PATTERNS, {"user": user_id}).all()
    begin = since or max((pattern.recorded_at for pattern in patterns), default=None)
    new = tx.execute(_NEW_FIRST if since else _NEW_LAST, {"user": user_id, "since": begin, "limit": NEW}).all()
    ids = {row.id for row in new}
    if not new:
        return _Read((), frozenset(), clustering.vectors_of(()), patterns)
    near = nearest_vectors.nearest(tx, user_id, clustering.vectors_of([row.vector for row in new]), BESIDE + 1)
    beside = {memory_id for pairs in near for memory_id, cosine in pairs if cosine >= clustering.BOUNDS[-1]} - ids
    rows = sorted([*new, *tx.execute(_BESIDE, {"user": user_id, "ids": list(beside)})], key=lambda row: row.id)
    subject_memories = tx.execute(
        _KNOWN, {"user": user_id, "subjects": list({row.subject for row in new}), "limit": READ}
    ).all()
    vectors = clustering.vectors_of([row.vector for row in rows])
    return _Read(rows, frozenset(ids), vectors, patterns, subject_memories)


def _groups(read: _Read) -> list[MemoryGroup]:
    """Return recurring themes, and groups about one thing, that hold something new and do not overlap by half."""
    recurrent = [group for group in _recurrent(read) if any(row.id in read.new for row in group.members)]
    taken = [{row.id for row in group.members} for group in recurrent]
    keys = [(row.subject, row.group_id) for row in read.rows]
    groups = [
        [read.rows[index] for index in cluster]
        for cluster in clustering.groups(keys, read.vectors, generalization.SUPPORT)
    ]
    alike = [
        MemoryGroup(group, None)
        for group in groups
        if generalization.is_supported(group) and any(row.id in read.new for row in group)
    ]
    return recurrent + [group for group in alike if not any(_shares(group.members, ids) for ids in taken)]


def _recurrent(read: _Read) -> Iterator[MemoryGroup]:
    by_key: defaultdict[tuple[str, str | None], dict[UUID, Any]] = defaultdict(dict)
    for row in read.subject_memories:
        by_key[row.subject, row.group_id][row.id] = row
    names = {name for row in read.subject_memories for name in (row.subject.casefold(), *row.speakers)}
    for (subject, group_id), rows in sorted(by_key.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        own_patterns = [
            pattern for pattern in read.patterns if (pattern.subject, pattern.group_id) == (subject, group_id)
        ]
        themes = {theme for pattern in own_patterns if (theme := _theme(pattern))}
        for recurring in recurrence.recurrences([_statement(row) for row in rows.values()], subject, names, themes):
            members = [rows[member] for member in recurring.members]  # All: whoever erases one erases what counts it.
            yield MemoryGroup(
                members,
                DerivedStatement(
                    Category.PATTERN,
                    recurring.content,
                    members,
                    recurring.cited_count,
                    recurring.theme,
                    len(recurring.days),
                    recurring.times,
                ),
            )


def _statement(row: Any) -> DatedStatement:
    return DatedStatement(row.id, row.content, row.occurred_at, [_occasion(row, source) for source in row.said])


def _occasion(row: Any, source: Json) -> Utterance:
    """Read one occasion; a message without a name is about its user."""
    speaker = source["speaker"] or (row.user_id if source["role"] in {"user", None} else "")
    moment = datetime.fromisoformat(source["at"]) if source["at"] else None
    return Utterance(source["quote"], moment, source["role"], own=speaker.casefold() == row.subject.casefold())


def _shares(members: Sequence[GroupedMemory], ids: Collection[UUID]) -> bool:
    return 2 * sum(row.id in ids for row in members) >= len(members)


def _select_findings(
    findings: Sequence[tuple[DerivedStatement, Any | None]],
) -> list[tuple[DerivedStatement, Any | None]]:
    """Return new findings, and of each pattern that grows the first that would reword it."""
    growing: dict[UUID, tuple[DerivedStatement, Any | None]] = {}
    for finding, existing in findings:
        if existing is not None and _grows(finding, existing):
            growing.setdefault(existing.id, (finding, existing))
    return [(finding, existing) for finding, existing in findings if existing is None] + list(growing.values())


def _existing_pattern(finding: DerivedStatement, patterns: Sequence[Any]) -> Any | None:
    """Return the existing pattern of this theme, or for these memories, whatever its status."""
    first, member_ids = finding.members[0], {row.id for row in finding.members}
    for pattern in patterns:
        here = (pattern.subject, pattern.group_id) == (first.subject, first.group_id)
        if here and finding.theme is not None and _theme(pattern) == finding.theme:
            return pattern
    rests = [(pattern, _rests_on(pattern)) for pattern in patterns]
    return next(
        (
            pattern
            for pattern, parts in rests
            if len(member_ids & parts) >= ALIKE * min(len(member_ids), len(parts)) > 0
        ),
        None,
    )


def _is_due(finding: DerivedStatement | None, patterns: Sequence[Any]) -> bool:
    """Return whether words are needed: for a known theme that has not grown they would be discarded."""
    if finding is None or finding.theme is None:
        return True
    existing = _existing_pattern(finding, patterns)
    return existing is None or _grows(finding._replace(category=Category(existing.category)), existing)


def _theme(pattern: Any) -> str | None:
    theme: str | None = pattern.structured["pattern"].get("theme")
    return theme


def _rests_on(pattern: Any) -> set[UUID]:
    """Return the ids of its parts, also of an undone pattern, which has no relations any more and must not return."""
    return set(pattern.parts) | {UUID(part) for part in pattern.structured["pattern"]["parts"]}


def _grows(finding: DerivedStatement, existing: Any) -> bool:
    """Return whether a pattern is to be reworded: it has more parts, and nobody has archived or edited it."""
    stored = existing.structured["pattern"]
    if existing.status != "active" or stored["key"] != identity.statement_key(existing.subject, existing.content):
        return False
    if existing.category != finding.category or _theme(existing) not in {None, finding.theme}:
        return False
    more = {row.id for row in finding.members} - _rests_on(existing)
    return finding.days > stored.get("days", 0) if finding.theme else bool(more)


def _changes(
    db: Database,
    tenant_id: str,
    user_id: str,
    embedder: Embedder,
    findings: Sequence[tuple[DerivedStatement, Any | None]],
) -> Mapping[Owner, list[Change]]:
    """Return changes for new patterns, unless the judge finds them known, and for existing ones that grow."""
    by_owner: defaultdict[Owner, list[Change]] = defaultdict(list)
    if not findings:
        return by_owner
    vectors = embed_sound(embedder, [finding.content for finding, _ in findings])
    with db.tenant(tenant_id) as tx:
        cited_ids = [row.id for finding, _ in findings for row in finding.members[: finding.cited_count]]
        evidence = memories.evidence(tx, cited_ids + [existing.id for _, existing in findings if existing is not None])
        candidates = [_candidate(finding, existing, evidence) for finding, existing in findings]
        near = [
            neighbours.of(tx, user_id, [candidate], vectors[offset : offset + 1], finding.members[0].group_id)[0]
            for offset, (candidate, (finding, _)) in enumerate(zip(candidates, findings, strict=True))
        ]
    for index, (finding, existing) in enumerate(findings):
        owner = Owner(user_id, finding.members[0].group_id)
        if existing is not None:
            by_owner[owner] += _reworded_pattern(finding, existing, candidates[index], vectors[index])
        elif judge.judge(candidates[index], near[index]).kind is judge.Kind.ADD:
            by_owner[owner] += _new_pattern(finding, candidates[index], vectors[index])
    return by_owner


def _new_pattern(finding: DerivedStatement, candidate: Candidate, vector: Vector) -> list[Change]:
    parts = [Part(row.id, row.version) for row in finding.members[: finding.cited_count]]
    change = Derive(candidate, parts, _reason(finding), vector)
    rest = finding.members[finding.cited_count :]
    return [change, *(Link(change.id, Relation.DERIVED_FROM, row.id, change.change_id) for row in rest)]


def _reworded_pattern(finding: DerivedStatement, existing: Any, candidate: Candidate, vector: Vector) -> list[Change]:
    more = [row.id for row in finding.members if row.id not in set(existing.parts)]
    change = Replace(memories.known_of(existing), candidate, _reason(finding), vector)
    return [change, *(Link(existing.id, Relation.DERIVED_FROM, memory_id, change.change_id) for memory_id in more)]


def _candidate(
    finding: DerivedStatement, existing: Any | None, evidence: Mapping[UUID, Sequence[Evidence]]
) -> Candidate:
    members, (first, last) = finding.members, _span(finding.members)
    span = {"memories": len(members), "from": first.isoformat(), "to": last.isoformat()}
    key = identity.statement_key(members[0].subject, finding.content)
    stored = span | {"key": key, "parts": [str(row.id) for row in members]}
    stored |= {"theme": finding.theme, "days": finding.days} if finding.theme else {}
    return Candidate(
        finding.content,
        finding.category,
        Topic(Counter(row.topic for row in members).most_common(1)[0][0]),
        members[0].subject,
        _evidence_to_cite(finding, existing, evidence),
        last,
        importance=fmean(row.importance for row in members),
        confidence=min(1.0, fmean(row.confidence for row in members)),
        structured={"pattern": stored, **(finding.times or {})},
    )


def _evidence_to_cite(
    finding: DerivedStatement, existing: Any | None, evidence: Mapping[UUID, Sequence[Evidence]]
) -> tuple[Evidence, ...]:
    """Return the evidence to cite; for a theme one quote per memory, at most `CITED` including present ones."""
    several = [evidence.get(row.id, ()) for row in finding.members[: finding.cited_count]]
    if finding.theme is None:
        return tuple(dict.fromkeys(quote for quotes in several for quote in quotes))
    there = set(evidence.get(existing.id, ())) if existing is not None else set()
    fresh = [quotes[-1] for quotes in several if quotes and not there & set(quotes)]
    return tuple(dict.fromkeys(fresh))[: max(0, CITED - len(there))]


def _reason(finding: DerivedStatement) -> str:
    first, last = _span(finding.members)
    return f"Shown by {len(finding.members)} memories from {first:%Y-%m-%d} to {last:%Y-%m-%d}."


def _span(members: Sequence[GroupedMemory]) -> tuple[datetime, datetime]:
    times = sorted(row.occurred_at for row in members)
    return times[0], times[-1]


_OWN = f"""
    m.user_id = :user AND m.level = 0 AND m.trust <> 'disputed' AND {memories.ACTIVE_SQL}
    AND m.category NOT IN ('instruction', 'skill', 'plan', 'episode')
"""
"""Active memories about someone's life: no episodes and no wishes."""

_TAKEN = f"""
    SELECT m.id, m.version, m.group_id, m.session_id, m.content, m.subject, m.category, m.topic, m.importance,
           m.confidence, m.occurred_at, m.recorded_at, i.embedding::text AS vector
    FROM memories m
    JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = m.id::text AND i.embedding IS NOT NULL
    WHERE {_OWN} AND m.category <> 'pattern'
"""
"""Sources of knowledge: active memories that someone stated."""

_SINCE = "AND m.recorded_at > coalesce(cast(:since AS timestamptz), '-infinity')"

_NEW_LAST = text(f"{_TAKEN} {_SINCE} ORDER BY m.recorded_at DESC, m.id DESC LIMIT :limit")

_NEW_FIRST = text(f"{_TAKEN} {_SINCE} ORDER BY m.recorded_at, m.id LIMIT :limit")

_BESIDE = text(f"{_TAKEN} AND m.id = ANY(:ids)")

_KNOWN = text(f"""
    SELECT m.id, m.version, m.user_id, m.group_id, m.content, m.subject, m.topic, m.importance, m.confidence,
           m.occurred_at, said.said, said.speakers
    FROM (SELECT * FROM memories m WHERE {_OWN} AND m.subject = ANY(:subjects)
          ORDER BY m.recorded_at DESC, m.id DESC LIMIT :limit) m
    CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_object('quote', e.quote, 'at', g.occurred_at, 'role', g.role,
                                                   'speaker', g.speaker)
                                 ORDER BY g.occurred_at, e.session_id, e.message_id), '[]') AS said,
               coalesce(array_agg(DISTINCT lower(g.speaker)) FILTER (WHERE g.speaker IS NOT NULL), '{{}}') AS speakers
        FROM evidence e LEFT JOIN messages g ON g.session_id = e.session_id AND g.id = e.message_id
        WHERE e.memory_id = m.id) said
    ORDER BY m.id
""")
"""All memories of these subjects, with the time and speaker of each."""

_PATTERNS = text("""
    SELECT m.*, ARRAY(SELECT r.to_id FROM relations r WHERE r.from_id = m.id AND r.relation = 'derived_from') AS parts
    FROM memories m
    WHERE m.user_id = :user AND m.category IN ('pattern', 'knowledge') AND jsonb_exists(m.structured, 'pattern')
    ORDER BY m.id
""")
"""All patterns ever derived, so that archived ones do not return."""

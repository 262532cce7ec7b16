"""What comes again in a user's memories, and what several say of one thing, becomes a memory that rests on them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from core import changes, clusters, condense, judge, memories, nearest
from core.change import Author, Change, Derive, Link, Owner, Part, Replace, Vector
from core.db import Database, Tx
from core.embed import Embedder
from core.errors import Never
from core.llm import Client, OnCall
from core.text import has_han, terms
from core.types import Candidate, Category, Evidence, Json, Relation, Topic

PROMPT: Final = "patterns.v1"
PROMPT_FILE: Final = Path(__file__).parent / "prompts" / f"{PROMPT}.md"

NEW: Final = 200
"""New memories that are looked at in one dispatch."""

BESIDE: Final = 20
"""Nearest memories that are looked at beside each new one."""

SUPPORT: Final = 4
"""Memories that a pattern rests on at the least."""

OCCASIONS: Final = 2
"""Sessions or days that they come from at the least: what was said twice in one breath is no habit."""

SHARED: Final = 0.5
"""Share of the memories in which a word must stand to be what they have in common."""

NAMED: Final = 3
"""Words in common that are named at the most."""

ALIKE: Final = 0.5
"""Share of its memories that two patterns have in common if they are one."""

HABITS: Final = frozenset({Category.PREFERENCE, Category.EVENT, Category.EPISODE})
"""Categories that make a pattern where they come again; of the others, several make knowledge."""


class Finding(NamedTuple):
    """What memories show together: of which category it is, in which words, and which of them it rests on."""

    category: Category
    content: str
    members: Sequence[Any]


Wording = Callable[[Sequence[Any]], Finding | None]
"""From the rows of a group, its middle first, to what they show; None: nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one look has found, ready to be written; `since`: from where the next one goes on, if there is more."""

    tenant_id: str
    looked_at: int
    since: str | None
    changes: Sequence[tuple[Owner, Sequence[Change]]]

    def write(self, tx: Tx, author: Author) -> Json:
        """Carry it out. Conflict: one of the memories has been changed meanwhile."""
        counts: Counter[str] = Counter(looked_at=self.looked_at)
        for owner, wanted in self.changes:
            counts.update(changes.apply(tx, self.tenant_id, owner, wanted, author))
        return dict(counts)


@dataclass(frozen=True, slots=True)
class _Read:
    """New memories and those beside them, with their vectors, and the patterns there are with what they rest on."""

    rows: Sequence[Any]
    new: frozenset[UUID]
    vectors: clusters.Vectors
    patterns: Sequence[Any]


def find(
    db: Database, tenant_id: str, user_id: str, embedder: Embedder, wording: Wording, since: str | None = None
) -> Found:
    """Look at the memories recorded since the user's newest pattern, the newest `NEW` of them; nothing is written yet.

    With `since`, a time, at all that were recorded after it, the oldest first; `Found.since` says how to go on.
    """
    with db.tenant(tenant_id) as tx:
        read = _read(tx, user_id, None if since is None else datetime.fromisoformat(since))
    found = [finding for group in _groups(read) if (finding := wording(group)) is not None]
    fresh = [(one, _known(one, read.patterns)) for one in found]
    wanted = [(one, known) for one, known in fresh if known is None or _grows(one, known)]
    by_owner = _changes(db, tenant_id, user_id, embedder, wanted)
    last = max((row.recorded_at for row in read.rows if row.id in read.new), default=None)
    more = since is not None and last is not None and len(read.new) == NEW
    return Found(tenant_id, len(read.new), last.isoformat() if more and last else None, list(by_owner.items()))


def plain(group: Sequence[Any]) -> Finding | None:
    """In words that claim no more than the memories say: what they have in common, how often and when; or all of it."""
    shared = _shared([row.content for row in group], group[0].subject)
    members = [row for row in group if shared.keys() & _said(row.content).keys()]
    if not shared or not _is_supported(members):
        return None
    habit = sum(row.category in HABITS for row in members) * 2 > len(members)
    content = _of_habit(members, list(shared.values())) if habit else _of_thing(members, list(shared.values()))
    return None if content is None else Finding(Category.PATTERN if habit else Category.KNOWLEDGE, content, members)


def by_model(client: Client, on_call: OnCall) -> Wording:
    """In a model's words, where they bring no name or number that the memories do not have; else in plain ones."""
    system = PROMPT_FILE.read_text(encoding="utf-8")

    def ask(group: Sequence[Any]) -> Finding | None:
        listed = "\n".join(f"{n}. ({row.occurred_at:%Y-%m-%d}) {row.content}" for n, row in enumerate(group, 1))
        try:
            answer = client.ask(PROMPT, system, listed, _Answer, on_call)
        except Never:
            return plain(group)
        if answer.category == "none":
            return None
        finding = Finding(Category(answer.category), answer.statement.strip(), group)
        return finding if _is_grounded(finding) else plain(group)

    return ask


class _Answer(BaseModel):
    """What the model sees in a group."""

    model_config = ConfigDict(extra="forbid")

    category: Literal["pattern", "knowledge", "none"]
    statement: Annotated[str, Field(max_length=400)]


def _read(tx: Tx, user_id: str, since: datetime | None) -> _Read:
    patterns = tx.execute(_PATTERNS, {"user": user_id}).all()
    begin = since or max((one.recorded_at for one in patterns), default=None)
    new = tx.execute(_NEW_FIRST if since else _NEW_LAST, {"user": user_id, "since": begin, "limit": NEW}).all()
    ids = {row.id for row in new}
    if not new:
        return _Read((), frozenset(), clusters.vectors_of(()), patterns)
    near = nearest.nearest(tx, user_id, _vectors(new), BESIDE + 1)
    beside = {one for ones in near for one, cosine in ones if cosine >= clusters.BOUNDS[-1]} - ids
    rows = sorted([*new, *tx.execute(_BESIDE, {"user": user_id, "ids": list(beside)})], key=lambda row: row.id)
    return _Read(rows, frozenset(ids), _vectors(rows), patterns)


def _groups(read: _Read) -> list[list[Any]]:
    """Groups with something new in them that are large enough, and come from more than one occasion."""
    keys = [(row.subject, row.group_id) for row in read.rows]
    groups = [[read.rows[place] for place in found] for found in clusters.groups(keys, read.vectors, SUPPORT)]
    return [group for group in groups if _is_supported(group) and any(row.id in read.new for row in group)]


def _is_supported(group: Sequence[Any]) -> bool:
    sessions = {row.session_id for row in group if row.session_id}
    days = {row.occurred_at.date() for row in group}
    return len(group) >= SUPPORT and max(len(sessions), len(days)) >= OCCASIONS


def _known(finding: Finding, patterns: Sequence[Any]) -> Any | None:
    """The pattern there is already for these memories, whatever became of it."""
    mine = {row.id for row in finding.members}
    rests = [(one, _rests_on(one)) for one in patterns]
    return next((one for one, parts in rests if len(mine & parts) >= ALIKE * min(len(mine), len(parts)) > 0), None)


def _rests_on(pattern: Any) -> set[UUID]:
    """Its memories; one that was undone has no relations any more, and is not to come back either."""
    return set(pattern.parts) | {UUID(one) for one in pattern.structured["pattern"]["parts"]}


def _grows(finding: Finding, known: Any) -> bool:
    """Whether a pattern gets new words: it has more to rest on, and nobody has put it away or reworded it."""
    more = {row.id for row in finding.members} - _rests_on(known)
    written = known.structured["pattern"]["key"]
    return bool(more) and known.status == "active" and written == judge.statement_key(known.subject, known.content)


def _changes(
    db: Database, tenant_id: str, user_id: str, embedder: Embedder, wanted: Sequence[tuple[Finding, Any | None]]
) -> Mapping[Owner, list[Change]]:
    """New patterns, where the judge takes them for nothing that is known, and known ones with more to them."""
    by_owner: defaultdict[Owner, list[Change]] = defaultdict(list)
    if not wanted:
        return by_owner
    vectors = embedder.embed([finding.content for finding, _ in wanted])
    with db.tenant(tenant_id) as tx:
        evidence = memories.evidence(tx, [row.id for finding, _ in wanted for row in finding.members])
        candidates = [_candidate(finding, evidence) for finding, _ in wanted]
        near = [
            memories.neighbours(tx, user_id, [one], vectors[at : at + 1], finding.members[0].group_id)[0]
            for at, (one, (finding, _)) in enumerate(zip(candidates, wanted, strict=True))
        ]
    for place, (finding, known) in enumerate(wanted):
        owner = Owner(user_id, finding.members[0].group_id)
        if known is not None:
            by_owner[owner] += _refreshed(finding, known, candidates[place], vectors[place])
        elif judge.judge(candidates[place], near[place]).kind is judge.Kind.ADD:
            parts = [Part(row.id, row.version) for row in finding.members]
            by_owner[owner].append(Derive(candidates[place], parts, _reason(finding), vectors[place]))
    return by_owner


def _refreshed(finding: Finding, known: Any, candidate: Candidate, vector: Vector) -> list[Change]:
    more = [row.id for row in finding.members if row.id not in set(known.parts)]
    change = Replace(memories.known(known), candidate, _reason(finding), vector)
    return [change, *(Link(known.id, Relation.DERIVED_FROM, one, change.change_id) for one in more)]


def _candidate(finding: Finding, evidence: Mapping[UUID, Sequence[Evidence]]) -> Candidate:
    members, (first, last) = finding.members, _span(finding.members)
    span = {"memories": len(members), "from": first.isoformat(), "to": last.isoformat()}
    key = judge.statement_key(members[0].subject, finding.content)
    kept = span | {"key": key, "parts": [str(row.id) for row in members]}
    return Candidate(
        finding.content,
        finding.category,
        Topic(Counter(row.topic for row in members).most_common(1)[0][0]),
        members[0].subject,
        tuple(dict.fromkeys(one for row in members for one in evidence.get(row.id, ()))),
        last,
        importance=fmean(row.importance for row in members),
        confidence=min(1.0, fmean(row.confidence for row in members)),
        structured={"pattern": kept},
    )


def _reason(finding: Finding) -> str:
    first, last = _span(finding.members)
    return f"Shown by {len(finding.members)} memories from {first:%Y-%m-%d} to {last:%Y-%m-%d}."


def _span(members: Sequence[Any]) -> tuple[datetime, datetime]:
    times = sorted(row.occurred_at for row in members)
    return times[0], times[-1]


def _of_habit(members: Sequence[Any], shared: Sequence[str]) -> str:
    """What comes again, how often, when, and one of the memories as it stands."""
    (first, last), subject = _span(members), members[0].subject
    example = min(members, key=lambda row: (len(row.content) > condense.USUAL // 2, members.index(row))).content
    if has_han(example):
        days = f"{first:%Y-%m-%d}至{last:%Y-%m-%d}"
        return f"{subject}反复提到{'、'.join(shared)}：{days}共{len(members)}次，例如：{example}"
    days = f"{len(members)} times from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    return f"With {subject} it comes again and again: {', '.join(shared)} ({days}). For example: {example}"


def _of_thing(members: Sequence[Any], shared: Sequence[str]) -> str | None:
    """What is known of one thing, in the words of the memories; None: too much for one statement."""
    said = condense.condensed([row.content for row in sorted(members, key=lambda row: (row.occurred_at, row.id))])
    if said is None:
        return None
    return f"关于{'、'.join(shared)}：{said}" if has_han(said) else f"About {', '.join(shared)}: {said}"


def _shared(contents: Sequence[str], subject: str) -> dict[str, str]:
    """The words that most of the texts have in common, by their stems, the commonest first; not who they are about."""
    said = [_said(content) for content in contents]
    counts = Counter(stem for words in said for stem in words)
    common = [stem for stem, n in counts.items() if n >= max(SUPPORT - 1, SHARED * len(contents))]
    own = set(_said(subject)) | set(terms(subject))
    # Whoever is spoken of stands in nearly every statement, and is what they all are about.
    own |= {stem for stem in common if all(content.casefold().startswith(stem) for content in contents)}
    ranked = sorted((stem for stem in common if stem not in own), key=lambda stem: -counts[stem])[:NAMED]
    return {stem: next(words[stem] for words in said if stem in words) for stem in ranked}


def _said(content: str) -> dict[str, str]:
    """The words of a text that mean something, as they stand in it, by their stems; numbers are no words."""
    spaced = {found[0]: word for word in _WORD.findall(content) if len(found := terms(word)) == 1}
    han = {term: term for term in terms(content) if len(term) > 1 and has_han(term)}
    return {stem: word for stem, word in (spaced | han).items() if not any(c.isdigit() for c in stem)}


def _is_grounded(finding: Finding) -> bool:
    """Whether each name and number of a statement, and in Chinese each word, stands in what it rests on."""
    there = [*(row.content for row in finding.members), finding.members[0].subject]
    words = frozenset[str]().union(*map(condense.words_of, there))
    said = {term for text in there for term in terms(text)} | OFTEN
    han = {term for term in terms(finding.content) if len(term) > 1 and has_han(term)}
    return bool(finding.content) and condense.marks(finding.content) <= words and han <= said


def _vectors(rows: Sequence[Any]) -> clusters.Vectors:
    return clusters.vectors_of([row.vector for row in rows])


OFTEN: Final = frozenset("经常 常常 通常 总是 习惯 喜欢 每天 每周 每月 多次 反复 一直 规律 偏好".split())
"""Words for what comes again, which a statement in Chinese may use of its own."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_TAKEN = f"""
    SELECT m.id, m.version, m.group_id, m.session_id, m.content, m.subject, m.category, m.topic, m.importance,
           m.confidence, m.occurred_at, m.recorded_at, i.embedding::text AS vector
    FROM memories m
    JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = m.id::text AND i.embedding IS NOT NULL
    WHERE m.user_id = :user AND m.level = 0 AND m.trust <> 'disputed' AND {memories.STANDING}
      AND m.category NOT IN ('instruction', 'skill', 'plan', 'pattern')
"""
"""What patterns are made of: what someone said, and stands."""

_SINCE = "AND m.recorded_at > coalesce(cast(:since AS timestamptz), '-infinity')"

_NEW_LAST = text(f"{_TAKEN} {_SINCE} ORDER BY m.recorded_at DESC, m.id DESC LIMIT :limit")

_NEW_FIRST = text(f"{_TAKEN} {_SINCE} ORDER BY m.recorded_at, m.id LIMIT :limit")

_BESIDE = text(f"{_TAKEN} AND m.id = ANY(:ids)")

_PATTERNS = text("""
    SELECT m.*, ARRAY(SELECT r.to_id FROM relations r WHERE r.from_id = m.id AND r.relation = 'derived_from') AS parts
    FROM memories m
    WHERE m.user_id = :user AND m.category IN ('pattern', 'knowledge') AND jsonb_exists(m.structured, 'pattern')
    ORDER BY m.id
""")
"""All there ever were, so that what someone has put away does not come back."""

"""Compresses unused memories."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Annotated, Any, Final, NamedTuple, Protocol
from uuid import UUID

from pydantic import Field
from sqlalchemy import text

from core.errors import Never
from core.events.publishing import Author
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.inference.structured_output import ModelAnswer
from core.language.scripts import has_han
from core.memory import announcements, identity, memories, writer
from core.memory.changes import Add, Archive, Change, Derive, Link, Owner, Part, Vector
from core.reflection import clustering
from core.statements import condense
from core.storage.db import Database, Tx
from core.types import Candidate, Category, Evidence, Json, Kind, Relation, Topic, Trust

PAGE: Final = 1_000
"""Memories of one user examined in one dispatch."""

CORES: Final = 3
"""Maximum statements that replace a group."""

TAGS: Final = 20
"""Maximum tags that a core inherits from its parts."""


class IdleMemory(Protocol):
    """Columns of a memory that may be compressed; `last`: when it was last used, else recorded; `vector`: as text."""

    id: UUID
    version: int
    group_id: str | None
    content: str
    subject: str
    kind: str
    category: str
    topic: str
    importance: float
    confidence: float
    trust: str
    occurred_at: datetime
    tags: Sequence[str]
    level: int
    last: datetime
    vector: str | None


class Stage(NamedTuple):
    """A stage of compression: share of the idle time, smallest group, number of statements that it becomes."""

    share: float
    smallest: int
    cores: int


STAGES: Final = (Stage(1.0, 3, 1), Stage(1 / 3, 10, 3))
"""The last one first. With 90 days: large groups are thinned after 30, and what is left of them is one after 90."""


class Core(NamedTuple):
    """A statement and the places of the memories in their group that it replaces."""

    content: str
    parts: Sequence[int]


Condenser = Callable[[Sequence[IdleMemory], Sequence[int], int], Sequence[Core]]
"""From the rows of a group, its members in their order and a number of cores to those cores; it may leave some out."""


@dataclass(frozen=True, slots=True)
class CompressionPage:
    """A page to compress: a user's memories `after` a position in their order.

    Selects memories not used for `unused` before `now` and used less than `uses` times; or, with `archived`, those
    archived that long ago.
    """

    user_id: str
    unused: timedelta
    uses: int
    now: datetime
    after: Sequence[str] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class PendingCompression:
    """Result of one page, ready to be written; `after`: where the next page begins."""

    tenant_id: str
    user_id: str
    looked_at: int
    after: Sequence[str] | None
    changes: Sequence[tuple[Owner, Sequence[Change]]]
    archived: bool = False

    def write(self, tx: Tx, author: Author) -> Json:
        """Apply the changes. Conflict: one of the memories was changed in the meantime."""
        counts: Counter[str] = Counter(looked_at=self.looked_at)
        for owner, changes in self.changes:
            counts.update(writer.apply(tx, self.tenant_id, owner, changes, author))
        if self.archived:
            raised = [change.id for _, changes in self.changes for change in changes if isinstance(change, Add)]
            tx.execute(_RAISE, {"ids": raised})
        return dict(counts)


def next_user(tx: Tx, page: CompressionPage) -> str | None:
    """Return the next user of the tenant, behind the one named, with enough memories to compress; None: no more."""
    values = _values(page) | {"smallest": STAGES[0].smallest}
    user_id: str | None = tx.execute(_NEXT_PUT_AWAY if page.archived else _NEXT_USER, values).scalar_one_or_none()
    return user_id


def plan(
    db: Database, tenant_id: str, embedder: Embedder, page: CompressionPage, condenser: Condenser
) -> PendingCompression:
    """Read one page of a user's memories and group related ones; nothing is written yet."""
    with db.tenant(tenant_id) as tx:
        rows: Sequence[Any] = tx.execute(_PUT_AWAY if page.archived else _UNUSED, _values(page)).all()
        evidence = memories.evidence(tx, [row.id for row in rows]) if page.archived else {}
    made = [([group[index] for index in core.parts], core.content) for group, core in _cores(rows, page, condenser)]
    if page.archived:
        made = _unsaid(db, tenant_id, page.user_id, made)
    vectors = embed_sound(embedder, [content for _, content in made]) if made else ()
    by_owner: defaultdict[Owner, list[Change]] = defaultdict(list)
    for (parts, content), vector in zip(made, vectors, strict=True):
        away = _archive_core(content, parts, vector, evidence) if page.archived else [_derive(content, parts, vector)]
        by_owner[Owner(page.user_id, parts[0].group_id)].extend(away)
    last = [rows[-1].category, rows[-1].subject, str(rows[-1].id)] if len(rows) == PAGE else None
    return PendingCompression(tenant_id, page.user_id, len(rows), last, list(by_owner.items()), page.archived)


def _unsaid(
    db: Database, tenant_id: str, user_id: str, made: Sequence[tuple[list[IdleMemory], str]]
) -> list[tuple[list[IdleMemory], str]]:
    """Drop statements that an active memory holds word for word."""
    keys = [identity.statement_key(parts[0].subject, content) for parts, content in made]
    with db.tenant(tenant_id) as tx:
        active_keys = set(tx.execute(_SAID, {"user": user_id, "keys": keys}).scalars())
    return [statement for statement, key in zip(made, keys, strict=True) if key not in active_keys]


def extractive(group: Sequence[IdleMemory], members: Sequence[int], count: int) -> list[Core]:
    """Return cores made of the parts' own sentences. Parts that do not fit stay as they are."""
    made: list[Core] = []
    vectors = clustering.vectors_of([row.vector for row in group])
    for bunch in clustering.bunches(vectors[list(members)], count):
        rest = [members[index] for index in bunch]
        while len(rest) > 1 and len(made) < CORES:
            core = _fitting_core(group, rest)
            if core is None:
                break
            made.append(core)
            rest = [index for index in rest if index not in core.parts]
    return made


def by_model(client: ChatClient, on_call: OnCall) -> Condenser:
    """Return a condenser that uses a model; its words must keep all numbers, names and dates and add none."""

    def condense_group(group: Sequence[IdleMemory], members: Sequence[int], count: int) -> Sequence[Core]:
        if any(has_han(group[index].content) for index in members):
            return extractive(
                group, members, count
            )  # Nothing marks its names, so nothing could tell whether one got lost.

        def is_grounded(answer: _CompressionAnswer) -> bool:
            return _keeps_marks(group, members, _cores_of(answer, members))

        answer = ask.ask(client, on_call, PROMPT, _numbered_list(group, members, count), is_grounded)
        return extractive(group, members, count) if isinstance(answer, ModelRefused) else _cores_of(answer, members)

    return condense_group


class _Statement(ModelAnswer):
    """A statement as the model writes it down."""

    content: Annotated[str, Field(min_length=1, max_length=condense.LONGEST)]
    parts: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]


class _CompressionAnswer(ModelAnswer):
    """Statements that a group becomes."""

    cores: Annotated[list[_Statement], Field(min_length=1, max_length=CORES)]


PROMPT: Final = ModelPrompt("compress.v1", _CompressionAnswer, falls_back_on=(Never,))


def _cores_of(answer: _CompressionAnswer, members: Sequence[int]) -> list[Core]:
    """Return the model's statements with the places of their parts; numbers that name no member are dropped."""
    return [Core(core.content, [members[n - 1] for n in core.parts if n <= len(members)]) for core in answer.cores]


def _cores(
    rows: Sequence[IdleMemory], page: CompressionPage, condenser: Condenser
) -> Iterator[tuple[Sequence[IdleMemory], Core]]:
    """Yield cores stage by stage; a memory compressed by one stage is not offered to the next."""
    taken: set[UUID] = set()
    for stage in STAGES[:1] if page.archived else STAGES:
        since = page.now - page.unused * stage.share
        group = [row for row in rows if row.id not in taken and (page.archived or row.last <= since)]
        keys = [(row.category, row.subject, row.group_id, row.kind) for row in group]
        vectors = clustering.vectors_of([row.vector for row in group])
        for cluster in clustering.groups(keys, vectors, stage.smallest):
            members = sorted(cluster, key=lambda index: (group[index].occurred_at, group[index].id))
            for core in condenser(group, members, stage.cores):
                # What is left over from others, or does not fit, is no group.
                if len(core.parts) >= (stage.smallest if stage.cores == 1 else 2):
                    taken.update(group[index].id for index in core.parts)
                    yield group, core


def _fitting_core(group: Sequence[IdleMemory], members: Sequence[int]) -> Core | None:
    """Return one core for as many members as fit, leaving out a quarter again and again."""
    count = len(members)
    while count > 1:
        content = condense.condense_all([group[index].content for index in members[:count]])
        if content is not None:
            return Core(content, members[:count])
        count = count * 3 // 4
    return None


def _keeps_marks(group: Sequence[IdleMemory], members: Sequence[int], cores: Sequence[Core]) -> bool:
    """Return whether each member went into one core, with exactly the numbers, names and dates of its parts."""
    if sorted(index for core in cores for index in core.parts) != sorted(members):
        return False
    for core in cores:
        contents = [group[index].content for index in core.parts]
        there = frozenset[str]().union(*map(condense.marks, contents))
        words = frozenset[str]().union(*map(condense.words_of, [*contents, group[core.parts[0]].subject]))
        if not there <= condense.words_of(core.content) or not condense.marks(core.content) <= words:
            return False
    return True


def _numbered_list(group: Sequence[IdleMemory], members: Sequence[int], count: int) -> str:
    rows = [group[index] for index in members]
    lines = [f"{n}. ({row.occurred_at:%Y-%m-%d}) {row.content}" for n, row in enumerate(rows, 1)]
    return "\n".join([*lines, "", f"Statements to write, if so few can hold it all: {count}."])


def _derive(content: str, parts: Sequence[IdleMemory], vector: Vector) -> Derive:
    level = 1 + max(row.level for row in parts)
    drawn = [Part(row.id, row.version) for row in parts]
    return Derive(_candidate(content, parts), drawn, _reason(parts), vector, retires=True, level=level)


def _archive_core(
    content: str, parts: Sequence[IdleMemory], vector: Vector, evidence: dict[UUID, list[Evidence]]
) -> Iterator[Change]:
    """Yield changes for a core of archived memories, which is archived itself, because none of them was missed."""
    cited_evidence = tuple(dict.fromkeys(quote for row in parts for quote in evidence.get(row.id, ())))
    add = Add(_candidate(content, parts, cited_evidence), _reason(parts), vector)
    yield add
    yield from (Link(add.id, Relation.DERIVED_FROM, row.id, add.change_id) for row in parts)
    yield Archive(add.id, 1, "It stands for archived memories.", add.change_id)


def _candidate(content: str, parts: Sequence[IdleMemory], evidence: tuple[Evidence, ...] = ()) -> Candidate:
    times = sorted(row.occurred_at for row in parts)
    span = {"memories": len(parts), "from": times[0].isoformat(), "to": times[-1].isoformat()}
    tags = dict.fromkeys(tag for row in parts for tag in row.tags)
    confirmed = all(row.trust == Trust.CONFIRMED for row in parts)
    return Candidate(
        content,
        Category(parts[0].category),
        Topic(Counter(row.topic for row in parts).most_common(1)[0][0]),
        parts[0].subject,
        evidence,
        times[-1],
        kind=Kind(parts[0].kind),
        importance=max(row.importance for row in parts),
        confidence=min(1.0, fmean(row.confidence for row in parts)),
        tags=tuple(tags)[:TAGS],
        structured={"compressed": span},
        trust=Trust.CONFIRMED if confirmed else Trust.CANDIDATE,
    )


def _reason(parts: Sequence[IdleMemory]) -> str:
    return f"{len(parts)} memories that nobody has needed since {max(row.last for row in parts):%Y-%m-%d}."


def _values(page: CompressionPage) -> Json:
    category, subject, last = page.after or ("", "", str(UUID(int=0)))
    share = min(stage.share for stage in STAGES)
    return {
        "user": page.user_id,
        "before": page.now - page.unused * (1 if page.archived else share),
        "uses": page.uses,
        "category": category,
        "subject": subject,
        "id": last,
        "page": PAGE,
    }


_LAST = "coalesce(m.last_used_at, m.recorded_at)"

_PLAIN = f"""
    m.user_id IS NOT NULL AND NOT m.pinned AND m.attribute IS NULL
    AND m.category NOT IN ('instruction', 'skill', 'pattern')
    AND m.importance < {announcements.IMPORTANT} AND m.trust NOT IN ('disputed', 'rejected', 'quarantined')
    AND m.expires_at IS NULL AND m.valid_from IS NULL AND m.valid_to IS NULL
"""
"""Memories that may lose their wording. Excluded are memories that are pinned, fill a slot, are instructions or
workflows, are disputed, are important, or are valid or kept for a limited time only, which a summary could not say.
"""

_IN_USE = f"{memories.ACTIVE_SQL} AND {_PLAIN} AND m.uses < :uses AND {_LAST} <= :before"

REPRESENTED = """
    EXISTS (SELECT FROM relations r JOIN memories c ON c.id = r.from_id AND c.status IN ('active', 'archived')
            WHERE r.to_id = m.id AND r.relation = 'derived_from'
            AND (jsonb_exists(c.structured, 'compressed')
                 OR EXISTS (SELECT FROM memory_versions v WHERE v.memory_id = m.id AND v.change_id = r.change_id)))
"""
"""Condition that another memory represents `m`: `m` was compressed into it, or archived when merged with it."""

_AWAY = f"m.status = 'archived' AND {_PLAIN} AND m.updated_at <= :before AND NOT {REPRESENTED}"

_TAKEN = f"""
    m.id, m.version, m.group_id, m.content, m.subject, m.kind, m.category, m.topic, m.importance, m.confidence, m.trust,
    m.occurred_at, m.tags, m.level, {_LAST} AS last, i.embedding::text AS vector
    FROM memories m LEFT JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = m.id::text
    WHERE m.user_id = :user AND (m.category, m.subject, m.id) > (:category, :subject, cast(:id AS uuid))
"""

_PAGED = "ORDER BY m.category, m.subject, m.id LIMIT :page"
"""Ordered so that related memories are adjacent."""

_UNUSED = text(f"SELECT {_TAKEN} AND {_IN_USE} {_PAGED}")

_PUT_AWAY = text(f"SELECT {_TAKEN} AND {_AWAY} {_PAGED}")

_OF_USERS = "GROUP BY m.user_id HAVING count(*) >= :smallest ORDER BY m.user_id LIMIT 1"

_NEXT_USER = text(f"SELECT m.user_id FROM memories m WHERE m.user_id > :user AND {_IN_USE} {_OF_USERS}")
"""By the index over the active memories' users: it ends at the first who has enough."""

_NEXT_PUT_AWAY = text(f"SELECT m.user_id FROM memories m WHERE m.user_id > :user AND {_AWAY} {_OF_USERS}")

_SAID = text(f"""
    SELECT m.statement_key FROM memories m
    WHERE m.user_id = :user AND m.statement_key = ANY(:keys) AND {memories.ACTIVE_SQL}
""")

_RAISE = text("""
    UPDATE memories m SET level = 1 + (SELECT max(p.level) FROM relations r JOIN memories p ON p.id = r.to_id
                                       WHERE r.from_id = m.id AND r.relation = 'derived_from')
    WHERE m.id = ANY(:ids)
""")
"""A memory that is added was said by someone, and has level 0; this one was drawn from others."""

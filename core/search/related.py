"""GET /memories/{id}/related by spreading activation.

Two steps at the most, and from each memory over a bounded number of links, so that a hub costs no more than others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from core.memory import memories
from core.storage.db import Tx
from core.types import Relation, Status

WEIGHTS: Mapping[str, float] = {
    Relation.REFINES: 0.8,
    Relation.SUPPORTS: 0.8,
    Relation.DERIVED_FROM: 0.7,
    Relation.CONTRADICTS: 0.7,
    Relation.SUPERSEDES: 0.6,
    Relation.FOLLOWS: 0.5,
    Relation.ABOUT: 0.5,
    "slot": 0.55,
    "evidence": 0.5,
    "subject": 0.15,
}
"""How much of its activation a memory hands on over each kind of link: what was said of the same statement most, a
subject that two merely share least."""

FAN = 50
"""Links over which one memory hands activation on, and memories that hand it on in the second step."""

REACH = (2_000, 200)
"""Rows of the indexes that are looked at for each kind of link of a memory, in the first and in the second step."""

Links = Sequence["Link"]


@dataclass(frozen=True, slots=True)
class Link:
    """One way from a memory to another. `outward`: a relation that starts here; None: the link has no direction."""

    source: UUID
    by: str
    target: UUID
    outward: bool | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory that activation came to: how much (0 to 1), and the strongest way there."""

    id: UUID
    score: float
    path: tuple[Link, ...] = ()


def of(tx: Tx, memory_id: UUID, *, depth: int = 1, limit: int = 20, archived: bool = False) -> list[Reached]:
    """What has to do with a memory, most first; of its owner alone, and never what is rejected or quarantined.

    `depth`: 1 or 2 steps. `archived`: also over and to what is archived. NotFound: there is no such memory.
    """
    row = memories.get(tx, memory_id)
    statuses = [Status.ACTIVE, Status.SUPERSEDED, *([Status.ARCHIVED] if archived else [])]
    values = {"user": row.user_id, "group": row.group_id, "statuses": statuses, "fan": FAN}
    start = Reached(memory_id, 1.0)
    found: dict[UUID, Reached] = {}
    sources = [start]
    for reach in REACH[:depth]:
        asked = {**values, "ids": [source.id for source in sources], "reach": reach}
        links = [Link(r.source, r.by, r.target, r.outward) for r in tx.execute(_LINKS, asked)]
        found = _joined(found, spread(sources, links, start.id))
        sources = ranked(found)[:FAN]
    return ranked(found)[:limit]


def spread(sources: Sequence[Reached], links: Links, start: UUID) -> dict[UUID, Reached]:
    """One step: each source hands its activation on over its links, the less by each the more it has of a kind."""
    by_source: defaultdict[UUID, list[Link]] = defaultdict(list)
    for link in dict.fromkeys(links):
        by_source[link.source].append(link)
    found: dict[UUID, Reached] = {}
    for source in sources:
        passed = {start, *(one.target for one in source.path)}
        onward = [one for one in by_source[source.id] if one.target not in passed]
        onward = sorted(onward, key=lambda one: (-WEIGHTS[one.by], -one.target.int))[:FAN]
        counts = Counter(one.by for one in onward)
        for link in onward:
            score = source.score * WEIGHTS[link.by] / (1 + math.log(counts[link.by]))
            found = _joined(found, {link.target: Reached(link.target, score, (*source.path, link))})
    return found


def ranked(found: Mapping[UUID, Reached]) -> list[Reached]:
    """The most active first."""
    return sorted(found.values(), key=lambda one: (-one.score, one.id.int))


def _joined(one: dict[UUID, Reached], other: Mapping[UUID, Reached]) -> dict[UUID, Reached]:
    """Activation that comes several ways adds up, and stays under 1; the strongest way is the one that is told."""
    for memory_id, reached in other.items():
        known = one.get(memory_id)
        if known is None:
            one[memory_id] = reached
            continue
        together = 1 - (1 - known.score) * (1 - reached.score)
        path = max(known, reached, key=lambda way: _strength(way.path)).path
        one[memory_id] = Reached(memory_id, together, path)
    return one


def _strength(path: Sequence[Link]) -> float:
    return math.prod(WEIGHTS[link.by] for link in path)


_LINKS = text("""
    WITH sources AS (
        SELECT id, subject, attribute FROM memories WHERE id = ANY(:ids)
    ), links AS MATERIALIZED (
        SELECT s.id AS source, l.by, l.target, l.outward FROM sources s CROSS JOIN LATERAL (
            (SELECT r.relation AS by, r.to_id AS target, true AS outward FROM relations r
             WHERE r.from_id = s.id LIMIT :reach)
            UNION ALL
            (SELECT r.relation, r.from_id, false FROM relations r WHERE r.to_id = s.id LIMIT :reach)
            UNION ALL
            (SELECT 'evidence', o.memory_id, NULL
             FROM (SELECT session_id, message_id FROM evidence WHERE memory_id = s.id LIMIT :fan) e
             CROSS JOIN LATERAL (
                 SELECT memory_id FROM evidence
                 WHERE session_id = e.session_id AND message_id = e.message_id LIMIT :fan) o
             LIMIT :reach)
            UNION ALL
            (SELECT 'slot', m.id, NULL FROM memories m
             WHERE m.user_id = :user AND m.subject = s.subject AND m.attribute = s.attribute LIMIT :reach)
            UNION ALL
            (SELECT 'subject', m.id, NULL FROM memories m
             WHERE m.user_id = :user AND m.subject = s.subject AND m.attribute IS NOT NULL
               AND m.attribute IS DISTINCT FROM s.attribute LIMIT :fan)
        ) AS l WHERE l.target <> s.id
    ), standing AS (
        SELECT links.*, row_number() OVER (PARTITION BY links.source, links.by ORDER BY links.target DESC) AS place
        FROM links CROSS JOIN LATERAL (
            SELECT FROM memories m
            WHERE m.id = links.target AND m.user_id IS NOT DISTINCT FROM :user
              AND (m.user_id IS NOT NULL OR m.group_id = :group)
              AND m.status = ANY(:statuses) AND m.trust NOT IN ('rejected', 'quarantined')
              AND (m.status <> 'active' OR m.expires_at IS NULL OR m.expires_at > now())
            OFFSET 0
        ) AS shown
    )
    SELECT source, by, target, outward FROM standing WHERE place <= :fan
""")
"""Links of each source to memories that may be shown, the newest of each kind.

`OFFSET 0` keeps the look-up of each by its id: a planner without statistics would join over all memories there are.
"""

"""Spreading activation for ranking.

Spreading activation after Collins & Loftus 1975, "A Spreading-Activation Theory of Semantic Processing": each source
hands its score on over its links, weighted by their kind, and the less over each the more links of that kind it has.
One statement, and each source looks at a bounded number of links, so that a hub costs no more than others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.memory import as_of
from core.search.related import WEIGHTS
from core.storage.db import Tx
from core.types import Relation, Status, Trust

SOURCES: Final = 50
"""Memories, and messages, that hand activation on: the best of those given."""

FAN: Final = 50
"""Links of one kind over which a source hands activation on: the newest."""

REACH: Final = 200
"""Rows of an index that are looked at for each kind of link of a source."""

BACK: Final[Mapping[str, str]] = {
    Relation.SUPPORTS: "supported by",
    Relation.CONTRADICTS: "contradicted by",
    Relation.REFINES: "refined by",
    Relation.SUPERSEDES: "superseded by",
    Relation.DERIVED_FROM: "source of",
    Relation.ABOUT: "matter of",
    Relation.FOLLOWS: "followed by",
}
"""What a memory is to the source from which a relation leads to it."""

UNASKED: Final[Mapping[str, object]] = {
    **dict.fromkeys("user group session since until as_of known_at kinds categories topics tags importance".split()),
    "statuses": [Status.ACTIVE],
    "trust": [Trust.CANDIDATE, Trust.CONFIRMED, Trust.DISPUTED],
    "archived": False,
    "retold": False,
}
"""The filters of a question that names none; without a user or a group it sees nothing."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A memory that activation came to: how much in all, on the scale of the sources' scores, and its strongest way."""

    id: UUID
    activation: float
    via: str


def spread(
    tx: Tx, seeds: Mapping[UUID, float], messages: Mapping[str, float], reader: Mapping[str, object], limit: int
) -> list[Spread]:
    """The most active memories one step away from these memories and messages, most first; also seeds, from others.

    What comes several ways adds up, and stays under the best score. `messages` by their keys (session and id, parted by
    U+001F). `reader`: whose memories, and through which filters: `user`, `group`, `session`, `since`, `until`, `as_of`,
    `known_at`, `statuses`, `trust`, `archived` (also what has expired), `kinds`, `categories`, `retold` (also
    episodes), `topics`, `tags`, `importance`; what it leaves out is as where nobody asks for it. What they do not let
    through is neither reached nor counted as a link.
    """
    best = [*_best((str(one), score) for one, score in seeds.items()), *_best(messages.items())]
    scores = {source: score for source, score in best if score > 0}
    if not scores or limit <= 0:
        return []
    values = {**UNASKED, **reader, **_sources(scores), "fan": FAN, "reach": REACH}
    links = tx.execute(_LINKS if reader.get("known_at") is None else _LINKS_THEN, values)
    best_score = max(scores.values())
    gained: defaultdict[UUID, list[tuple[float, str]]] = defaultdict(list)
    for row in links:
        share = scores[row.source] / best_score * WEIGHTS[row.by] / (1 + math.log(row.links))
        gained[row.target].append((share, _via(row)))
    reached = [Spread(one, best_score * _together(ways), max(ways)[1]) for one, ways in gained.items()]
    return sorted(reached, key=lambda one: (-one.activation, one.id.int))[:limit]


def _best(scored: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda one: (-one[1], one[0]))[:SOURCES]


def _together(ways: Iterable[tuple[float, str]]) -> float:
    # In one order, for equals must stay equal to the last digit.
    return 1 - math.prod(1 - share for share, _ in sorted(ways))


def _sources(scores: Mapping[str, float]) -> dict[str, object]:
    said = [source.split("\x1f", 1) for source in scores if "\x1f" in source]
    return {
        "ids": [UUID(source) for source in scores if "\x1f" not in source],
        "said_in": [session for session, _ in said],
        "said": [message for _, message in said],
    }


def _via(row: Any) -> str:
    source = row.source.rsplit("\x1f", 1)[-1]
    if row.by == "evidence":
        return f"cites {source}" if "\x1f" in row.source else f"evidence shared with {source}"
    if row.by == "slot":
        return f"slot of {source}"
    word = BACK[row.by] if row.outward else row.by.replace("_", " ")
    return f"{word} {source}"


_UNTIL = "(cast(:known_at AS timestamptz) IS NULL OR {}.at <= :known_at)"

_NOW = "(SELECT * FROM memories WHERE id = links.target OFFSET 0) m"
"""Looked up by its id alone: beside its owner, a planner without statistics would read all that the owner has."""

_THEN = f"memories s CROSS JOIN {as_of.KNOWN} m"


def _links(memory: str, current: str) -> str:
    """`memory`: where the row `m` of a target comes from; `current`: what the row is called that holds as of now."""
    return f"""
    WITH links AS MATERIALIZED (
        SELECT cast(f.id AS text) AS source, l.by, l.target, l.outward
        FROM (SELECT id, user_id, subject, attribute FROM memories
              WHERE id = ANY(:ids) AND (user_id = :user OR group_id = :group)) f CROSS JOIN LATERAL (
            (SELECT r.relation AS by, r.to_id AS target, true AS outward FROM relations r
             WHERE r.from_id = f.id AND {_UNTIL.format("r")} LIMIT :reach)
            UNION ALL
            (SELECT r.relation, r.from_id, false FROM relations r
             WHERE r.to_id = f.id AND {_UNTIL.format("r")} LIMIT :reach)
            UNION
            (SELECT 'evidence', o.memory_id, cast(NULL AS boolean)
             FROM (SELECT e.session_id, e.message_id FROM evidence e
                   WHERE e.memory_id = f.id AND {_UNTIL.format("e")} LIMIT :fan) c
             CROSS JOIN LATERAL (
                 SELECT e.memory_id FROM evidence e
                 WHERE e.session_id = c.session_id AND e.message_id = c.message_id AND {_UNTIL.format("e")}
                 LIMIT :reach) o
             LIMIT :reach)
            UNION
            (SELECT 'slot', o.id, NULL FROM memories o
             WHERE o.user_id = f.user_id AND o.subject = f.subject AND o.attribute = f.attribute LIMIT :reach)
        ) AS l WHERE l.target <> f.id
        UNION ALL
        SELECT w.session || E'\\x1f' || w.message, 'evidence', l.memory_id, NULL
        FROM unnest(cast(:said_in AS text[]), cast(:said AS text[])) AS w (session, message) CROSS JOIN LATERAL (
            SELECT e.memory_id FROM evidence e
            WHERE e.session_id = w.session AND e.message_id = w.message AND {_UNTIL.format("e")} LIMIT :reach) AS l
    ), standing AS (
        SELECT links.*, row_number() OVER newest AS place,
               count(*) OVER (PARTITION BY links.source, links.by) AS links
        FROM links CROSS JOIN LATERAL (
            SELECT FROM {memory}
            WHERE {current}.id = links.target AND (m.user_id = :user OR m.group_id = :group)
              AND m.status = ANY(:statuses) AND m.trust = ANY(:trust)
              AND ({current}.trust <> 'quarantined' OR 'quarantined' = ANY(:trust))
              AND (:archived OR {as_of.UNEXPIRED}) AND {as_of.TRUE}
              AND (cast(:session AS text) IS NULL OR m.session_id = :session)
              AND (cast(:since AS timestamptz) IS NULL OR m.occurred_at >= :since)
              AND (cast(:until AS timestamptz) IS NULL OR m.occurred_at <= :until)
              AND (cast(:kinds AS text[]) IS NULL OR m.kind = ANY(:kinds))
              AND (cast(:categories AS text[]) IS NULL OR m.category = ANY(:categories))
              AND (:retold OR m.category <> 'episode')
              AND (cast(:topics AS text[]) IS NULL OR m.topic = ANY(:topics))
              AND (cast(:tags AS text[]) IS NULL OR m.tags && cast(:tags AS text[]))
              AND (cast(:importance AS float8) IS NULL OR m.importance >= :importance)
            OFFSET 0
        ) AS shown
        WINDOW newest AS (PARTITION BY links.source, links.by ORDER BY links.target DESC)
    )
    SELECT source, by, target, outward, least(links, :fan) AS links FROM standing
    WHERE place <= :fan
    """


_LINKS = text(_links(_NOW, "m"))

_LINKS_THEN = text(_links(_THEN, "s"))
"""The same by what was recorded at a time, both of the memories and of what ties them."""

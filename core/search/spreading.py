"""Spreading activation over the links between memories.

After Collins & Loftus 1975, "A Spreading-Activation Theory of Semantic Processing": a source passes its activation on
over each of its links, weighted by the kind of link, and divided among the links of that kind. One statement per
step, and a bounded number of links of each source, so a hub costs no more than other memories.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.memory import as_of
from core.search.filters import FITS_SQL, NO_FILTERS, Filters
from core.storage.db import Tx, message_places
from core.types import Relation, Status

WEIGHTS: Final[Mapping[str, float]] = {
    Relation.REFINES: 0.8,
    Relation.SUPPORTS: 0.8,
    Relation.DERIVED_FROM: 0.7,
    Relation.CONTRADICTS: 0.7,
    Relation.SUPERSEDES: 0.6,
    Relation.SUPERSEDES_PART: 0.6,
    Relation.MAY_SUPERSEDE: 0.6,
    Relation.FOLLOWS: 0.5,
    Relation.ABOUT: 0.5,
    "slot": 0.55,
    "evidence": 0.5,
    "subject": 0.15,
}
"""Share of its activation that a source passes on over each kind of link: most to memories of the same statement, least
to those that only share its subject.
"""

FAN: Final = 50
"""Links of one kind over which a source passes activation on: the newest."""


@dataclass(frozen=True, slots=True)
class ActivationLink:
    """A link from a memory, or a message by its key, to a memory. `outward`: a relation that starts at the source.

    `strength`: share of the weight of its kind.
    """

    source: str
    by: str
    target: str
    outward: bool | None = None
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Way:
    """A path to a memory: the activation that comes over it (0 to 1), and its links."""

    share: float
    links: tuple[ActivationLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Active:
    """A memory, or a message, with its activation (0 to 1) and the strongest way to it."""

    key: str
    activation: float
    links: tuple[ActivationLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Visibility:
    """Owner and filters of the memories that may be reached.

    `browsing`: to look around one memory, not to answer a question. Memories of one subject are linked, too; superseded
    memories and episodes are shown, expired ones where they are no longer active, and none of others in the group.
    """

    user_id: str | None
    group_id: str | None = None
    filters: Filters = NO_FILTERS
    browsing: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the filters in SQL."""
        values = self.filters.parameters(self.user_id, self.group_id)
        if not self.browsing:
            return values
        return values | {"statuses": [*values["statuses"], Status.SUPERSEDED], "archived": False, "episodes": True}


def links(tx: Tx, sources: Iterable[str], reader: Visibility, *, reach: int) -> list[ActivationLink]:
    """Return the newest `FAN` links of each kind from each source to memories that the reader may see.

    `reach`: index rows read for each kind of link of a source.
    """
    keys = list(sources)
    messages = [key.split("\x1f", 1) for key in keys if "\x1f" in key]
    values = {
        **reader.parameters,
        "ids": [UUID(key) for key in keys if "\x1f" not in key],
        **message_places((session, message) for session, message in messages),
        "browsing": reader.browsing,
        "fan": FAN,
        "reach": reach,
    }
    then = reader.filters.moment.known_at is not None
    rows = tx.execute(_LINKS_BROWSED if reader.browsing else _LINKS_THEN if then else _LINKS, values)
    return [ActivationLink(row.source, row.by, str(row.target), row.outward, row.strength) for row in rows]


def step(
    sources: Iterable[Active], links: Iterable[ActivationLink], most: int | None = None
) -> Iterator[tuple[str, Way]]:
    """Yield each path that one step of activation takes, never back to where it came from.

    `most`: links over which one source passes on, if not all: those of the heaviest kinds, newest first.
    """
    by_source: defaultdict[str, list[ActivationLink]] = defaultdict(list)
    for link in dict.fromkeys(links):
        by_source[link.source].append(link)
    for source in sources:
        passed = {source.key, *(link.source for link in source.links)}
        onward = [link for link in by_source[source.key] if link.target not in passed]
        if most is not None:
            newest = sorted(onward, key=lambda link: UUID(link.target).int, reverse=True)
            onward = sorted(newest, key=lambda link: -WEIGHTS[link.by] * link.strength)[:most]
        counts = Counter(link.by for link in onward)
        for link in onward:
            share = source.activation * WEIGHTS[link.by] * link.strength / (1 + math.log(counts[link.by]))
            yield link.target, Way(share, (*source.links, link))


def gather(ways: Iterable[tuple[str, Way]]) -> list[Active]:
    """Return the targets of the paths, most active first. Activations of several paths add up, and stay below 1."""
    by_target: defaultdict[str, list[Way]] = defaultdict(list)
    for target, way in ways:
        by_target[target].append(way)
    active = [Active(key, _together(several), _strongest(several).links) for key, several in by_target.items()]
    return sorted(active, key=lambda target: (-target.activation, target.key))


def _together(ways: Sequence[Way]) -> float:
    # In one order: equals must stay equal to the last digit.
    return 1 - math.prod(1 - share for share in sorted(way.share for way in ways))


def _strongest(ways: Sequence[Way]) -> Way:
    return max(ways, key=lambda way: (way.share, [(link.by, link.source) for link in way.links]))


_UNTIL = "(cast(:known_at AS timestamptz) IS NULL OR {}.at <= :known_at)"

_NOW = "(SELECT * FROM memories WHERE id = links.target OFFSET 0) m"
"""Looked up by id alone: given the owner as well, a planner without statistics would read all of its rows."""

_THEN = f"memories s CROSS JOIN {as_of.KNOWN} m"

_SUBJECTS = """
            UNION
            (SELECT 'subject', o.id, NULL, 1 FROM memories o
             WHERE o.user_id = f.user_id AND o.subject = f.subject AND o.attribute IS NOT NULL
               AND o.attribute IS DISTINCT FROM f.attribute LIMIT least(:fan, :reach))
"""


def _links(memory: str, current: str, subjects: str = "") -> str:
    """Return the statement. `memory`: source of the target's row `m`; `current`: name of its row as of now."""
    return f"""
    WITH links AS MATERIALIZED (
        SELECT cast(f.id AS text) AS source, l.by, l.target, l.outward, l.strength
        FROM (SELECT id, user_id, subject, attribute FROM memories
              WHERE id = ANY(:ids) AND (user_id = :user OR group_id = :group)) f CROSS JOIN LATERAL (
            (SELECT r.relation AS by, r.to_id AS target, true AS outward, r.strength FROM relations r
             WHERE r.from_id = f.id AND {_UNTIL.format("r")} LIMIT :reach)
            UNION ALL
            (SELECT r.relation, r.from_id, false, r.strength FROM relations r
             WHERE r.to_id = f.id AND {_UNTIL.format("r")} LIMIT :reach)
            UNION
            (SELECT 'evidence', o.memory_id, cast(NULL AS boolean), 1
             FROM (SELECT e.session_id, e.message_id FROM evidence e
                   WHERE e.memory_id = f.id AND {_UNTIL.format("e")} LIMIT :fan) c
             CROSS JOIN LATERAL (
                 SELECT e.memory_id FROM evidence e
                 WHERE e.session_id = c.session_id AND e.message_id = c.message_id AND {_UNTIL.format("e")}
                 LIMIT :reach) o
             LIMIT :reach)
            UNION
            (SELECT 'slot', o.id, NULL, 1 FROM memories o
             WHERE o.user_id = f.user_id AND o.subject = f.subject AND o.attribute = f.attribute LIMIT :reach)
            {subjects}
        ) AS l WHERE l.target <> f.id
        UNION ALL
        SELECT w.session || E'\\x1f' || w.message, 'evidence', l.memory_id, NULL, 1
        FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS w (session, message) CROSS JOIN LATERAL (
            SELECT e.memory_id FROM evidence e
            WHERE e.session_id = w.session AND e.message_id = w.message AND {_UNTIL.format("e")} LIMIT :reach) AS l
    ), shown AS (
        SELECT links.*, row_number() OVER (PARTITION BY links.source, links.by ORDER BY links.target DESC) AS place
        FROM links CROSS JOIN LATERAL (
            SELECT FROM {memory}
            WHERE {current}.id = links.target AND (m.user_id = :user OR m.group_id = :group)
              AND (NOT :browsing OR m.user_id IS NOT DISTINCT FROM :user)
              AND ({current}.trust <> 'quarantined' OR 'quarantined' = ANY(:trust))
              AND (:archived OR (:browsing AND m.status <> 'active') OR {as_of.UNEXPIRED}) AND {FITS_SQL}
            OFFSET 0
        ) AS visible
    )
    SELECT source, by, target, outward, strength FROM shown WHERE place <= :fan
    """


_LINKS = text(_links(_NOW, "m"))

_LINKS_BROWSED = text(_links(_NOW, "m", _SUBJECTS))

_LINKS_THEN = text(_links(_THEN, "s"))
"""Memories and links as recorded at a time."""

"""Chain of an event: the events that followed from it, directly or through others, with the actions between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Event

EVENTS: Final = 200
"""Events of a chain that are read."""

DISPATCHES: Final = 500
"""Dispatches of a chain that are read."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Events below an event, each with how many steps it is away, in the order in which they came; and dispatches."""

    links: Sequence[Any]
    dispatches: Mapping[int, Sequence[Any]]
    truncated: bool


def of(tx: Tx, event: Event) -> Chain:
    """Read the chain below an event, the nearest first."""
    links = tx.execute(_LINKS, {"seq": event.seq, "id": event.id, "limit": EVENTS + 1}).all()
    displayed = links[:EVENTS]
    dispatches = tx.execute(
        _DISPATCHES, {"seqs": [event.seq, *(link.seq for link in displayed)], "limit": DISPATCHES + 1}
    ).all()
    by_event: defaultdict[int, list[Any]] = defaultdict(list)
    for row in dispatches[:DISPATCHES]:
        by_event[row.event_seq].append(row)
    return Chain(displayed, by_event, len(links) > EVENTS or len(dispatches) > DISPATCHES)


_LINKS = text("""
    WITH RECURSIVE below AS (
        SELECT cast(:seq AS bigint) AS seq, cast(:id AS text) AS id, 0 AS depth
        UNION ALL
        SELECT e.seq, e.id, b.depth + 1 FROM below b CROSS JOIN LATERAL (
            SELECT seq, id FROM events WHERE causation_id = b.id AND seq > b.seq ORDER BY seq LIMIT :limit
        ) AS e
    )
    SELECT n.depth, e.seq, e.id, e.event_type, e.subject, e.time, e.causation_id, e.dispatch_id
    FROM (SELECT seq, depth FROM below LIMIT :limit + 1) AS n JOIN events e ON e.seq = n.seq
    WHERE n.depth > 0 ORDER BY n.depth, e.seq
""")
"""By the index on the cause, generation by generation, no further than the limit; an event comes after its cause."""

_DISPATCHES = text("""
    SELECT * FROM dispatches WHERE event_seq = ANY(:seqs) AND replay_id IS NULL ORDER BY id LIMIT :limit
""")

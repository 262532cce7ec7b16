"""Known payload fields: those seen in the log, and those declared by checked or emitted types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.events.parsing import PAYLOADS
from core.events.reserved import EMITTED
from core.events.type_patterns import like, matches
from core.storage.db import Tx
from rules.expressions import paths

LATEST: Final = 20_000
"""Latest events of the tenant searched for those of a rule's types."""

SAMPLE: Final = 1_000
"""Maximum events of one type whose payloads are examined."""

SAMPLE_BYTES: Final = 4_000_000
"""Maximum bytes of examined payloads, as stored."""

ITEMS: Final = 20
"""Maximum items of a list that are examined."""


@dataclass(frozen=True, slots=True)
class Payloads:
    """Known payload paths by event type; `seen` are the types of the log with all their paths.

    A path is a tuple of keys in which `[]` matches any item of a list. `published`: the types among the latest events
    that match the requested patterns; None: not read.
    """

    seen: Mapping[str, frozenset[tuple[str, ...]]]
    published: frozenset[str] | None = None

    def of(self, pattern: str) -> frozenset[tuple[str, ...]] | None:
        """Return the paths of all types that match a rule's type; None if no such type is known."""
        kinds = {kind for kind in (*PAYLOADS, *EMITTED, *self.seen) if matches(pattern, kind)}
        if not kinds:
            return None
        return frozenset().union(*map(self.paths_of, kinds))

    def paths_of(self, event_type: str) -> frozenset[tuple[str, ...]]:
        """Return the declared and seen paths of one type."""
        return _declared_fields(event_type) | self.seen.get(event_type, frozenset())


def payloads_of(tx: Tx, patterns: Iterable[str]) -> Payloads:
    """Return the payload paths of the tenant's latest events of these types."""
    likes = [like(pattern) for pattern in patterns]
    values = {"likes": likes, "latest": LATEST, "sample": SAMPLE, "bytes": SAMPLE_BYTES}
    published = frozenset(tx.execute(_PUBLISHED, {"likes": likes, "latest": LATEST}).scalars())
    seen: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in tx.execute(_PAYLOADS, values):
        seen[row.event_type].update(_paths_of(row.payload))
    return Payloads({kind: frozenset(field_paths) for kind, field_paths in seen.items()}, published)


def _declared_fields(event_type: str) -> frozenset[tuple[str, ...]]:
    """Return the known fields of an event type; `*` below one whose content the sender defines."""
    model = PAYLOADS.get(event_type)
    names = {*EMITTED.get(event_type, ()), *(model.model_fields if model else ())}
    return frozenset({(name,) for name in names} | {(name, "*") for name in names})


def _paths_of(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return every path in a payload, as deep as a rule may look."""
    if len(above) >= paths.MAX_STEPS:
        return
    parts = list(value.items()) if isinstance(value, dict) else []
    parts += [("[]", item) for item in value[:ITEMS]] if isinstance(value, list) else []
    for step, part in parts:
        yield (*above, step)
        yield from _paths_of(part, (*above, step))


_PUBLISHED = text("""
    SELECT DISTINCT event_type FROM (SELECT event_type FROM events ORDER BY seq DESC LIMIT :latest) AS latest
    WHERE event_type LIKE ANY (cast(:likes AS text[]))
""")

_PAYLOADS = text("""
    SELECT event_type, payload FROM (
        SELECT event_type, payload, sum(pg_column_size(payload)) OVER (ORDER BY place, event_type) AS bytes
        FROM (
            SELECT event_type, payload, row_number() OVER (PARTITION BY event_type ORDER BY seq DESC) AS place
            FROM (SELECT seq, event_type, payload FROM events ORDER BY seq DESC LIMIT :latest) AS latest
            WHERE event_type LIKE ANY (cast(:likes AS text[]))
        ) AS numbered
        WHERE place <= :sample
    ) AS measured
    WHERE bytes <= :bytes
""")
"""The latest of each type first, until there are enough of a type or enough bytes; only their payloads are read."""

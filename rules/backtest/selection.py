"""Selection of events of the log by a filter: how many there are, and page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import text

from core.events.log import COLUMNS, SOURCE, event_of
from core.storage.db import Tx
from core.types import Event, Json
from rules.backtest import log_window

EVERY: Final = "*"


@dataclass(frozen=True, slots=True)
class EventSelector:
    """Filter of events; None, or no types: any.

    `types` may hold wildcards; `since` and `until` are about event time; `after` is a position in the log. Events of
    the service itself are left out unless they are named: by id, by the service's source, or by a type or wildcard
    other than `*`.
    """

    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    user_id: str | None = None
    session_id: str | None = None
    event_ids: tuple[str, ...] | None = None
    source: str | None = None
    after: int = 0

    @classmethod
    def restored(cls, stored: Json) -> Self:
        """Return the filter that `as_json` has described."""
        times = {name: datetime.fromisoformat(stored[name]) for name in ("since", "until") if stored[name]}
        lists = {name: tuple(stored[name]) for name in ("types", "event_ids") if stored[name] is not None}
        return cls(**{**stored, **times, **lists})

    def as_json(self) -> Json:
        values: Json = {name: getattr(self, name) for name in EventSelector.__slots__}
        return values | {name: values[name] and values[name].isoformat() for name in ("since", "until")}

    def values(self) -> Mapping[str, Any]:
        """Return the parameters of the queries."""
        named = [pattern for pattern in self.types if pattern != EVERY]
        return {
            **log_window.matching(self.types or (EVERY,)),
            "since": self.since,
            "until": self.until,
            "user": self.user_id,
            "session": self.session_id,
            "ids": None if self.event_ids is None else list(self.event_ids),
            "source": self.source,
            "own": SOURCE,
            "with_own": self.event_ids is not None or self.source == SOURCE,
            "named": log_window.matching(named)["exact"],
            "named_like": log_window.matching(named)["like"],
        }


class Extent(NamedTuple):
    """Number of selected events, up to a limit, and the position of the last; `more`: there are others behind it."""

    events: int
    last_seq: int
    more: bool


def measure(tx: Tx, criteria: EventSelector, limit: int) -> Extent:
    """Count the events, the oldest first, up to a limit."""
    row = tx.execute(_EXTENT, {**criteria.values(), "after": criteria.after, "limit": limit}).one()
    return Extent(min(row.events, limit), row.last_seq or criteria.after, row.events > limit)


def page(tx: Tx, criteria: EventSelector, *, after: int, upto: int, limit: int) -> Sequence[Event]:
    """Return the next events behind a position, up to another, in the order of the log."""
    values = {**criteria.values(), "after": after, "upto": upto, "limit": limit}
    return [event_of(row) for row in tx.execute(_PAGE, values)]


_SELECTED: Final = f"""
    (cast(:since AS timestamptz) IS NULL OR e.time >= :since)
    AND (cast(:until AS timestamptz) IS NULL OR e.time < :until)
    AND (cast(:user AS text) IS NULL OR e.user_id = :user)
    AND (cast(:session AS text) IS NULL OR e.session_id = :session)
    AND (cast(:ids AS text[]) IS NULL OR e.id = ANY(cast(:ids AS text[])))
    AND (cast(:source AS text) IS NULL OR e.source = :source)
    AND {log_window.OF_TYPES}
    AND (e.source <> :own OR :with_own OR event_type = ANY(cast(:named AS text[]))
         OR event_type LIKE ANY(cast(:named_like AS text[])))
"""

_EXTENT = text(f"""
    SELECT count(*) AS events, max(seq) FILTER (WHERE place <= :limit) AS last_seq FROM (
        SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM (
            SELECT e.seq FROM events e WHERE e.seq > :after AND {_SELECTED} ORDER BY e.seq LIMIT :limit + 1
        ) AS first
    ) AS numbered
""")

_PAGE = text(f"""
    SELECT {COLUMNS} FROM events e WHERE e.seq > :after AND e.seq <= :upto AND {_SELECTED} ORDER BY e.seq LIMIT :limit
""")

"""The log in the order in which it can be followed: nothing appears behind what was read already.

`seq` is given before the commit, so an event may become visible after one with a higher `seq`. The feed is ordered by
the transaction that wrote an event, then by `seq`, and ends before the oldest transaction that is still writing, the
horizon. What is not visible yet was written by a transaction at or beyond the horizon, and so stands behind everything
that was read (docs/decisions/0026).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import text

from core.errors import Invalid, Problem
from core.events import log
from core.storage import bounded_rows
from core.storage.db import Tx
from core.types import Event

POSITION: Final = re.compile(r"([0-9a-f]{1,15})-([0-9a-f]{1,15})")


class Position(NamedTuple):
    """Place in the feed: that of an event, or with `seq` 0 one before every event of a transaction."""

    transaction: int
    seq: int

    def __str__(self) -> str:
        return f"{self.transaction:x}-{self.seq:x}"


BEGINNING: Final = Position(0, 0)


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Events with their positions, and the position behind everything that was read."""

    events: Sequence[tuple[Position, Event]]
    end: Position
    is_last: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """Gap of a follower: events up to a position have left, the newest of them as old as `newest`."""

    to: Position
    newest: datetime


def parse(written: str, pointer: str) -> Position:
    """Parse a position as `str` writes it; `0` is the beginning. Invalid."""
    if written == "0":
        return BEGINNING
    match = POSITION.fullmatch(written)
    if match is None:
        raise Invalid([Problem(pointer, "is not a position of the stream; use an `id` that it sent, or 0 for all")])
    return Position(int(match[1], 16), int(match[2], 16))


def end(tx: Tx) -> Position:
    """Return the position behind everything that can be read now."""
    return Position(tx.execute(_HORIZON).scalar_one(), 0)


def read(tx: Tx, after: Position, limit: int, most: int = bounded_rows.PAGE_BYTES) -> FeedPage:
    """Return the next events after a position, at most `limit`, and no more once they hold `most` bytes."""
    values = {"transaction": after.transaction, "seq": after.seq, "limit": limit}
    rows, is_cut = bounded_rows.read(tx, _PAGE, values, most)
    events = [(Position(row[1], row[2]), log.event_of(row[2:])) for row in rows if row[1] is not None]
    if is_cut or len(events) == limit:
        return FeedPage(events, events[-1][0], is_last=False)
    return FeedPage(events, max(after, Position(rows[0][0], 0)), is_last=True)


def gap(tx: Tx, after: Position) -> Gap | None:
    """Return what has left behind a position by the retention of the tenant; None: everything is there."""
    row = tx.execute(_LEFT).one_or_none()
    if row is None or after >= (to := Position(row.written_in, row.seq)):
        return None
    return Gap(to, row.to_time)


def require_within(tx: Tx, position: Position) -> None:
    """Refuse a position of another database, such as the one from before a restore. Invalid."""
    if position.transaction > tx.execute(_NEWEST).scalar_one():
        detail = "lies behind the end of the log, so it is from another database; begin anew without it, or with 0"
        raise Invalid([Problem("/after", detail)])


_LEFT = text("SELECT written_in, seq, to_time FROM expiries WHERE kind = 'events'")

_HORIZON = text("SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)")

_NEWEST = text("SELECT cast(cast(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint)")

_PAGE = text(f"""
    SELECT h.horizon, e.written_in, {log.COLUMNS}
    FROM (SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon) AS h
    LEFT JOIN LATERAL (
        SELECT * FROM events
        WHERE (written_in, seq) > (cast(:transaction AS bigint), cast(:seq AS bigint)) AND written_in < h.horizon
        ORDER BY written_in, seq LIMIT :limit) AS e ON true
    ORDER BY e.written_in, e.seq
""")
"""Horizon and events are read by one statement, and so from one snapshot."""

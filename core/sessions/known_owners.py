"""The users and groups of whom something is held, kept by whatever stores the first thing of one.

A row is written when an owner is new, or speaks a minute or more after the time that stands there: a list of them
by name or by time is then a range of an index, however much each of them has said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field
from sqlalchemy import TextClause, text

from core.storage.db import Tx, recordset, run_together
from core.storage.multiquery import BoundStatement

SEEN_SECONDS: Final = 60
"""Seconds for which the time of an owner is left as it is; otherwise each batch of a busy group waits for its row."""

MOST: Final = 200
"""Sessions and memories of one owner that are counted in a list; there may be more."""

SESSIONS_READ: Final = 50
MESSAGES_READ: Final = 200
"""Latest sessions of a group, and latest messages of each, among which its members are looked for."""

Kind = Literal["user", "group"]
Order = Literal["recent", "id"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A user or a group, and when something of it was said or sent."""

    kind: Kind
    id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RowCount:
    """A number of rows, counted up to 200."""

    count: int
    more: Annotated[bool, Field(description="There may be others")]


@dataclass(frozen=True, slots=True)
class KnownOwner:
    """A user or a group, with its sessions and active memories."""

    id: str
    known_at: datetime
    last_at: datetime
    sessions: RowCount
    memories: RowCount


@dataclass(frozen=True, slots=True)
class OwnerFilter:
    """Owners to list. `after`: the last one of the page before, with its time where they are in its order.

    `prefix`: what ids begin with; these are listed by id, since by time they could be anywhere.
    """

    kind: Kind
    prefix: str = ""
    order: Order = "recent"
    after: tuple[datetime, str] | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Member:
    """A user who spoke in a group."""

    user_id: str
    last_at: datetime
    messages: Annotated[int, Field(description="Among the latest 200 messages of each of the latest 50 sessions")]


def of(user_id: str | None, group_id: str | None, at: datetime) -> Iterator[Seen]:
    """Yield the owners that are named."""
    if user_id:
        yield Seen("user", user_id, at)
    if group_id:
        yield Seen("group", group_id, at)


def note(tx: Tx, tenant_id: str, seen: Iterable[Seen]) -> None:
    """Note that something of these owners is held."""
    run_together(tx, noting(tenant_id, seen))


def noting(tenant_id: str, seen: Iterable[Seen]) -> BoundStatement | None:
    """Return the statement by which `note` does it, to be run together with others; None: there is no owner."""
    latest: dict[tuple[Kind, str], datetime] = {}
    for sighting in seen:
        key = (sighting.kind, sighting.id)
        latest[key] = max(sighting.at, latest.get(key, sighting.at))
    if not latest:
        return None
    # In one order, so that two transactions with the same new owners wait for each other instead of deadlocking.
    rows = [{"kind": kind, "id": name, "at": at} for (kind, name), at in sorted(latest.items())]
    return _NOTE, {"tenant": tenant_id, "rows": recordset(rows), "seconds": SEEN_SECONDS}


def find(tx: Tx, owner_filter: OwnerFilter) -> list[KnownOwner]:
    """Return a page of owners: by id where they are looked for by it, else the last to speak first."""
    last_at, name = owner_filter.after or (None, "")
    values = {"kind": owner_filter.kind, "limit": owner_filter.limit, "most": MOST, "at": last_at, "after": name}
    if owner_filter.order == "id":
        values |= {"low": owner_filter.prefix, "high": _behind(owner_filter.prefix)}
    return [_owner(row) for row in tx.execute(PAGES[owner_filter.kind, owner_filter.order], values)]


def get(tx: Tx, kind: Kind, name: str) -> KnownOwner | None:
    """Return one owner; None: nothing is or was held of it."""
    row = tx.execute(_ONE[kind], {"kind": kind, "id": name, "most": MOST}).one_or_none()
    return None if row is None else _owner(row)


def members(tx: Tx, group_id: str) -> Sequence[Member]:
    """Return who spoke in the latest sessions of a group, the last to speak first."""
    values = {"group": group_id, "sessions": SESSIONS_READ, "messages": MESSAGES_READ}
    return [Member(*row) for row in tx.execute(_MEMBERS, values)]


def _owner(row: Any) -> KnownOwner:
    return KnownOwner(row.id, row.known_at, row.last_at, _count(row.sessions), _count(row.memories))


def _count(count: int) -> RowCount:
    return RowCount(count, count >= MOST)


def _behind(prefix: str) -> str | None:
    """Return the first text behind all that begin with the prefix, in the order of code points; None: there is none."""
    for index in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[index]) + 1
        if code <= LAST_CODE:
            return prefix[:index] + chr(AFTER_SURROGATES if code in SURROGATES else code)
    return None


LAST_CODE: Final = 0x10FFFF
SURROGATES: Final = range(0xD800, 0xE000)
AFTER_SURROGATES: Final = 0xE000

_NOTE = text("""
    INSERT INTO owners AS o (tenant_id, kind, id, last_at)
    SELECT :tenant, r.kind, r.id, least(r.at, clock_timestamp())
    FROM json_to_recordset(cast(:rows AS json)) AS r (kind text, id text, at timestamptz)
    LEFT JOIN owners k ON k.kind = r.kind AND k.id = r.id COLLATE "C"
    WHERE k.id IS NULL OR k.last_at < least(r.at, clock_timestamp()) - make_interval(secs => :seconds)
    ORDER BY r.kind, r.id COLLATE "C"
    ON CONFLICT (tenant_id, kind, id) DO UPDATE SET last_at = greatest(o.last_at, excluded.last_at)
""")
"""Only what would change is written: a row that conflicts is locked, even if nothing about it changes."""

_WITH_COUNTS: Final = """
    SELECT p.id, p.known_at, p.last_at,
           (SELECT count(*) FROM (SELECT FROM sessions s WHERE s.{kind}_id = p.id COLLATE "default"
                                  LIMIT :most) AS n) AS sessions,
           (SELECT count(*) FROM (SELECT FROM memories m WHERE m.{kind}_id = p.id COLLATE "default"
                                  AND m.status = 'active' LIMIT :most) AS n) AS memories
    FROM page p
"""

_BY_ID: Final = """
    WITH page AS MATERIALIZED (
        SELECT * FROM owners WHERE kind = :kind AND id >= :low AND (cast(:high AS text) IS NULL OR id < :high)
                               AND id > :after ORDER BY id LIMIT :limit)
"""

_BY_TIME: Final = """
    WITH page AS MATERIALIZED (
        SELECT * FROM owners
        WHERE kind = :kind AND (cast(:at AS timestamptz) IS NULL OR (last_at, id) < (:at, :after))
        ORDER BY last_at DESC, id DESC LIMIT :limit)
"""

_BY_NAME: Final = "WITH page AS (SELECT * FROM owners WHERE kind = :kind AND id = :id)"

KINDS: Final[tuple[Kind, ...]] = ("user", "group")

_ORDERS: Final[Mapping[Order, tuple[str, str]]] = {
    "id": (_BY_ID, "p.id"),
    "recent": (_BY_TIME, "p.last_at DESC, p.id DESC"),
}

PAGES: Final[Mapping[tuple[Kind, Order], TextClause]] = {
    (kind, order): text(f"{page} {_WITH_COUNTS.format(kind=kind)} ORDER BY {columns}")
    for kind in KINDS
    for order, (page, columns) in _ORDERS.items()
}
"""Each is a range of one index, and a range that ends at `MOST` for each figure of a row."""

_ONE: Final = {kind: text(f"{_BY_NAME} {_WITH_COUNTS.format(kind=kind)}") for kind in KINDS}

_MEMBERS = text("""
    SELECT m.user_id, max(m.occurred_at) AS last_at, count(*) AS messages
    FROM (SELECT id FROM sessions WHERE group_id = :group ORDER BY last_at DESC, id DESC LIMIT :sessions) AS s,
         LATERAL (SELECT user_id, occurred_at FROM messages WHERE session_id = s.id
                  ORDER BY position DESC LIMIT :messages) AS m
    WHERE m.user_id <> '' GROUP BY m.user_id ORDER BY 2 DESC, 1
""")
"""The empty id stands for users who were erased."""

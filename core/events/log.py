"""The event log: append, emit, read, settle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from uuid_utils import uuid7

from core.events import trace_context, type_patterns
from core.events.parsing import NAME_CHARACTERS, Incoming
from core.events.reserved import SERVICE
from core.storage import bounded_rows
from core.storage.db import Tx, json_texts, recordset, required_row, run_together, text_array
from core.storage.multiquery import BoundStatement
from core.types import Event, Json

COLUMNS = """
    e.seq, e.tenant_id, e.id, e.source, e.event_type, e.subject, e.time, e.payload, e.session_id, e.user_id,
    e.correlation_id, e.causation_id, e.hop, coalesce(e.root_seq, e.seq), coalesce(e.lineage, '{}'),
    e.extensions
"""
"""Columns that `event_of` reads, in the order of Event's fields."""

SEARCHED: Final = 10_000
"""Events that one page of a list looks through for a type."""

SOURCE = SERVICE
"""Source of the events that the service itself emits; `core.events.parsing` refuses it from anyone else."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The event, and dispatch, that an emitted event follows from; places it in the chain."""

    event: Event
    dispatch_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Emission:
    """An event that the service is about to emit."""

    event_type: str
    payload: Json
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Announcement:
    """A service event without a cause; of several with the same id, only the first is stored.

    `extensions` are stored with the event and never returned.
    """

    id: str
    event_type: str
    time: datetime
    payload: Json
    subject: str | None = None
    extensions: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filter of events; None: any. `event_type` may end in `.*`; `before` is a position in the log."""

    event_type: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events, and the position before which the next page begins; None: this is the last one."""

    events: Sequence[Event]
    following: int | None


def appending(tenant_id: str, batch: Sequence[Incoming]) -> BoundStatement:
    """Return the statement that appends events that begin a chain; `positions` reads its rows."""
    return _INSERT, {"tenant": tenant_id, **_columns(batch), **_NO_CAUSE}


def positions(appended: Iterable[Any]) -> dict[tuple[str, str], int]:
    """Return the positions of the events that the log did not know, by source and id, from the rows of `appending`."""
    return {(source, name): seq for seq, name, source in appended}


def emit(tx: Tx, tenant_id: str, cause: Cause, emissions: Sequence[Emission]) -> None:
    """Append events of the service itself, in the chain of their cause; they are routed like any other event."""
    run_together(tx, emitting(tenant_id, cause, emissions))


def emitting(tenant_id: str, cause: Cause, emissions: Sequence[Emission]) -> BoundStatement | None:
    """Return the statement by which `emit` does it; None: there is no event."""
    if not emissions:
        return None
    batch = [_incoming_of_emission(emission, cause) for emission in emissions]
    return _INSERT, {"tenant": tenant_id, **_columns(batch), **_place(cause)}


def record(tx: Tx, tenant_id: str, cause: Cause, batch: Sequence[Incoming]) -> dict[str, int]:
    """Append events of the past, to which no rule reacts, in the chain of their cause; return their positions by id."""
    values = {"tenant": tenant_id, **_columns(batch), **_place(cause, routed=True)}
    return {row.id: row.seq for row in tx.execute(_INSERT, values)}


def announce(tx: Tx, tenant_id: str, announcements: Sequence[Announcement]) -> int:
    """Append events of the service that begin a chain; return how many of them were new."""
    (new,) = run_together(tx, announcing(tenant_id, announcements))
    return len(new)


def announcing(tenant_id: str, announcements: Sequence[Announcement]) -> BoundStatement | None:
    """Return the statement by which `announce` does it; None: there is no event."""
    if not announcements:
        return None
    batch = [_incoming_of_announcement(announcement) for announcement in announcements]
    return _INSERT, {"tenant": tenant_id, **_columns(batch), **_NO_CAUSE}


def get(tx: Tx, event_id: str) -> Event:
    """Return the event with that id; the latest if several sources used the id."""
    row = required_row(tx, _GET, {"id": event_id}, f"There is no event {event_id!r} in this tenant.")
    return event_of(row)


def announced(tx: Tx, event_id: str) -> tuple[Json, Json] | None:
    """Return payload and extensions of an event that the service announced under this id; None: there is none."""
    row = tx.execute(_ANNOUNCED, {"id": event_id, "source": SOURCE}).one_or_none()
    return None if row is None else (row.payload, row.extensions or {})


def seqs_of(tx: Tx, event_ids: Sequence[str]) -> dict[str, int]:
    """Return the positions of events that the service announced under these ids."""
    rows = tx.execute(_SEQS_OF, {"ids": list(event_ids), "source": SOURCE})
    return {row.id: row.seq for row in rows}


def followers(tx: Tx, event: Event) -> list[Event]:
    """Return the events that the service emitted because of this one, oldest first."""
    return [event_of(row) for row in tx.execute(_FOLLOWERS, {"id": event.id})]


def dispatches_of_followers(tx: Tx, event: Event) -> dict[int, UUID | None]:
    """Return the dispatch behind each event that followed from this one, by position in the log."""
    return {row.seq: row.dispatch_id for row in tx.execute(_DISPATCHES_OF_FOLLOWERS, {"id": event.id})}


def at(tx: Tx, seq: int) -> Event:
    """Return the event at a position of the tenant's log."""
    return event_of(tx.execute(_AT, {"seq": seq}).one())


def gathered(tx: Tx, positions: Mapping[tuple[str, int], bool]) -> dict[tuple[str, int], Event]:
    """Return events by tenant and position in its log, with their payloads where that is True."""
    if not positions:
        return {}
    rows = [{"tenant": tenant_id, "seq": seq, "whole": whole} for (tenant_id, seq), whole in positions.items()]
    events = map(event_of, tx.execute(_GATHERED, {"rows": recordset(rows)}))
    return {(event.tenant_id, event.seq): event for event in events}


def page(tx: Tx, criteria: EventFilter, limit: int) -> EventPage:
    """Return events, newest first.

    A type is looked for among `SEARCHED` events at a time, of the session, the user or the log: such a page may be
    short or empty and yet not be the last.
    """
    like = type_patterns.like(criteria.event_type) if criteria.event_type else None
    within: Json = {"session": criteria.session_id, "user": criteria.user_id, "before": criteria.before}
    within |= {"searched": SEARCHED}
    rows, is_cut = bounded_rows.read(tx, _FIND, within | {"type": like, "limit": limit})
    events = [event_of(row) for row in rows]
    if is_cut or len(events) == limit:
        return EventPage(events, events[-1].seq)
    if like is None:
        return EventPage(events, None)
    seen = tx.execute(_SEARCHED_TO, within).one()
    return EventPage(events, seen.last if seen.rows == SEARCHED else None)


def find(tx: Tx, *, limit: int = 50, **criteria: Any) -> Sequence[Event]:
    """List the events of one page; `criteria`: fields of `EventFilter`."""
    return page(tx, EventFilter(**criteria), limit).events


def backlog(tx: Tx, bound: int) -> int:
    """Count events that wait for the router, of this tenant or, for the queue role, of all; stop at `bound`."""
    return int(tx.execute(_BACKLOG, {"bound": bound}).scalar_one())


def count_pending(tx: Tx, seq: int) -> int:
    """Count what has not ended yet up to a position in the log, with everything that followed from it."""
    return int(tx.execute(_PENDING, {"seq": seq}).scalar_one())


def open_from(tx: Tx) -> int | None:
    """Return the first position in the log with something unfinished, chains included; None if all has ended."""
    position: int | None = tx.execute(_OPEN_FROM).scalar_one()
    return position


def flush(tx: Tx, seq: int) -> int:
    """Make every open debounce with events up to this position due now; return how many there were."""
    return tx.execute(_FLUSH, {"seq": seq}).rowcount


def event_of(row: Sequence[Any]) -> Event:
    """Build an Event from a row of COLUMNS, by position: a router does this thousands of times a second."""
    return Event(*row)


def _place(cause: Cause, *, routed: bool = False) -> Json:
    return {
        "root_seq": cause.event.root_seq,
        "hop": cause.event.hop + 1,
        "dispatch_id": cause.dispatch_id,
        "lineage": list(cause.event.lineage) or None,
        "routed": routed,
    }


def _incoming_of_emission(emission: Emission, cause: Cause) -> Incoming:
    return Incoming(
        id=str(uuid7()),
        source=SOURCE,
        event_type=emission.event_type,
        subject=emission.subject,
        time=datetime.now(UTC),
        payload=emission.payload,
        correlation_id=cause.event.correlation_id,
        causation_id=cause.event.id,
    )


def _incoming_of_announcement(announcement: Announcement) -> Incoming:
    return Incoming(
        id=announcement.id,
        source=SOURCE,
        event_type=announcement.event_type,
        subject=announcement.subject,
        time=announcement.time,
        payload=announcement.payload,
        correlation_id=announcement.id,
        extensions=announcement.extensions,
    )


def _columns(batch: Sequence[Incoming]) -> Json:
    extensions = trace_context.stored([event.extensions for event in batch])
    return {
        "ids": text_array([event.id for event in batch]),
        "sources": text_array([event.source for event in batch]),
        "types": text_array([event.event_type for event in batch]),
        "subjects": text_array([event.subject for event in batch]),
        "times": text_array([event.time.isoformat() for event in batch]),
        "payloads": text_array(json_texts([event.payload for event in batch])),
        "sessions": text_array([_text(event.payload, "session_id") for event in batch]),
        "users": text_array([_text(event.payload, "user_id") for event in batch]),
        "correlations": text_array([event.correlation_id for event in batch]),
        "causes": text_array([event.causation_id for event in batch]),
        "extensions": text_array(json_texts([own or None for own in extensions])),
    }


def _text(payload: Mapping[str, Any], name: str) -> str | None:
    """Return a payload field if it could be a name: the log is indexed by it, and types are not always checked."""
    value = payload.get(name)
    return value if isinstance(value, str) and 0 < len(value) <= NAME_CHARACTERS else None


def last_seq(tx: Tx) -> int:
    """Return the position of the tenant's newest event; 0 for an empty log."""
    return int(tx.execute(text("SELECT coalesce(max(seq), 0) FROM events")).scalar_one())


_NO_CAUSE = {"root_seq": None, "hop": 0, "dispatch_id": None, "lineage": None, "routed": False}
"""Columns of an event that begins a chain."""

_INSERT = text("""
    INSERT INTO events (tenant_id, id, source, event_type, subject, time, payload, session_id, user_id,
                        correlation_id, causation_id, extensions, root_seq, hop, dispatch_id, lineage, routed_at)
    SELECT :tenant, id, source, event_type, subject, time, payload, session_id, user_id,
           correlation_id, causation_id, extensions, cast(:root_seq AS bigint), :hop, cast(:dispatch_id AS uuid),
           cast(:lineage AS text[]), CASE WHEN :routed THEN clock_timestamp() END
    FROM unnest(
        cast(:ids AS text[]), cast(:sources AS text[]), cast(:types AS text[]), cast(:subjects AS text[]),
        cast(:times AS timestamptz[]), cast(:payloads AS jsonb[]), cast(:sessions AS text[]), cast(:users AS text[]),
        cast(:correlations AS text[]), cast(:causes AS text[]), cast(:extensions AS jsonb[])
    ) AS batch (id, source, event_type, subject, time, payload, session_id, user_id, correlation_id, causation_id,
                extensions)
    ON CONFLICT (tenant_id, id, source) DO NOTHING
    RETURNING seq, id, source
""")
"""Append a batch in its order; return only events that are new."""

_GET = text(f"SELECT {COLUMNS} FROM events e WHERE id = :id ORDER BY seq DESC LIMIT 1")

_GATHERED = text(f"""
    SELECT {COLUMNS.replace("e.payload", "CASE WHEN r.whole THEN e.payload ELSE '{}' END")}
    FROM json_to_recordset(cast(:rows AS json)) AS r (tenant text, seq bigint, whole boolean)
    JOIN events e ON e.tenant_id = r.tenant AND e.seq = r.seq
""")

_SEQS_OF = text("SELECT id, seq FROM events WHERE id = ANY(:ids) AND source = :source")

_ANNOUNCED = text("SELECT payload, extensions FROM events WHERE id = :id AND source = :source")

_AT = text(f"SELECT {COLUMNS} FROM events e WHERE seq = :seq")

_FOLLOWERS = text(f"SELECT {COLUMNS} FROM events e WHERE causation_id = :id ORDER BY seq")

_DISPATCHES_OF_FOLLOWERS = text("SELECT seq, dispatch_id FROM events WHERE causation_id = :id")

_WITHIN = """
    (cast(:session AS text) IS NULL OR session_id = :session) AND (cast(:user AS text) IS NULL OR user_id = :user)
    AND (cast(:before AS bigint) IS NULL OR seq < :before)
"""

_FIND = text(f"""
    SELECT {COLUMNS} FROM (SELECT * FROM events WHERE {_WITHIN} ORDER BY seq DESC LIMIT :searched) AS e
    WHERE cast(:type AS text) IS NULL OR event_type LIKE :type
    ORDER BY seq DESC LIMIT :limit
""")

_SEARCHED_TO = text(f"""
    SELECT count(*) AS rows, min(seq) AS last
    FROM (SELECT seq FROM events WHERE {_WITHIN} ORDER BY seq DESC LIMIT :searched) AS e
""")

_BACKLOG = text("SELECT count(*) FROM (SELECT FROM events WHERE routed_at IS NULL LIMIT :bound) AS waiting")

OPEN_DISPATCH: Final = "status IN ('pending', 'running', 'retrying') AND root_seq >= 0"
"""SQL: a dispatch has not ended. The second condition always holds; with it, the index of open dispatches is taken."""

_PENDING = text("""
    SELECT (SELECT count(*) FROM events WHERE routed_at IS NULL AND coalesce(root_seq, seq) <= :seq)
         + (SELECT count(*) FROM dispatches
            WHERE status IN ('pending', 'running', 'retrying') AND root_seq <= :seq)
         + (SELECT count(*) FROM flows WHERE due_at IS NOT NULL AND root_seq <= :seq)
""")
"""Unrouted events, open dispatches and open debounces whose chain began at or before the position."""

_OPEN_FROM = text(f"""
    SELECT least(
        (SELECT min(coalesce(root_seq, seq)) FROM events WHERE routed_at IS NULL),
        (SELECT min(root_seq) FROM dispatches WHERE {OPEN_DISPATCH}),
        (SELECT min(root_seq) FROM flows WHERE due_at IS NOT NULL))
""")

_FLUSH = text("""
    UPDATE flows SET due_at = now() WHERE (tenant_id, rule, kind, key) IN (
        SELECT tenant_id, rule, kind, key FROM flows
        WHERE kind = 'debounce' AND due_at > now() AND root_seq <= :seq
        ORDER BY tenant_id COLLATE "C", rule COLLATE "C", key COLLATE "C" FOR UPDATE)
""")
"""Locks in the order of the routers (`rules.flow.flow_rows`), and none of the later stages."""

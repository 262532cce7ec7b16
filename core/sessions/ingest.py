"""Accepts events: appends a batch to the log and projects its messages in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.errors import Invalid, Problem
from core.events import log
from core.events.parsing import OF_SESSIONS, Incoming
from core.sessions import sessions
from core.sessions.message_rows import Drafts
from core.storage.db import Database
from core.types import Json


@dataclass(frozen=True, slots=True)
class Accepted:
    """Result for a batch: the events in their order, each with whether it was a repeat."""

    ids: Sequence[tuple[str, bool]]
    last_seq: int

    @property
    def duplicates(self) -> int:
        return sum(duplicate for _, duplicate in self.ids)


def accept(database: Database, tenant_id: str, batch: Sequence[Incoming]) -> Accepted:
    """Append a batch to the log and project its messages, in one transaction and two round trips.

    A repeat of `source` + `id` changes nothing. Invalid: an event names no user, and neither does its session. The
    sessions are locked before the log assigns positions, so that
    within one session the order of the log is the order of commit.
    """
    batch, nameless = with_users(database, tenant_id, batch)
    if nameless:
        raise Invalid([Problem(f"/{position}", NAMELESS) for position in nameless])
    drafts = Drafts(tenant_id, batch)
    # One round trip, but executed one after the other.
    statements = sessions.opening(tenant_id, batch), log.appending(tenant_id, batch)
    with database.asking(tenant_id, *statements, meanwhile=drafts.make) as (tx, answers):
        opened, inserted = sessions.opened(answers[0]), log.positions(answers[1])
        fresh, ids = _first_of_each(batch, inserted)
        # The token of a batch of repeats covers what followed from their first delivery.
        last_seq = max(inserted.values()) if inserted else log.last_seq(tx)
        sessions.project(tx, fresh, opened, drafts)
    return Accepted(ids, last_seq)


NAMELESS: Final = "needs `user_id` in its payload: nothing that is stored of its session names the user"


def with_users(
    database: Database, tenant_id: str, batch: Sequence[Incoming]
) -> tuple[Sequence[Incoming], Sequence[int]]:
    """Return a batch in which events of sessions have the user of the session's messages, if they name none.

    With it, the positions of events whose session names no user either.
    """
    open_ones = [n for n, event in enumerate(batch) if event.event_type in OF_SESSIONS and not _user(event)]
    if not open_ones:
        return batch, ()
    owners = {event.payload["session_id"]: _owner(event) for event in reversed(batch) if _user(event)}
    unknown = {batch[n].payload["session_id"] for n in open_ones} - owners.keys()
    if unknown:
        with database.tenant(tenant_id) as tx:
            owners |= sessions.owners(tx, sorted(unknown))
    completed = list(batch)
    for n in open_ones:
        payload = batch[n].payload
        completed[n] = replace(batch[n], payload={**payload, **owners.get(payload["session_id"], {})})
    return completed, [n for n in open_ones if not _user(completed[n])]


def _user(event: Incoming) -> str | None:
    return event.payload.get("user_id") if event.event_type in OF_SESSIONS else None


def _owner(event: Incoming) -> Json:
    return {name: event.payload[name] for name in ("user_id", "group_id") if event.payload.get(name)}


def _first_of_each(
    batch: Sequence[Incoming], inserted: Mapping[tuple[str, str], int]
) -> tuple[list[tuple[int, Incoming]], list[tuple[str, bool]]]:
    """Split a batch into new events with their positions, and the answer for each event."""
    fresh: dict[int, Incoming] = {}
    ids = []
    for event in batch:
        seq = inserted.get((event.source, event.id))
        is_new = seq is not None and seq not in fresh
        if seq is not None and is_new:
            fresh[seq] = event
        ids.append((event.id, not is_new))
    return sorted(fresh.items()), ids

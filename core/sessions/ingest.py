"""Accepts events: appends a batch to the log and projects its messages in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.events import log
from core.events.parsing import Incoming
from core.sessions import sessions
from core.sessions.message_rows import Drafts
from core.storage.db import Database


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

    A repeat of `source` + `id` changes nothing. The sessions are locked before the log assigns positions, so that
    within one session the order of the log is the order of commit.
    """
    drafts = Drafts(tenant_id, batch)
    # One round trip, but executed one after the other.
    asked = sessions.opening(tenant_id, batch), log.appending(tenant_id, batch)
    with database.asking(tenant_id, *asked, meanwhile=drafts.make) as (tx, answers):
        opened, inserted = sessions.opened(answers[0]), log.positions(answers[1])
        fresh, ids = _first_of_each(batch, inserted)
        # The token of a batch of repeats covers what followed from their first delivery.
        last_seq = max(inserted.values()) if inserted else log.last_seq(tx)
        sessions.project(tx, fresh, opened, drafts)
    return Accepted(ids, last_seq)


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

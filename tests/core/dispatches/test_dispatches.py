from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import text

from core.dispatches import dispatches
from core.events import log
from core.storage.db import Database
from core.types import Json
from tests.factories import events_since
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import chain, held, in_lane, owe, row_of, statuses


def test_the_event_of_a_dispatch_carries_the_chain_of_the_dispatch(app: Database) -> None:
    """One that gathered several events hangs on the first of them."""
    first = accept(app, event()).last_seq
    one = owe(app, root_seq=first, correlation_id="c9", hop=3, lineage=("a", "b"))
    row = row_of(app, one)
    with app.tenant(TENANT) as tx:
        found, plain = dispatches.event_of(tx, row), log.at(tx, row.event_seq)
    assert (found.root_seq, found.correlation_id, found.hop, found.lineage) == (first, "c9", 3, ("a", "b"))
    assert replace(found, root_seq=plain.root_seq, correlation_id=plain.correlation_id, hop=plain.hop,
                   lineage=plain.lineage) == plain  # fmt: skip


def test_a_dispatch_without_an_event_is_named(app: Database) -> None:
    row = row_of(app, owe(app, event_seq=None))
    with app.tenant(TENANT) as tx, pytest.raises(ValueError, match=str(row.id)):
        dispatches.event_of(tx, row)


def announced(app: Database, dispatch_id: UUID, change: str) -> list[Json]:
    """The announcements of a decision, after a change of its row."""
    with app.tenant(TENANT) as tx:
        row = tx.execute(text(f"UPDATE dispatches SET {change} WHERE id = :id RETURNING *"), {"id": dispatch_id}).one()
        dispatches.emit_approval(tx, row)
        return [one.payload for one in events_since(tx, 0, 100) if one.event_type == "approval.decided"]


def test_a_decision_is_announced_with_who_made_it_and_what_they_said(app: Database) -> None:
    (one,) = held(app, 60, "agent")
    said = """approval = '{"verdict": "approved", "by": "key:1", "comment": "go on"}'"""
    told = {"dispatch_id": str(one), "rule": "r", "verdict": "approved", "by": "key:1", "comment": "go on"}
    assert announced(app, one, said) == [told]


@pytest.mark.parametrize("change", ["approval = NULL", "event_seq = NULL"])
def test_without_a_decision_or_an_event_there_is_nothing_to_announce(app: Database, change: str) -> None:
    (one,) = held(app, 60, "agent")
    assert announced(app, one, change) == []


def test_what_was_to_follow_is_cancelled_with_the_reason_and_other_chains_go_on(app: Database) -> None:
    ids, other = chain(app, "agent", "agent", "agent"), chain(app, "agent", "agent")
    with app.tenant(TENANT) as tx:
        end = "UPDATE dispatches SET status = 'cancelled', error = 'No.' WHERE id = :id RETURNING *"
        dispatches.cancel_followers(tx, tx.execute(text(end), {"id": ids[0]}).one())
    assert statuses(app, [*ids, *other]) == ["cancelled"] * 3 + ["pending", "held"]
    assert row_of(app, ids[2]).error == f"agent ({ids[0]}), which had to be done first, was cancelled: No."
    assert row_of(app, ids[2]).ended_at is not None


def test_the_oldest_that_waits_for_the_lane_of_an_ended_one_is_due_now(app: Database) -> None:
    ended, sent, first, second = in_lane(app, 4)
    late = text("UPDATE dispatches SET turn = NULL, wake_at = clock_timestamp() + interval '1 hour'")
    due = text("SELECT id FROM dispatches WHERE wake_at <= clock_timestamp()")
    with app.tenant(TENANT) as tx:
        tx.execute(late)
        tx.execute(text("UPDATE dispatches SET status = 'cancelled' WHERE id = :id"), {"id": ended})
        tx.execute(text("UPDATE dispatches SET turn = 'sent' WHERE id = :id"), {"id": sent})
    with app.tenant(TENANT) as tx:
        dispatches.wake_waiting(tx, row_of(app, ended))
        assert list(tx.execute(due).scalars()) == [first]
    assert statuses(app, [sent, first, second]) == ["pending"] * 3


def test_one_without_a_key_or_a_lane_wakes_nobody(app: Database) -> None:
    plain, *_ = owe(app), owe(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET turn = NULL, wake_at = clock_timestamp() + interval '1 hour'"))
        dispatches.wake_waiting(tx, row_of(app, plain))
        assert tx.execute(text("SELECT count(*) FROM dispatches WHERE wake_at <= clock_timestamp()")).scalar_one() == 0

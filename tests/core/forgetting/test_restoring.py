"""A request to forget that can be undone: nothing reads what it erased, and the undo brings all of it back."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.dispatches import control as dispatch_control
from core.dispatches.control import SignedRemark
from core.errors import Conflict, NotFound
from core.events.publishing import Author
from core.forgetting import restoring
from core.forgetting.undo_window import UndoableForgetting
from core.memory import receipts
from core.storage.db import Database
from core.types import Json
from tests.core.erasing import holding, rows, told, user_erased
from tests.core.undo_windows import allow_undo, open_ones
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works, run_one
from workers.dispatch import sweep
from workers.dispatch.model import LedgerPolicy

AUTHOR = Author("key:test")

REMEMBERED = (
    "messages memories memory_versions evidence relations verdicts units summaries plans working search_index "
    "term_counts tombstones hidden_messages sessions"
).split()

PIN = "671498"


def undo(app: Database, settings: Settings, forgetting_id: UUID) -> UndoableForgetting:
    with app.tenant(TENANT) as tx:
        return restoring.undo(tx, TENANT, forgetting_id, AUTHOR, receipts.signer(settings))


def content(app: Database) -> dict[str, list[Json]]:
    """All rows of what is remembered."""
    found = {}
    with app.tenant(TENANT) as tx:
        for name in REMEMBERED:
            query = text(f"SELECT to_jsonb(t) AS row FROM {name} t ORDER BY to_jsonb(t)::text")
            found[name] = [row.row for row in tx.execute(query)]
        query = text("SELECT payload FROM events WHERE event_type IN ('message.added', 'session.ended') ORDER BY seq")
        found["events"] = [row.payload for row in tx.execute(query)]
    return found


def told_things(app: Database, works: Works) -> None:
    accept_all(app, [said(f"My bank card PIN is {PIN}. I live in Porto.", importance=0.9), said("I have two dogs.")])
    accept_all(app, [said(f"Noted: your PIN is {PIN}.", role="assistant"), ended(message_count=3)])
    works.settle()


def _receipt(app: Database, settings: Settings, receipt_id: str) -> Json:
    with app.tenant(TENANT) as tx:
        receipt = receipts.get(tx, UUID(receipt_id))
    assert receipts.verify(receipt.body, receipt.signature, receipts.signer(settings).public_key)
    return receipt.body


def carry_out(app: Database, works: Works) -> None:
    """Carry out the one request that waits for approval, and nothing that follows from it."""
    (waiting,) = rows(app, "SELECT id FROM dispatches WHERE status = 'held' AND hold = 'approval'")
    with app.tenant(TENANT) as tx:
        dispatch_control.decide(tx, waiting.id, "approved", SignedRemark(AUTHOR), four_eyes=False)
    run_one(works.ledger, TENANT, waiting.id)


@pytest.mark.parametrize(
    ("asked", "word"), [(f"Please forget {PIN}.", PIN), ("Please delete where I live from your memory.", "Porto")]
)
def test_what_was_forgotten_is_kept_aside_alone_and_the_undo_brings_back_all_of_it(
    app: Database, works: Works, settings: Settings, asked: str, word: str
) -> None:
    allow_undo(app, action_mode="approve")
    told_things(app, works)
    accept_all(app, [said(asked)])
    works.settle()
    before = content(app)
    carry_out(app, works)
    assert holding(app, word) == ["kept_rows"]
    assert content(app) != before
    (one,) = open_ones(app)
    assert (one.user_id, one.messages > 0, one.memories > 0) == ("ada", True, True)
    undo(app, settings, one.id)
    after = content(app)
    for name in before:
        assert after[name] == before[name], name
    assert open_ones(app) == []
    assert rows(app, "SELECT FROM kept_rows") == []


def test_what_follows_from_the_erasure_does_not_keep_the_undo_from_bringing_it_back(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app)
    told_things(app, works)
    accept_all(app, [said(f"Please forget {PIN}.")])
    works.settle()
    accept_all(app, [said("I have a cat, too."), ended(message_count=5)])
    works.settle()
    (one,) = open_ones(app)
    undo(app, settings, one.id)
    works.settle()
    assert set(holding(app, PIN)) >= {"messages", "events", "memories", "memory_versions", "evidence", "units"}
    assert len(told(app, "memory.forgetting_undone")) == 1


def test_the_receipt_says_when_it_will_be_final_and_then_that_it_is(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app)
    told_things(app, works)
    accept_all(app, [said(f"Please forget {PIN}.")])
    works.settle()
    (payload,) = told(app, "memory.forgotten")
    (one,) = open_ones(app)
    first = _receipt(app, settings, payload["receipt_id"])
    assert (first["state"], first["final_at"]) == ("can be undone", one.final_at.isoformat())
    (waiting,) = rows(app, "SELECT id FROM dispatches WHERE status = 'held' AND hold = 'time'")
    with app.tenant(TENANT) as tx:
        moment = "clock_timestamp() - interval '1 second'"
        tx.execute(text(f"UPDATE forgettings SET final_at = {moment}"))
        tx.execute(
            text(f"""
                UPDATE dispatches SET expires_at = {moment}, params = jsonb_set(params, '{{final_at}}',
                    to_jsonb(({moment})::text)) WHERE id = :id
            """),
            {"id": waiting.id},
        )
    with works.router.db.queue() as tx:
        owed = sweep.release(tx, LedgerPolicy.of(settings))
    works.run(owed)
    assert holding(app, PIN) == []
    assert open_ones(app) == []
    last = _receipt(app, settings, payload["receipt_id"])
    assert (last["state"], last["counts"]) == ("final", first["counts"])
    with pytest.raises(NotFound, match="its time is over"):
        undo(app, settings, one.id)


def test_an_undone_request_is_not_undone_again_and_its_receipt_says_so(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app)
    told_things(app, works)
    accept_all(app, [said(f"Please forget {PIN}.")])
    works.settle()
    (one,) = open_ones(app)
    undo(app, settings, one.id)
    assert _receipt(app, settings, told(app, "memory.forgotten")[0]["receipt_id"])["state"] == "undone"
    with pytest.raises(NotFound, match="it was undone"):
        undo(app, settings, one.id)


def test_of_two_requests_about_the_same_talk_the_later_is_undone_first(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app)
    accept_all(app, [said(f"My PIN is {PIN}."), said("My locker code is 447155.")])
    accept_all(app, [said(f"Please forget {PIN}."), said("Please forget 447155.")])
    works.settle()
    later, first = open_ones(app)
    with pytest.raises(Conflict, match=str(later.id)):
        undo(app, settings, first.id)
    undo(app, settings, later.id)
    undo(app, settings, first.id)
    spoken = [row.content for row in rows(app, "SELECT content FROM messages ORDER BY position")]
    assert spoken == [
        f"My PIN is {PIN}.",
        "My locker code is 447155.",
        f"Please forget {PIN}.",
        "Please forget 447155.",
    ]


def test_erasing_the_user_erases_what_is_kept_aside(app: Database, works: Works, settings: Settings) -> None:
    allow_undo(app)
    told_things(app, works)
    accept_all(app, [said(f"Please forget {PIN}.")])
    works.settle()
    user_erased(app, settings)
    assert holding(app, PIN) == []
    assert open_ones(app) == []


def test_a_memory_told_again_in_the_meantime_is_not_there_twice(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app)
    accept_all(app, [said("I live in Porto."), ended(message_count=1)])
    works.settle()
    accept_all(app, [said("Please delete where I live from your memory.")])
    works.settle()
    (one,) = open_ones(app)
    accept_all(app, [said("I live in Porto.", session="s2"), ended(session="s2", message_count=1)])
    works.settle()
    undo(app, settings, one.id)
    works.settle()
    statement = "SELECT FROM memories WHERE content LIKE '%Porto%' AND status = 'active' AND category <> 'episode'"
    assert len(rows(app, statement)) <= 1


def test_a_crash_while_erasing_or_undoing_leaves_everything_as_it_was(
    app: Database, works: Works, settings: Settings
) -> None:
    allow_undo(app, action_mode="approve")
    told_things(app, works)
    accept_all(app, [said(f"Please forget {PIN}.")])
    works.settle()
    carry_out(app, works)
    erased, kept = content(app), rows(app, "SELECT * FROM kept_rows ORDER BY name, key")
    (one,) = open_ones(app)
    with suppress(KeyboardInterrupt), app.tenant(TENANT) as tx:
        restoring.undo(tx, TENANT, one.id, AUTHOR, receipts.signer(settings))
        raise KeyboardInterrupt
    assert content(app) == erased
    assert rows(app, "SELECT * FROM kept_rows ORDER BY name, key") == kept
    assert len(open_ones(app)) == 1

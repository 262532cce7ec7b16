"""Replays as rows; what becomes of them is tested in tests/workers/agents/test_replay.py."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.dispatches import replays
from core.dispatches.replays import NewReplay
from core.errors import Conflict, NotFound
from core.events import log
from core.events.publishing import Author
from core.settings.limits import LimitReached
from core.storage.db import Database, Tx
from core.types import Json
from tests.samples import TENANT, accept, event

ME = Author("key:me")


def requested(tx: Tx, *, request: str | None = None, asked: str = "this", limit: int = 9) -> tuple[UUID, bool]:
    params: Json = {"filter": {}, "rules": []}
    new = NewReplay("live", params, events=2, after=0, upto=9, more=False, request=request, fingerprint=asked)
    return replays.request(tx, TENANT, new, ME, limit=limit)


def test_a_replay_is_announced_once_however_often_it_is_requested(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        first, again = requested(tx, request="k"), requested(tx, request="k")
        assert (first[1], again) == (True, (first[0], False))
        announced = log.find(tx, event_type="replay.requested")
        assert [e.payload["replay_id"] for e in announced] == [str(first[0])]
        assert announced[0].payload["requested_by"] == "key:me"
        with pytest.raises(Conflict, match="different replay"):
            requested(tx, request="k", asked="that")
        assert requested(tx)[0] != requested(tx)[0]


def test_as_many_run_as_may_and_a_known_one_is_answered_all_the_same(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        known = requested(tx, request="k", limit=1)
        with pytest.raises(LimitReached):
            requested(tx, limit=1)
        assert requested(tx, request="k", limit=1) == (known[0], False)
        replays.cancel(tx, known[0], ME)
        assert requested(tx, limit=1)[1]


def test_a_standing_tells_position_dispatches_and_what_stopped_it(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        replay_id, _ = requested(tx)
        standing = replays.get(tx, replay_id)
        assert log.at(tx, standing.seq).id == str(replay_id)
        assert (standing.dispatches, standing.error) == ({}, None)
        made(tx, standing.seq, None, "event_replayer", "dead", error="It broke.")
        made(tx, 1, replay_id, "notifier", "done")
        standing = replays.get(tx, replay_id)
        assert (standing.dispatches, standing.error) == ({"done": 1}, "It broke.")
        with pytest.raises(NotFound):
            replays.get(tx, UUID(int=1))


def test_cancelling_ends_what_has_not_ended_and_only_that(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        replay_id, _ = requested(tx)
        for status in ("held", "pending", "running", "retrying", "done", "dead"):
            made(tx, 1, replay_id, "notifier", status)
        made(tx, 1, None, "notifier", "pending")
        standing = replays.cancel(tx, replay_id, ME)
        assert standing.dispatches == {"cancelled": 4, "done": 1, "dead": 1}
        assert standing.row.status == "cancelled"
        [other] = tx.execute(text("SELECT status FROM dispatches WHERE replay_id IS NULL")).all()
        assert other.status == "pending"
        assert replays.cancel(tx, replay_id, ME) == standing


def test_one_that_has_ended_can_be_cancelled_while_it_has_open_dispatches(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        replay_id, _ = requested(tx)
        tx.execute(text("UPDATE replays SET status = 'done'"))
        with pytest.raises(Conflict, match="nothing left"):
            replays.cancel(tx, replay_id, ME)
        made(tx, 1, replay_id, "notifier", "held")
        assert replays.cancel(tx, replay_id, ME).row.status == "cancelled"


def test_of_an_event_each_replay_is_told_with_its_decisions(app: Database) -> None:
    accept(app, event(id="e1"))
    with app.tenant(TENANT) as tx:
        one = log.get(tx, "e1")
        deciding, acting, _ = (requested(tx)[0] for _ in range(3))
        values = {"t": TENANT, "id": deciding, "seq": one.seq}
        tx.execute(text("INSERT INTO replay_decisions VALUES (:t, :id, :seq, 'r', 4, 'held', 'stop')"), values)
        made(tx, one.seq, acting, "notifier", "done")
        found = replays.of_event(tx, one)
    assert [replay.id for replay in found] == [deciding, acting]
    assert found[0].rules == [{"rule": "r", "version": 4, "verdict": "held", "reason": "stop"}]
    assert found[1].rules == []


def made(tx: Tx, seq: int, replay_id: UUID | None, target: str, status: str, error: str | None = None) -> None:
    values: dict[str, Any] = {"t": TENANT, "seq": seq, "id": replay_id, "target": target, "s": status, "error": error}
    insert = """
        INSERT INTO dispatches (tenant_id, event_seq, replay_id, action_type, target, queue, status, error)
        VALUES (:t, :seq, :id, 'notify', :target, 'io', :s, :error)
    """
    tx.execute(text(insert), values)

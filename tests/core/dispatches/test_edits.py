"""Retrying a dead dispatch with other parameters: in the place of the first, and only once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.dispatches import edits as dispatch_edits
from core.dispatches.edits import EditedParams
from core.errors import Conflict, NotFound
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER
from tests.factories import PERSON, events_since
from tests.samples import TENANT
from tests.workers.dispatch.owing import chain, owe, row_of, statuses

PARAMS: Json = {"channel": "log", "words": "Größe"}
KEPT = (
    "event_seq root_seq correlation_id hop rule rule_version action_type target queue alone lineage lane lane_limit "
    "replay_id after"
).split()
"""Columns of a dispatch that its retry takes over."""


def given_up(app: Database, dispatch_id: UUID, **fields: str) -> UUID:
    sets = "".join(f", {name} = {value}" for name, value in fields.items())
    give_up = f"UPDATE dispatches SET status = 'dead', error = 'No.', ended_at = clock_timestamp(){sets} WHERE id = :id"
    with app.tenant(TENANT) as tx:
        tx.execute(text(give_up), {"id": dispatch_id})
    return dispatch_id


def retry(app: Database, dispatch_id: UUID, tenant: str = TENANT) -> Any:
    with app.tenant(tenant) as tx:
        edited = EditedParams(PARAMS, {"channel": "log", "words": "masked"})
        return dispatch_edits.retry(tx, dispatch_id, edited, PERSON, approval_seconds=60)


def test_the_retry_takes_the_place_of_the_first_which_stays_as_it_was(app: Database) -> None:
    first, follower = chain(app, "agent", "agent", lane="billing", lane_limit=2, lineage=("a", "b"), alone="ada")
    given_up(app, first)
    before = row_of(app, first)
    made = retry(app, first)
    assert made.id != first
    assert [getattr(made, name) for name in KEPT] == [getattr(before, name) for name in KEPT]
    assert (made.params, made.status, made.hold, made.attempt) == (PARAMS, "pending", None, 0)
    assert (made.edit_of, made.edited_by) == (first, PERSON.name)
    assert made.wake_at is not None
    after = row_of(app, first)
    assert (after.status, after.params, after.wake_at) == ("cancelled", before.params, None)
    assert after.error == f"Retried with other parameters as dispatch {made.id}. It had failed: No."
    waiting = row_of(app, follower)
    assert (waiting.status, waiting.after) == ("held", made.id)


def test_a_retry_waits_for_what_it_has_to_follow(app: Database) -> None:
    first, second = chain(app, "agent", "agent")
    given_up(app, second, hold="NULL")
    made = retry(app, second)
    assert (made.status, made.hold, made.wake_at, made.after) == ("held", "turn", None, first)


def test_a_retry_after_what_is_done_waits_for_nothing(app: Database) -> None:
    first, second = chain(app, "agent", "agent")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'done' WHERE id = :id"), {"id": first})
    made = retry(app, given_up(app, second, hold="NULL"))
    assert (made.status, made.hold, made.after) == ("pending", None, first)


def test_what_was_approved_asks_for_approval_of_the_other_parameters(app: Database) -> None:
    approved = """jsonb_build_object('verdict', 'approved')"""
    made = retry(app, given_up(app, owe(app, rule="careful", rule_version=3), approval=approved))
    assert (made.status, made.hold, made.wake_at) == ("held", "approval", None)
    assert made.approval.keys() == {"requested_at"}
    assert 50 < (made.expires_at - made.created_at).total_seconds() < 70
    with app.tenant(TENANT) as tx:
        [asked] = [event for event in events_since(tx, 0, 100) if event.event_type == "approval.requested"]
    assert asked.subject == f"dispatch:{made.id}"
    assert asked.payload == {
        "dispatch_id": str(made.id),
        "rule": "careful",
        "version": 3,
        "target": "agent",
        "params": {"channel": "log", "words": "masked"},
        "expires_at": made.expires_at.isoformat(),
        "may_decide": asked.payload["may_decide"],
    }
    assert asked.payload["may_decide"]["scopes"]


def test_what_needs_no_approval_asks_for_none(app: Database) -> None:
    retry(app, given_up(app, owe(app)))
    with app.tenant(TENANT) as tx:
        assert not [event for event in events_since(tx, 0, 100) if event.event_type == "approval.requested"]


def test_a_dispatch_is_retried_with_other_parameters_once(app: Database) -> None:
    one = given_up(app, owe(app))
    made = retry(app, one)
    with pytest.raises(Conflict, match="is cancelled; only a dead one"):
        retry(app, one)
    again = retry(app, given_up(app, made.id))
    assert again.edit_of == made.id
    assert statuses(app, [one, made.id, again.id]) == ["cancelled", "cancelled", "pending"]


def test_what_follows_a_cancelled_one_is_refused(app: Database) -> None:
    first, second = chain(app, "agent", "agent")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'cancelled' WHERE id = :id"), {"id": first})
    given_up(app, second)
    with pytest.raises(Conflict, match="has to follow was cancelled"):
        retry(app, second)
    assert statuses(app, [second]) == ["dead"]


def test_what_is_not_there_or_another_tenants_is_not_found(app: Database) -> None:
    one = given_up(app, owe(app))
    with pytest.raises(NotFound):
        retry(app, one, OTHER)
    with pytest.raises(NotFound):
        retry(app, UUID(int=7))
    assert statuses(app, [one]) == ["dead"]


def a_row(**fields: Any) -> Any:
    return SimpleNamespace(**{"status": "dead", "action_type": "notify", "target": "notifier", "params": {}, **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "pending"}, "is pending; only a dead one"),
        ({"action_type": "decide"}, "no parameters of its own"),
        ({"action_type": "run_agent", "target": "hop_limit"}, "no parameters of its own"),
        ({"params": {"due": ["n1"]}}, "cannot be edited"),
    ],
)
def test_what_cannot_be_edited_says_what_to_do_instead(fields: Json, said: str) -> None:
    with pytest.raises(Conflict, match=said):
        dispatch_edits.require_editable(a_row(**fields))


@pytest.mark.parametrize("action_type", ["run_agent", "notify", "webhook", "celery", "emit"])
def test_what_has_parameters_can_be_edited(action_type: str) -> None:
    dispatch_edits.require_editable(a_row(action_type=action_type))


def test_a_parameter_named_due_of_another_action_can_be_edited() -> None:
    dispatch_edits.require_editable(a_row(action_type="run_agent", target="agent", params={"due": "today"}))

from __future__ import annotations

from dataclasses import replace

from core.plans import restoration, tracker
from core.plans.tracker import SessionPlan
from core.plans.tree import PlanNode
from core.storage.db import Database
from tests.factories import MET, NOON
from tests.samples import TENANT, accept, said

PLAN = SessionPlan(
    "s1", "main", "ada", None, "Move", "done", (PlanNode("1", "Pack", "done"),), None, MET.id, MET.seq, 3, NOON
)


def test_a_plan_is_stored_once_in_a_session_of_its_user(app: Database) -> None:
    accept(app, said("Hi.", session="s1"), said("Hi.", session="s2", user="bob"))
    with app.tenant(TENANT) as tx:
        assert restoration.restore(tx, TENANT, PLAN)
        assert not restoration.restore(tx, TENANT, replace(PLAN, version=9))
        assert not restoration.restore(tx, TENANT, replace(PLAN, session_id="s2"))
        assert not restoration.restore(tx, TENANT, replace(PLAN, session_id="none"))
        [plan] = tracker.find(tx, "s1")
    assert (plan.goal, plan.version, plan.updated_at, plan.steps[0].title) == ("Move", 3, NOON, "Pack")

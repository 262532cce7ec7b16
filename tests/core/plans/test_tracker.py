from __future__ import annotations

import threading

import pytest

from core.errors import Conflict, Never
from core.events.publishing import Author
from core.inference.token_counting import counter
from core.plans import tracker
from core.plans.tracker import SessionPlan
from core.storage.db import Database
from core.types import Event, Json
from tests.core.plans.publishing import published, updated
from tests.core.plans.samples import PLAN, statuses
from tests.samples import TENANT, said


def tracked(app: Database, one: Event) -> Json:
    found = tracker.read(app, TENANT, "s1", one)
    with app.tenant(TENANT) as tx:
        return found.write(tx, Author("plan_tracker"))


def told(app: Database, *documents: Json) -> list[Json]:
    """Publish, and let the tracker react to each."""
    return [tracked(app, published(app, document)) for document in documents]


def stored(app: Database) -> list[SessionPlan]:
    with app.tenant(TENANT) as tx:
        return tracker.find(tx, "s1")


def the_plan(app: Database) -> SessionPlan:
    (one,) = stored(app)
    return one


def test_a_published_plan_is_kept_and_brought_up_to_date_by_what_is_said(app: Database) -> None:
    told(app, updated(PLAN, group_id="g1"), said("Step 1 is done."), said("第三步完成了。", role="assistant"))
    plan = the_plan(app)
    assert (plan.id, plan.user_id, plan.group_id, plan.goal) == ("main", "ada", "g1", "Ship it")
    assert statuses(plan) == {
        "Build": "done", "Test": "pending", "Unit": "pending", "End to end": "pending", "Deploy": "done",
    }  # fmt: skip
    assert (plan.status, plan.current, plan.version) == ("in_progress", "2.1", 3)
    told(app, said("Step 2 is done."))
    with app.tenant(TENANT) as tx:
        assert tracker.current(tx, "s1") == []
    assert the_plan(app).status == "done"


def test_however_often_and_in_whatever_order_it_is_told_the_log_decides(app: Database) -> None:
    heard = [published(app, one) for one in (updated(["a", "b"]), said("Step 1 is done."), updated(["a", "b", "c"]))]
    for one in (heard[1], heard[0], heard[2], heard[1], heard[0], heard[2]):
        tracked(app, one)
    plan = the_plan(app)
    assert (statuses(plan), plan.event_id) == ({"a": "done", "b": "pending", "c": "pending"}, heard[2].id)
    before = stored(app)
    assert [tracked(app, one) for one in heard] == [{"plans": 0}] * 3
    assert stored(app) == before


def test_an_older_event_that_comes_late_changes_nothing(app: Database) -> None:
    old, new = published(app, updated(["old"])), published(app, updated(["new"]))
    both = tracker.read(app, TENANT, "s1", new)
    alone = tracker.read(app, TENANT, "s1", old)
    with app.tenant(TENANT) as tx:
        both.write(tx, Author("plan_tracker"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        alone.write(tx, Author("plan_tracker"))
    assert tracked(app, old) == {"plans": 0}
    assert statuses(the_plan(app)) == {"new": "pending"}


def test_what_was_said_of_a_step_before_the_plan_was_sent_anew_is_not_said_of_the_new_one(app: Database) -> None:
    told(app, updated(["a", "b"]))
    late = published(app, said("Step 1 is done."))
    told(app, updated([{"title": "a", "status": "pending"}, "b"]))
    assert tracked(app, late) == {"plans": 0}
    assert statuses(the_plan(app)) == {"a": "pending", "b": "pending"}


def test_a_plan_belongs_to_who_said_last_what_is_to_be_done(app: Database) -> None:
    told(app, updated(["a", "b"]), said("Step 1 is done.", user="bob"))
    assert the_plan(app).user_id == "ada"
    told(app, updated(["c"], user_id="bob"))
    assert the_plan(app).user_id == "bob"


def test_two_at_once_write_one_version(app: Database) -> None:
    one = published(app, updated(PLAN))
    found = [tracker.read(app, TENANT, "s1", one) for _ in range(2)]
    together, outcomes = threading.Barrier(2), list[str]()

    def work(mine: tracker.PendingPlans) -> None:
        together.wait(10)
        try:
            with app.tenant(TENANT) as tx:
                mine.write(tx, Author("plan_tracker"))
            outcomes.append("written")
        except Conflict:
            outcomes.append("conflict")

    workers = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sorted(outcomes) == ["conflict", "written"]
    assert the_plan(app).version == 1


def test_a_session_has_as_many_plans_as_it_has_names_for_them(app: Database) -> None:
    told(app, updated(["a", "b"], plan_id="one"), updated(["c", "d", "e"], plan_id=2), said("Step 1 is done."))
    assert {plan.id: statuses(plan) for plan in stored(app)} == {
        "2": {"c": "pending", "d": "pending", "e": "pending"}, "one": {"a": "pending", "b": "pending"},
    }  # fmt: skip
    told(app, said("Step 3 is done."))
    assert statuses(stored(app)[0]) == {"c": "pending", "d": "pending", "e": "done"}


def test_where_nobody_publishes_plans_messages_are_read_for_one(app: Database) -> None:
    told(
        app,
        said("Can you make a plan for the move?"),
        said("Of course!\n1. Rent a van\n2. Pack\n3. Drive", role="assistant"),
        said("Step 1 is done."),
        said("Nice restaurants:\n1. Sol\n2. Luna", role="assistant"),
    )
    plan = the_plan(app)
    assert plan.goal == "Can you make a plan for the move?"
    assert statuses(plan) == {"Rent a van": "done", "Pack": "pending", "Drive": "pending"}
    told(app, updated(["Pack", "Drive slowly"]), said("Plan:\n1. Something\n2. Else", role="assistant"))
    assert statuses(the_plan(app)) == {"Pack": "pending", "Drive slowly": "pending"}


def test_a_bad_plan_is_set_aside_by_its_own_dispatch_and_stops_no_other(app: Database) -> None:
    bad = published(app, updated([{"status": "done"}]))
    worse = published(app, updated(["a"], plan_id={"x": 1}))
    good = published(app, updated(["a", "b"]))
    assert tracked(app, good) == {"plans": 1}
    for one, says in ((bad, "title"), (worse, "plan_id")):
        with pytest.raises(Never, match=says):
            tracked(app, one)
    assert statuses(the_plan(app)) == {"a": "pending", "b": "pending"}


def test_a_cleared_list_is_a_plan_that_is_done(app: Database) -> None:
    told(app, updated({"goal": "Trip", "steps": ["a"]}), updated([]))
    plan = the_plan(app)
    assert (plan.goal, plan.steps, plan.status, plan.current) == ("Trip", (), "done", None)


def test_when_messages_lose_their_text_the_plan_goes_and_what_remains_makes_it_anew(app: Database) -> None:
    told(app, said("- [ ] Book\n- [ ] Pack"), said("Step 1 is done."))
    with app.tenant(TENANT) as tx:
        assert tracker.forget_messages(tx, ["s1", "s2"]) == 1
    assert stored(app) == []
    told(app, said("Step 2 is done."))
    assert the_plan(app).status == "done"


def test_another_tenant_sees_none(app: Database) -> None:
    told(app, updated(PLAN))
    with app.tenant("globex") as tx:
        assert tracker.find(tx, "s1") == []


def test_a_plan_is_written_out_with_where_it_stands_first(app: Database) -> None:
    told(app, updated(PLAN), said("Step 1 is done."))
    assert tracker.render(the_plan(app), 1000, counter()).splitlines() == [
        "Plan: Ship it (1 of 4 steps ended)",
        "Current step: Unit",
        "1. [x] Build",
        "2. [ ] Test",
        "  1. [ ] Unit",
        "  2. [ ] End to end",
        "3. [ ] Deploy",
    ]

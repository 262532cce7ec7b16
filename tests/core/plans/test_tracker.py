from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Conflict, Never
from core.events import log
from core.events.publishing import Author
from core.inference.token_counting import counter
from core.plans import checklists, parsing, rendering, tracker
from core.plans import tree as plans_tree
from core.plans.tracker import SessionPlan
from core.plans.tree import PlanStep, Tree
from core.storage.db import Database
from core.types import Event, Json
from tests.samples import TENANT, accept, event, said

PLAN = {"goal": "Ship it", "steps": ["Build", {"title": "Test", "steps": ["Unit", "End to end"]}, "Deploy"]}


def updated(plan: Any, session: str = "s1", **more: Any) -> Json:
    fields = {name: more.pop(name) for name in ("id", "time") if name in more}
    payload = {"session_id": session, "user_id": "ada", "plan": plan, **more}
    return event("plan.updated", payload, **fields)


def published(app: Database, document: Json) -> Event:
    with app.tenant(TENANT) as tx:
        last = log.since(tx, 0, 1000)[-1].seq if log.since(tx, 0, 1000) else 0
    accept(app, document)
    with app.tenant(TENANT) as tx:
        return log.since(tx, last, 1000)[0]


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


def statuses(plan: SessionPlan | Tree) -> dict[str, str | None]:
    tree = plan.tree if isinstance(plan, SessionPlan) else plan
    return {step.title: step.status for step in tree.walk()}


def parsed(plan: object) -> Tree:
    return plans_tree.update(None, parsing.parse(plan))


# Shapes


@pytest.mark.parametrize(
    ("plan", "goal", "steps", "current"),
    [
        (["Book", "Pack"], "", "Book: pending, Pack: pending", "1"),
        (
            [{"content": "Book", "status": "completed"}, {"content": "Pack", "status": "in_progress"}],
            "", "Book: done, Pack: in_progress", "2",
        ),
        (
            {"explanation": "Next.", "plan": [{"step": "Book", "status": "completed"}, {"step": "Pack"}]},
            "", "Book: done, Pack: pending", "2",
        ),
        (
            {"input": "x", "plan": ["Pack", "Go"], "past_steps": [["Book", "booked"]]},
            "", "Book: done, Pack: pending, Go: pending", "2",
        ),
        (
            {"goal": "Trip", "steps": [{"id": "a", "title": "Book", "done": True}, {"id": "b", "title": "Pack"}]},
            "Trip", "Book: done, Pack: pending", "b",
        ),
        (
            {"title": "Trip", "todos": ["[x] Book", "[ ] Pack"], "current_step_index": 1},
            "Trip", "Book: done, Pack: in_progress", "2",
        ),
        (
            "# Trip\n- [x] Book\n- [ ] **Pack**\n  - [ ] Shoes",
            "Trip", "Book: done, Pack: pending, Shoes: pending", "2.1",
        ),
        ("1. Book\n2. Pack\n", "", "Book: pending, Pack: pending", "1"),
        ("Plan: 1) Book 2) Pack", "", "Book: pending, Pack: pending", "1"),
        ("✅ Book\n⏳ Pack\n❌ Swim", "", "Book: done, Pack: in_progress, Swim: failed", "2"),
        ("计划：先订机票，再订酒店，最后办签证。", "", "订机票: pending, 订酒店: pending, 办签证: pending", "1"),
        ("目标：去日本\n第一步：订机票\n第二步：订酒店", "去日本", "订机票: pending, 订酒店: pending", "1"),
        (
            "## Before\n- Book\n## After\n- Unpack",
            "", "Before: pending, Book: pending, After: pending, Unpack: pending", "1.1",
        ),
        ('[{"title": "Book", "state": "IN PROGRESS"}]', "", "Book: in_progress", "1"),
        ({"goal": "Trip", "steps": "- [x] Book\n- [ ] Pack"}, "Trip", "Book: done, Pack: pending", "2"),
        (
            [{"title": "Book", "status": "取消"}, {"title": "Pack", "status": "已完成"}],
            "", "Book: skipped, Pack: done", None,
        ),
        ({"steps": {"a": "Book", "b": {"title": "Pack", "done": True}}}, "", "Book: pending, Pack: done", "a"),
        (
            {"plan": {"goal": "Trip", "steps": ["Book", "Pack"], "current": "Pack"}},
            "Trip", "Book: pending, Pack: in_progress", "2",
        ),
        ("Find a hotel", "Find a hotel", "", None),
        ([], "", "", None),
    ],
)  # fmt: skip
def test_the_shapes_that_agents_send_become_one_tree(plan: object, goal: str, steps: str, current: str | None) -> None:
    tree = parsed(plan)
    told_steps = ", ".join(f"{title}: {status}" for title, status in statuses(tree).items())
    assert (tree.goal, told_steps, tree.current) == (goal, steps, current)


def test_steps_have_ids_of_their_own_and_keep_those_they_were_given() -> None:
    tree = parsed([{"id": "2", "title": "a"}, {"title": "b"}, {"id": "2", "title": "c"}, {"id": 7, "title": "d"}])
    ids = [step.id for step in tree.walk()]
    assert (ids[0], ids[3], len(set(ids))) == ("2", "7", 4)


def nested(depth: int) -> list[Any]:
    return [{"title": f"level {depth}", "steps": nested(depth - 1)}] if depth else []


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (7, "an object, a list or a text"),
        ({"foo": 1}, "a `goal` or `steps`"),
        ({}, "a `goal` or `steps`"),
        ([{"status": "done"}], "needs a `title`"),
        ([["a"]], "a text or an object"),
        ([True], "a text or an object"),
        (nested(parsing.DEPTH + 1), "more than 8 levels"),
        (nested(60), "more than 8 levels"),
        ("\n".join(f"{' ' * 4 * n}- level {n}" for n in range(12)), "more than 8 levels"),
        ([f"step {n}" for n in range(parsing.STEPS + 1)], "more than 500 steps"),
        ([{"title": f"p{n}", "steps": ["x"] * 100} for n in range(6)], "more than 500 steps"),
        (["x" * 1001], "1000 are allowed"),
        ([{"id": "i" * 201, "title": "x"}], "200 are allowed"),
    ],
)
def test_what_is_no_plan_or_too_much_of_one_is_refused_with_the_reason(plan: object, says: str) -> None:
    with pytest.raises(Never, match=says):
        parsing.parse(plan)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from("goal steps title status id plan todos current done x".split()), inner, max_size=5
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_whatever_is_sent_it_is_a_tree_or_refused_and_a_tree_is_whole(plan: Any) -> None:
    try:
        tree = plans_tree.update(None, parsing.parse(plan))
    except Never:
        return
    ids = [step.id for step in tree.walk()]
    assert len(ids) == len(set(ids))
    assert all(step.status in rendering.BOXES for step in tree.walk())
    assert tree.current is None or tree.current in ids
    stored_steps = [step.as_json() for step in tree.steps]
    again = plans_tree.from_json(tree.goal, str(tree.status), stored_steps, tree.current)
    assert again == tree
    assert plans_tree.update(tree, replace(tree, current=None)) == tree


# How it goes on


def test_what_an_update_leaves_unsaid_stays_as_it_was() -> None:
    first = parsed({"goal": "Trip", "steps": [{"title": "Book", "status": "done"}, "Pack"]})
    second = plans_tree.update(first, parsing.parse(["Pack", "Book", "Go"]))
    assert (second.goal, statuses(second)) == ("Trip", {"Pack": "pending", "Book": "done", "Go": "pending"})
    assert second.current == "1"


def test_a_step_that_takes_others_stands_as_they_do() -> None:
    tree = parsed(PLAN)
    for place in ("2.1", "2.2"):
        marked = plans_tree.mark_step(tree, place, "done")
        assert marked is not None
        tree = marked
    assert statuses(tree) == {
        "Build": "pending", "Test": "done", "Unit": "done", "End to end": "done", "Deploy": "pending",
    }  # fmt: skip
    whole = plans_tree.mark_step(parsed(PLAN), "2", "done")
    assert whole is not None
    assert statuses(whole)["Unit"] == "done"
    assert (whole.status, whole.current) == ("in_progress", "1")


def test_which_step_is_meant_must_be_clear() -> None:
    tree = parsed([{"id": "2", "title": "a"}, {"id": "x", "title": "b"}])
    assert plans_tree.mark_step(tree, "2", "done") is None
    assert plans_tree.mark_step(tree, "9", "done") is None
    assert plans_tree.mark_step(tree, "x", "pending") is None
    marked = plans_tree.mark_step(tree, "x", "failed")
    assert marked is not None
    assert statuses(marked) == {"a": "pending", "b": "failed"}


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        (["pending", "pending"], "pending"),
        (["done", "pending"], "in_progress"),
        (["done", "skipped"], "done"),
        (["done", "failed"], "failed"),
        (["failed", "pending"], "in_progress"),
        (["skipped"], "skipped"),
        ([], "done"),
    ],
)
def test_a_plan_stands_as_its_steps_do(steps: list[str], status: str) -> None:
    assert plans_tree.overall_status([PlanStep(str(n), "x", one) for n, one in enumerate(steps)]) == status


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Step 2 is done.", [("2", "done")]),
        ("I've finished step two, on to step 3.", [("2", "done"), ("3", "in_progress")]),
        ("The first step is completed.", [("1", "done")]),
        ("step 2.1 failed", [("2.1", "failed")]),
        ("Let's skip step 4.", [("4", "skipped")]),
        ("第二步完成了。", [("2", "done")]),
        ("完成了第三步，现在开始第四步。", [("3", "done"), ("4", "in_progress")]),
        ("第3步失败了", [("3", "failed")]),
        ("Step 2 is not done.", []),
        ("Step 2 isn't done yet.", []),
        ("Is step 2 done?", []),
        ("Once step 2 is done, tell me.", []),
        ("If step 2 is done we can go.", []),
        ("He said step 2 is done.", []),
        ("Step 2 should be done by now.", []),
        ("第二步还没完成。", []),
        ("第二步完成了吗？", []),
        ("等第二步完成了再说。", []),
        ("One step at a time, it is done.", []),
        ("Steps 2 and 3 are next.", []),
        ("```\nStep 2 is done.\n```", []),
    ],
)
def test_what_messages_say_of_steps(content: str, found: list[tuple[str, str]]) -> None:
    assert checklists.mentions(content) == found


@pytest.mark.parametrize(
    ("content", "role", "asked", "steps"),
    [
        ("Here is my plan:\n1. Book\n2. Pack\n\nShall I begin?", "assistant", None, ["Book", "Pack"]),
        ("Sure!\n\n1. Book\n2. Pack", "assistant", "Can you make a plan for the trip?", ["Book", "Pack"]),
        ("好的，计划如下：\n1. 订票\n2. 订酒店", "assistant", None, ["订票", "订酒店"]),
        ("- [x] Book\n- [ ] Pack", "user", None, ["Book", "Pack"]),
        ("To-do:\n- Book\n- Pack", "user", None, ["Book", "Pack"]),
        ("Plan: 1) Book 2) Pack", "user", None, ["Book", "Pack"]),
        ("新计划：先订票，再订酒店。", "user", None, ["订票", "订酒店"]),
        ("Top places:\n1. Sol\n2. Luna", "assistant", "Where can I eat?", None),
        ("1. Book\n2. Pack", "user", "Make a plan", None),
        ("I plan to go:\nsoon", "user", None, None),
        ("Plan: let us see.", "user", None, None),
        ("- [x] Only one", "user", None, None),
        ("Plan:\n1. Book\n2. Pack", "tool", None, None),
        ("第二步完成了。\n第三步开始了。", "assistant", "给我一个计划", None),
    ],
)
def test_which_messages_hold_a_plan(content: str, role: str, asked: str | None, steps: list[str] | None) -> None:
    found = checklists.of_message(content, role, asked)
    assert (found and [step.title for step in parsing.parse(found).walk()]) == steps


@given(st.text(max_size=500))
def test_no_message_is_too_odd_to_be_read(content: str) -> None:
    found = checklists.of_message(content, "assistant", "A plan, please")
    if found is not None:
        parsing.parse(found)
    checklists.mentions(content)


# By the log


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


# In words


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


def test_where_there_is_little_room_the_current_step_stays() -> None:
    count: Callable[[str], int] = counter().count
    tree = parsed({"goal": "Ship it", "steps": ["Build", *(f"Step number {n}" for n in range(50))]})
    assert rendering.render(tree, 10, count) == "Current step: Build"
    assert rendering.render(tree, 3, count) == ""
    short = rendering.render(tree, 60, count).splitlines()
    assert short[2] == "1. [ ] Build"
    assert short[-1] == f"(and {51 - len(short) + 3} more)"
    chinese = parsed({"goal": "搬家", "steps": ["打包", "搬运"]})
    assert rendering.render(chinese, 200, count).startswith("计划：搬家（2步中已结束0步）\n当前步骤：打包\n")


@given(JSON, st.integers(min_value=0, max_value=200))
def test_it_never_takes_more_than_it_may(plan: Any, tokens: int) -> None:
    try:
        tree = plans_tree.update(None, parsing.parse(plan))
    except Never:
        return
    assert counter().count(rendering.render(tree, tokens, counter().count)) <= tokens

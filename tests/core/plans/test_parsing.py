from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from core.errors import Never
from core.plans import parsing, rendering
from core.plans import tree as plans_tree
from tests.core.plans.samples import JSON, parsed, statuses


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

from __future__ import annotations

import pytest

from core.plans import parsing
from core.plans import tree as plans_tree
from core.plans.tree import PlanNode
from tests.core.plans.samples import PLAN, parsed, statuses


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
    assert plans_tree.overall_status([PlanNode(str(n), "x", one) for n, one in enumerate(steps)]) == status

"""Plans as agents send them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from core.plans import parsing
from core.plans import tree as plans_tree
from core.plans.tracker import SessionPlan
from core.plans.tree import Tree


def statuses(plan: SessionPlan | Tree) -> dict[str, str | None]:
    tree = plan.tree if isinstance(plan, SessionPlan) else plan
    return {step.title: step.status for step in tree.walk()}


def parsed(plan: object) -> Tree:
    return plans_tree.update(None, parsing.parse(plan))


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


PLAN = {"goal": "Ship it", "steps": ["Build", {"title": "Test", "steps": ["Unit", "End to end"]}, "Deploy"]}

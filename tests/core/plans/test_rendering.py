from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.errors import Never
from core.inference.token_counting import counter
from core.plans import parsing, rendering
from core.plans import tree as plans_tree
from tests.core.plans.samples import JSON, parsed


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

from __future__ import annotations

import pytest

from core.reflection import workflows


@pytest.mark.parametrize(
    ("workflow", "steps"),
    [
        ("open → read -> close", ["open", "read", "close"]),
        ("1. open\n2) read\n- close", ["open", "read", "close"]),
        (["open", {"tool": "reader"}], ["open", "reader"]),
        ([{"step": 2, "tool": "b"}, {"step": 1, "tool": "a"}], ["a", "b"]),
        ([{"step": 2, "tool": "b"}, "a"], ["b", "a"]),
        (7, 7),
    ],
)
def test_a_workflow_is_read_as_its_steps_in_their_order(workflow: object, steps: object) -> None:
    assert workflows.steps(workflow) == steps


def test_each_tool_is_named_once_in_the_order_of_the_steps() -> None:
    parts = [{"step": 2, "tool": "b"}, {"step": 1, "tool": "a"}, {"step": 3, "tool": "b"}]
    assert workflows.tools(parts) == ["a", "b"]
    assert workflows.tools("a -> b") == []

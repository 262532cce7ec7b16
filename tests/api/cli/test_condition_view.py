from __future__ import annotations

import io

from rich.tree import Tree

from api.cli import condition_view
from api.terminal import SafeConsole
from core.types import Json


def drawn(node: Json) -> str:
    tree, out = Tree("rule"), io.StringIO()
    condition_view.add(tree, node)
    SafeConsole(file=out, width=120).print(tree)
    return out.getvalue()


def a_node(**fields: object) -> Json:
    return {"result": False, "field": "payload.x", "op": ">", "expected": 3, "actual": 2, **fields}


def test_each_comparison_shows_what_was_wanted_and_what_was_there() -> None:
    assert "✗ payload.x > 3 is 2" in drawn(a_node())
    assert "✓ payload.x > 3 is 5" in drawn(a_node(result=True, actual=5))


def test_a_missing_value_and_one_that_does_not_fit_are_said_so() -> None:
    assert "is missing" in drawn(a_node(reason="missing"))
    assert 'is "red", which does not fit' in drawn(a_node(actual="red", reason="mismatch"))


def test_a_backslash_is_shown_once() -> None:
    assert r'payload.x matches "C:\dir" is "C:\dir"' in drawn(
        a_node(op="matches", expected="C:\\dir", actual="C:\\dir")
    )


def test_a_meaning_is_shown_with_its_similarity() -> None:
    shown = drawn(a_node(op="means", actual="tea", similarity=0.512, threshold=0.7))
    assert "similarity 0.51, wanted 0.70" in shown


def test_a_group_has_its_parts_as_branches() -> None:
    lines = drawn({"result": True, "op": "all", "nodes": [a_node(), a_node(field="payload.[y]")]}).splitlines()
    assert "✓ all" in lines[1]
    assert "payload.[y]" in lines[3]

from __future__ import annotations

import pytest

from rules.engine.predicate_index import Index, conjuncts, family
from tests.rules.samples import a_leaf, a_rule, an_event


def nodes(*leaves: object, **group: object) -> list[object]:
    tree = a_rule(conditions={"all": list(leaves), **group} if leaves else group).conditions
    return conjuncts(tree)


@pytest.mark.parametrize(
    ("leaf", "decided"),
    [
        (a_leaf("==", "red"), "exact"),
        (a_leaf("in", ["red", 3]), "exact"),
        (a_leaf(">", 3), "range"),
        (a_leaf("==", "2026-11-21T10:00:00Z"), None),
        (a_leaf("exists"), None),
        (a_leaf(">", 3, field="session.token_count"), None),
    ],
)
def test_comparisons_with_plain_values_are_decided_by_the_index(leaf: object, decided: str | None) -> None:
    (node,) = nodes(leaf)
    assert family(node) == decided  # type: ignore[arg-type]


def test_an_event_leaves_the_rules_that_its_values_let_pass() -> None:
    rules = [[a_leaf("==", "red")], [a_leaf("in", ["red", "blue"])], [a_leaf(">", 3)], []]
    index = Index([nodes(*leaves) if leaves else [] for leaves in rules])  # type: ignore[misc]
    assert index.candidates(an_event({"x": "red"})) == 0b1011
    assert index.candidates(an_event({"x": "blue"})) == 0b1010
    assert index.candidates(an_event({"x": 5})) == 0b1100
    assert index.candidates(an_event()) == 0b1000


def test_a_node_that_the_index_cannot_decide_is_refused() -> None:
    with pytest.raises(ValueError, match="exists"):
        Index([nodes(a_leaf("exists"))])  # type: ignore[list-item]

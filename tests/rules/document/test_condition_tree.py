from __future__ import annotations

from typing import Any

from rules.document.schema import Leaf, parse
from rules.expressions.operators import OPERATORS
from tests.rules.document.documents import nested, problems_of
from tests.rules.samples import a_document, a_leaf


def test_conditions_may_be_eight_deep_and_no_deeper() -> None:
    parse(a_document(conditions=nested(8)))
    assert list(problems_of(a_document(conditions=nested(9)))) == ["/conditions" + "/all/0" * 8]


def test_a_rule_may_have_two_hundred_comparisons_and_no_more() -> None:
    hundred = {"any": [a_leaf("exists")] * 100}
    parse(a_document(conditions={"all": [hundred, hundred]}))
    found = problems_of(a_document(conditions={"all": [hundred, hundred, a_leaf("exists")]}))
    assert "there are 201 comparisons" in found["/conditions"]


def test_the_operators_of_the_model_are_those_of_the_table() -> None:
    choices: Any = Leaf.model_fields["op"].annotation
    assert set(choices.__args__) == set(OPERATORS)

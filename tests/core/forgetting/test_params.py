from __future__ import annotations

import pytest

from core.forgetting import params


@pytest.mark.parametrize(
    ("given", "name"),
    [({"mode": "later"}, "mode"), ({"may_ask": "anybody"}, "may_ask"), ({"undo_seconds": 2_592_001}, "undo_seconds")],
)
def test_a_parameter_that_cannot_be_obeyed_is_named(given: dict[str, object], name: str) -> None:
    fault = params.fault(given)
    assert fault is not None
    assert fault[0] == name


def test_the_parameters_of_the_default_rules_are_taken() -> None:
    assert params.fault({"may_ask": "members", "mode": "at_once", "ask_model": False}) is None
    assert params.fault({"undo_seconds": 604_800}) is None

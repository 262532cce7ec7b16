from __future__ import annotations

import pytest

from core.forgetting import people


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        ("my mother's birthday is on 14 august.", "mother"),
        ("my younger brother is a pilot.", "brother"),
        ("ada's mum has asthma.", "mother"),
        ("i have a sister.", None),
        ("我妈的生日是四月二十号。", "妈"),
        ("我的生日是四月一号。", None),
    ],
)
def test_of_whom_a_statement_speaks(statement: str, subject: str | None) -> None:
    assert people.subject(statement) == subject


def test_a_name_has_the_roles_that_it_was_introduced_with() -> None:
    texts = ["My daughter Lily is nine.", "My ex Paul left.", "My brother Paul is a pilot."]
    assert people.aliases(texts) == {"Lily": frozenset({"daughter"}), "Paul": frozenset({"ex", "brother"})}

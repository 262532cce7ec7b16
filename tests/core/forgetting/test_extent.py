from __future__ import annotations

import pytest

from core.forgetting import extent
from core.forgetting.extent import ForgetScope


@pytest.mark.parametrize(
    ("asked", "scope"),
    [
        ("forget everything i've told you.", ForgetScope.EVERYTHING),
        ("delete everything about damian.", ForgetScope.ALL_ABOUT),
        ("forget what i just said.", ForgetScope.LAST),
        ("forget 4471.", ForgetScope.FACT),
        ("把我说过的全部都删掉。", ForgetScope.EVERYTHING),
        ("刚才那句删掉。", ForgetScope.LAST),
    ],
)
def test_the_scope_of_a_request_is_read(asked: str, scope: ForgetScope) -> None:
    assert extent.scope_of(asked) is scope


def test_a_clause_that_names_the_new_value_is_kept_and_one_that_asks_is_not() -> None:
    assert extent.is_kept("it's 9926 from today")
    assert extent.is_kept("keep the return one")
    assert not extent.is_kept("please delete the old code")
    assert not extent.is_kept("the code is no longer active")

from __future__ import annotations

import re

import pytest

from core import errors
from core.errors import ImprintError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.NotFound, "Not found"),
        (errors.TooLarge, "Too large"),
        (errors.Conflict, "Conflict"),
        (errors.Misconfigured, "Wrong configuration"),
        (errors.Never, "Failed"),
    ],
)
def test_an_error_is_called_by_words(error: type[ImprintError], kind: str) -> None:
    assert error.kind == kind


def test_no_error_is_called_like_a_class() -> None:
    waiting, seen = [ImprintError], set[type[ImprintError]]()
    while waiting:
        one = waiting.pop()
        seen.add(one)
        waiting += set(one.__subclasses__()) - seen
    assert [one for one in seen if re.search(r"[a-z][A-Z]", one.kind)] == []

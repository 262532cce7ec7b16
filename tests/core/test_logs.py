from __future__ import annotations

import pytest
from sqlalchemy.exc import OperationalError

from core import logs
from core.errors import Misconfigured


def test_of_a_result_only_numbers_are_logged() -> None:
    result = {"written": 3, "done": True, "ids": ["a", "b"], "by": {"x": 1}, "text": "Ada has a cat.", "none": None}
    assert logs.counts(result) == {"written": 3, "done": True, "ids": 2, "by": 1}


def test_an_exception_is_logged_by_its_class_and_place_without_its_message() -> None:
    with pytest.raises(ValueError, match="Ada") as raised:
        raise ValueError("Ada has a cat.")
    said = logs.fault(raised.value)
    assert said["error"] == "ValueError"
    assert "test_logs.py:" in said["at"]
    assert "cat" not in str(said)


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert logs.fault(KeyError("x")) == {"error": "KeyError"}


def test_what_holds_no_text_of_users_is_said_with_the_class() -> None:
    assert logs.fault(FileNotFoundError(2, "No such file"))["error"] == "FileNotFoundError: No such file"
    assert logs.fault(Misconfigured("Set IMPRINT_HOME."))["error"] == "Misconfigured: Set IMPRINT_HOME."
    refused = OperationalError("SELECT 'Ada'", {}, ValueError("Ada"))
    assert logs.fault(refused)["error"] == "OperationalError (ValueError, SQLSTATE None)"

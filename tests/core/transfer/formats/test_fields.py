"""Fields of exports are read for what they are, and never trusted to be of a type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.transfer.formats import fields

THEN = datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        THEN.timestamp(),
        int(THEN.timestamp()),
        1000 * THEN.timestamp(),
        "2025-03-01T12:00:00Z",
        "2025-03-01T13:00:00+01:00",
        "2025-03-01T12:00:00",
    ],
)
def test_a_time_is_read_in_seconds_milliseconds_or_iso_8601(value: Any) -> None:
    assert fields.moment(value) == THEN


@pytest.mark.parametrize("value", [None, True, "yesterday", float("nan"), 1e300, -1e12, [], "0001-01-01T00:00:00Z"])
def test_what_is_no_time_of_an_export_is_none(value: Any) -> None:
    assert fields.moment(value) is None


def test_what_is_of_another_type_is_empty() -> None:
    assert [fields.text(value) for value in ("a\x00b", 7, None)] == ["ab", "", ""]
    assert [fields.items(value) for value in ([1], {"a": 1}, "ab")] == [[1], [], []]
    assert fields.objects([{"a": 1}, 7, None, [1]]) == [{"a": 1}]
    assert [fields.mapping(value) for value in ({"a": 1}, [1])] == [{"a": 1}, {}]


def test_paragraphs_that_are_empty_leave_no_gap() -> None:
    assert fields.paragraphs([" One. ", "", "  ", "Two."]) == "One.\n\nTwo."

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import Invalid
from core.transfer import archive_lines
from core.types import Json
from tests.core.transfer.rich import NOON, a_memory_line, a_message, a_session

PROFILE: Json = {
    "version": 2,
    "attributes": {
        "slots": {"home.city": {"value": "Lisbon", "memories": [1], "confidence": 0.7, "since": NOON}},
        "preferences": [{"content": "Likes tea.", "memories": [2], "confidence": 1, "category": "preference"}],
        "until": NOON,
    },
}


HALF = {"session_id": "s", "ordinal": None, "quote": "", "at": NOON}
"""Evidence that names a session, but no message."""


def parsed(file: str, line: Json) -> tuple[Any, Json]:
    return archive_lines.parse(file, json.dumps(line).encode())


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("sessions", a_session("s1")),
        ("messages", a_message("s1", 1)),
        ("memories", a_memory_line(1, "Ada has a boat.", "s1")),
        ("relations", {"from": 1, "relation": "follows", "to": 2, "strength": 0.5, "at": NOON}),
        ("names", {"form": "Bo", "other": "/dog", "same": True, "at": NOON}),
        ("profile", PROFILE),
    ],
)
def test_a_line_is_returned_checked_and_as_it_is_and_later_fields_are_let_pass(file: str, line: Json) -> None:
    checked, plain = parsed(file, line | {"later": 1})
    assert plain == line | {"later": 1}
    assert not hasattr(checked, "later")


@pytest.mark.parametrize(
    ("file", "line", "pointer"),
    [
        ("sessions", a_session("s1") | {"state": {"x": "y" * 70_000}}, "/state"),
        ("sessions", a_session("s1") | {"state": {"pinned": {"odd": 1}}}, "/state/pinned/odd"),
        ("messages", a_message("s1", 1) | {"ordinal": "1"}, "/ordinal"),
        ("messages", a_message("s1", 0), "/ordinal"),
        ("messages", a_message("s1", 1) | {"content": "a\0b"}, "/content"),
        ("messages", a_message("s1", 1) | {"audience_labels": ["No Label"]}, "/audience_labels/0"),
        ("messages", a_message("s1", 1) | {"occurred_at": "2025-01-01T00:00:00"}, "/occurred_at"),
        ("messages", a_message("s1", 1) | {"extras": {"a": "\0"}}, ""),
        ("messages", a_message("s1", 1) | {"extras": {"a": float("nan")}}, ""),
        ("memories", a_memory_line(1, "x", status="erased"), "/status"),
        ("memories", a_memory_line(1, "x", importance=1.5), "/importance"),
        ("memories", a_memory_line(1, "x") | {"evidence": [HALF]}, "/evidence/0"),
        ("relations", {"from": 1, "relation": "loves", "to": 2, "strength": 1.0, "at": NOON}, "/relation"),
        ("names", {"form": "Bo", "other": "/dog", "same": "no", "at": NOON}, "/same"),
        ("names", {"form": "", "other": "/dog", "same": True, "at": NOON}, "/form"),
        ("profile", {"version": 1, "attributes": {"habits": [{"content": "x", "memories": [], "confidence": 1}]}},
         "/attributes/habits/0/memories"),
        ("profile", {"version": 1, "attributes": {"slots": {"a": {"memories": [1], "confidence": 1}}}},
         "/attributes/slots/a"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_a_pointer(file: str, line: Json, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        parsed(file, line)
    assert refused.value.problems[0].pointer == pointer


def test_a_plan_is_bounded_in_steps_and_levels() -> None:
    step: Json = {"id": "1", "title": "x", "status": "done", "steps": []}
    deep = step
    for _ in range(9):
        deep = step | {"steps": [deep]}
    plan = {"session_id": "s", "id": "main", "group_id": None, "goal": "x", "status": "pending", "current": None,
            "version": 1, "updated_at": NOON}  # fmt: skip
    assert parsed("plans", plan | {"steps": [step]})[0].steps[0].title == "x"
    for steps in ([deep], [step] * 501):
        with pytest.raises(Invalid, match="at most 500 steps on 8 levels"):
            parsed("plans", plan | {"steps": steps})

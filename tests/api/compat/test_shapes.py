"""Memories and versions in the shape of mem0."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from api.compat import shapes
from api.compat.annotated import Annotation
from core.memory.memories import MemoryVersion
from core.types import Evidence, Json

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
ID = UUID(int=7)


def a_row(**more: Any) -> Any:
    row: Json = {"id": ID, "content": "Ada likes tea.", "user_id": "ada", "topic": "other", "category": "preference"}
    row |= {"subject": "ada", "importance": 0.5, "level": 0, "status": "active", "structured": {}, "expires_at": None}
    return SimpleNamespace(**row | {"recorded_at": NOON, "updated_at": NOON} | more)


def test_a_session_is_a_run_unless_it_was_made_for_one_request() -> None:
    for session, run in (("s1", "s1"), (f"{shapes.OWN_SESSION}x", None), ("", None)):
        memory = shapes.memory_json(a_row(), [Evidence(session, "m", "e", "q")], Annotation())
        assert (memory["run_id"], memory["session_id"]) == (run, run)


def test_what_stands_for_an_agent_is_shown_as_the_agent_and_owned_by_it_again() -> None:
    memory = shapes.memory_json(a_row(user_id="mem0:agent:chef"), [], Annotation(app_id="shop", run_id="r"))
    assert (memory["user_id"], memory["agent_id"], memory["app_id"]) == (None, "chef", "shop")
    assert shapes.owner_of(memory) == "mem0:agent:chef"


def test_a_memory_expires_after_its_last_day() -> None:
    memory = shapes.memory_json(a_row(expires_at=NOON), [], Annotation())
    assert memory["expiration_date"] == "2026-05-02"
    assert not shapes.is_expired(memory, NOON)
    assert shapes.is_expired(memory, datetime(2026, 5, 3, tzinfo=UTC))


def test_secrets_in_the_metadata_of_a_message_are_masked() -> None:
    metadata = {("s1", "m"): {"key": "my password is hunter2-Zx9!"}}
    (read,) = shapes.annotations_of(a_row(), [Evidence("s1", "m", "e", "q")], metadata, {})
    assert "hunter2" not in str(read)


def test_versions_tell_the_words_before_and_after() -> None:
    versions = [
        MemoryVersion(1, "add", "", {}, {"content": "a"}, None, NOON, ID),
        MemoryVersion(2, "edit", "", {}, {"content": "b"}, None, NOON, ID),
        MemoryVersion(3, "archive", "", {}, {"content": "b"}, None, NOON),
    ]
    memory = shapes.memory_json(a_row(), [], Annotation())
    told = [(one["event"], one["old_memory"], one["new_memory"]) for one in shapes.history_json(memory, versions)]
    assert told == [("ADD", None, "a"), ("UPDATE", "a", "b"), ("DELETE", "b", None)]


def test_only_the_wanted_fields_are_kept_beside_id_and_words() -> None:
    memory = shapes.memory_json(a_row(), [], Annotation())
    assert shapes.only(memory, ["metadata"]).keys() == {"id", "memory", "metadata"}
    assert shapes.only(memory, None) == memory

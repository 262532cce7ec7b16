"""Requests that fit the shape of a door and nothing else."""

from __future__ import annotations

import base64
import json

import pytest

from api.http.search.request import SearchRequest
from api.http.search.search import _effective_recipe, _identity
from core.search import pagination
from tests.doors import Doors
from tests.samples import TENANT

CODE = "if x:\n    y\n\n\n" * 10


def said(session: str, user: str, content: str, at: int, **more: object) -> dict[str, object]:
    payload = {"session_id": session, "user_id": user, "role": "user", "content": content, "message_id": f"m{at}"}
    return {"event_type": "message.added", "source": "test", "payload": payload | more}


@pytest.mark.parametrize("limit", [1000, 2000, 8000])
def test_a_text_of_many_lines_is_shown_as_far_as_there_is_room(door: Doors, limit: int) -> None:
    assert (
        door.post(
            "/v1/events", [said("s", "ada", CODE, at, role="user" if at % 2 else "assistant") for at in range(120)]
        ).status_code
        == 202
    )
    asked = {"user_id": "ada", "session_id": "s", "max_tokens": limit, "format": "text"}
    shown = door.post("/v1/context", asked).json()
    assert 0.24 * limit <= shown["total_tokens"] <= 0.8 * limit


def test_whoever_is_called_none_is_not_nobody(door: Doors) -> None:
    """What one user's context holds on to is not shown to a group that names no user."""
    group = {"group_id": "g", "participants": ["None", "bob"]}
    door.post(
        "/v1/events", [said("s", who, f"Hello from {who}.", at, **group) for at, who in enumerate(("None", "bob"))]
    )
    door.post("/v1/documents", {"user_id": "None", "title": "Own", "content": "The alarm was made by Purpleduck."})
    asked = {"session_id": "s", "group_id": "g", "max_tokens": 2000}
    own = door.post("/v1/context", {**asked, "user_id": "None", "query": "Who made the alarm?", "audience": "private"})
    assert "Purpleduck" in own.text
    assert "Purpleduck" not in door.post("/v1/context", {**asked, "query": "Hello"}).text


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("name", ["now", "known_at"])
def test_a_moment_at_the_end_of_the_calendar_is_refused(door: Doors, name: str, now: str) -> None:
    answer = door.post("/v1/search", {"user_id": "ada", "query": "What was before yesterday?", name: now})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{name}"


@pytest.mark.parametrize("field", ["kinds", "tags", "include", "trust"])
def test_a_long_list_of_nonsense_is_answered_shortly(door: Doors, field: str) -> None:
    answer = door.post("/v1/search", {"user_id": "ada", "query": "x", field: ["\x00"] * 50_000})
    assert answer.status_code == 422
    assert len(answer.content) < 2_000


def test_a_forged_cursor_is_refused(door: Doors) -> None:
    asked = SearchRequest(user_id="ada", query="x")
    same = _identity(TENANT, asked, _effective_recipe(asked))
    for holds in (["nope", "x", 1.0, "2024-01-01T00:00:00+00:00"], ["memory", "x", 1.0, "0001-01-01T00:00:00+00:00"]):
        held = json.dumps(holds, separators=(",", ":"))
        after = base64.urlsafe_b64encode(pagination._seal(held, same) + held.encode()).decode().rstrip("=")
        assert door.post("/v1/search", {"user_id": "ada", "query": "x", "after": after}).status_code == 422


def test_a_statement_of_separators_alone_is_refused(door: Doors) -> None:
    assert door.post("/v1/memories", {"user_id": "ada", "content": "\x1f\x1c"}).status_code == 422

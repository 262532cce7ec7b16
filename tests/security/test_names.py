"""Names by which nothing could be reached, or which cannot be told apart by eye, are refused where they come in."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text

from core.storage.db import Database
from tests.doors import Doors
from tests.samples import TENANT, ended, event, said

INVISIBLE = [
    "a\u200bda",
    "ada\u2028",
    "\u202eada",
    "ad\u00ada",
    "\ufeffada",
    "a\x7fda",
    "a\x85da",
    "\u3164",
    " ",
    "\u2800",
]
PLACES = [".", "..", "a/b", "/", "../x", "a\\b"]
GOOD = ["ada", "ada@example.com", "张三", "José", "auth0|507f", "urn:user:7", "Ada Lovelace", "a.b", "...", "~", "👩"]


def refused(answer: Any, pointer: str) -> str:
    assert answer.status_code == 422, answer.text
    (fault,) = answer.json()["errors"]
    assert fault["pointer"] == pointer
    return str(fault["detail"])


@pytest.mark.parametrize("name", [*INVISIBLE, *PLACES])
def test_a_user_or_group_by_which_nobody_could_be_reached_is_refused(door: Doors, name: str) -> None:
    said_ = refused(door.post("/v1/events", said("x", user=name)), "/0/payload/user_id")
    assert "U+" in said_ or "`/`" in said_ or "`.`" in said_ or "nothing to see" in said_
    refused(door.post("/v1/events", said("x", group_id=name)), "/0/payload/group_id")
    refused(door.post("/v1/events", said("x", participants=["bob", name])), "/0/payload/participants/1")
    refused(door.post("/v1/events", event("memory.requested", {"user_id": name, "content": "x"})), "/0/payload/user_id")
    refused(door.post("/v1/memories", {"user_id": name, "content": "Ada has a cat."}), "/user_id")
    refused(door.post("/v1/memories", {"user_id": "a", "group_id": name, "content": "Ada has a cat."}), "/group_id")


@pytest.mark.parametrize(
    "name", [*INVISIBLE, ".", "..", "s/../t", "s/.", "/s", "s/", "s//t", "s/working/k", "messages/1"]
)
def test_so_is_a_session_whose_address_would_be_another_place(door: Doors, name: str) -> None:
    refused(door.post("/v1/events", said("x", session=name)), "/0/payload/session_id")
    refused(door.post("/v1/events", ended(name)), "/0/payload/session_id")


@pytest.mark.parametrize("name", ["m/hide", "a/restore", "messages/1", "..", "\u200b"])
def test_and_a_message_likewise(door: Doors, name: str) -> None:
    refused(door.post("/v1/events", said("x", message_id=name)), "/0/payload/message_id")


@pytest.mark.parametrize("name", [*GOOD, "conv-1/session_3", "a/b/c"])
def test_other_sessions_are_reached_by_every_route(door: Doors, name: str) -> None:
    assert door.post("/v1/events", said("x", session=name, message_id="D1:3")).status_code == 202
    place = f"/v1/sessions/{quote(name, safe='')}"
    assert door.get(place).json()["id"] == name
    assert door.get(f"{place}/messages").json()["items"][0]["content"] == "x"
    assert door.ask("PUT", f"{place}/working/k", json={"value": 7}).status_code == 200
    assert door.get(f"{place}/working/k").json()["value"] == 7
    assert door.ask("DELETE", f"{place}/working/k").status_code == 204
    assert door.ask("DELETE", place).status_code == 200


@pytest.mark.parametrize("name", GOOD)
def test_other_users_are_reached(door: Doors, name: str) -> None:
    assert door.post("/v1/events", said("x", user=name, group_id=name)).status_code == 202
    assert door.ask("DELETE", f"/v1/users/{quote(name, safe='')}").json()["receipt"]["counts"]["messages"] == 1


@pytest.mark.parametrize("name", ["s/working/k", "s\u200b", "s/messages/m", "x/state"])
def test_a_session_from_before_stays_within_reach(door: Doors, app: Database, name: str) -> None:
    """Such ids may stand in a database from before they were refused: the query names what the path cannot."""
    door.post("/v1/events", said("x", session="old"))
    with app.tenant(TENANT) as tx:
        for table in ("sessions", "messages"):
            column = "id" if table == "sessions" else "session_id"
            tx.execute(text(f"UPDATE {table} SET {column} = :name"), {"name": name})
    asked = {"session_id": name}
    assert door.get("/v1/session", params=asked).json()["id"] == name
    assert door.get("/v1/session/messages", params=asked).json()["items"][0]["content"] == "x"
    assert door.ask("PUT", "/v1/session/working", params={**asked, "key": "k"}, json={"value": 1}).status_code == 200
    assert door.get("/v1/session/working", params=asked).json()["items"][0]["key"] == "k"
    assert door.ask("DELETE", "/v1/session/working", params={**asked, "key": "k"}).status_code == 204
    assert door.ask("DELETE", "/v1/session", params=asked).status_code == 200

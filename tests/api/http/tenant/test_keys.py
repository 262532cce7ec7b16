"""`/v1/keys`: what keys there are, and giving and taking them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT


def test_keys_are_listed_without_themselves_and_with_their_last_use(door: Doors, settings: Settings) -> None:
    idle = key_of(settings, TENANT, ("read",))
    answer = door.get("/v1/keys")
    mine, other = sorted(answer.json()["items"], key=lambda one: not one["own"])
    assert datetime.now(UTC) - datetime.fromisoformat(mine["last_used_at"]) < timedelta(minutes=1)
    assert (other["id"], other["last_used_at"], other["scopes"], other["labels"]) == (
        idle.split(".")[2],
        None,
        ["read"],
        None,
    )
    assert all(key.split(".")[3] not in answer.text for key in (idle, door.keys[TENANT]))
    assert idle.split(".")[2] not in door.get("/v1/keys", tenant=OTHER).text


def test_a_created_key_works_until_it_is_revoked(door: Doors) -> None:
    created = door.post("/v1/keys", {"scopes": ["read", "publish"], "name": "bot", "labels": ["finance"]})
    told = created.json()
    assert (created.status_code, told["scopes"], told["labels"]) == (201, ["publish", "read"], ["finance"])
    assert door.get("/v1/memories", key=told["key"]).status_code == 200
    assert door.ask("DELETE", f"/v1/keys/{told['id']}").status_code == 204
    assert door.get("/v1/memories", key=told["key"]).status_code == 401
    [shown] = [one for one in door.get("/v1/keys").json()["items"] if one["id"] == told["id"]]
    assert (shown["name"], shown["revoked_at"] is not None, shown["last_used_at"] is not None) == ("bot", True, True)


@pytest.mark.parametrize("scope", ["publish", "read", "write", "rules", "raw"])
def test_no_key_but_an_admins_lists_or_gives_any(door: Doors, settings: Settings, scope: str) -> None:
    key = key_of(settings, TENANT, (scope,))
    assert door.get("/v1/keys", key=key).status_code == 403
    assert door.post("/v1/keys", {"scopes": [scope]}, key=key).status_code == 403
    assert door.ask("DELETE", f"/v1/keys/{key.split('.')[2]}", key=key).status_code == 403


def test_a_key_cannot_revoke_itself_or_another_tenants(door: Doors) -> None:
    mine, theirs = (door.keys[tenant].split(".")[2] for tenant in (TENANT, OTHER))
    assert door.ask("DELETE", f"/v1/keys/{mine}").status_code == 409
    assert door.ask("DELETE", f"/v1/keys/{theirs}").status_code == 404
    assert door.get("/v1/keys", tenant=OTHER).status_code == 200


def test_keys_come_in_pages_and_end_at_a_number(door: Doors, app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        door.post("/v1/keys", {"scopes": ["read"]})
    first = door.get("/v1/keys?limit=3").json()
    rest = door.get("/v1/keys", params={"limit": 3, "after": first["next"]}).json()
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (3, 1, None)
    monkeypatch.setattr(tenants, "MOST_KEYS", 4)
    refused = door.post("/v1/keys", {"scopes": ["read"]})
    assert (refused.status_code, "revoke" in refused.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["root"]}, "/scopes/0"),
        ({"scopes": ["admin"], "labels": ["finance"]}, "/scopes"),
        ({"scopes": ["read"], "labels": ["A B"]}, "/labels/0"),
        ({"scopes": ["read"], "key": "mine"}, "/key"),
    ],
)
def test_a_key_that_cannot_be_is_refused(door: Doors, body: Json, pointer: str) -> None:
    refused = door.post("/v1/keys", body)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)


def test_the_last_use_is_written_once_a_minute(settings: Settings, app: Database) -> None:
    key = key_of(settings, TENANT)

    def used_at() -> datetime:
        tenants.caller(app, key)
        with app.tenant(TENANT) as tx:
            return tx.execute(text("SELECT last_used_at FROM api_keys")).scalar_one()  # type: ignore[no-any-return]

    first = used_at()
    assert used_at() == first
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE api_keys SET last_used_at = last_used_at - interval '61 s'"))
    assert used_at() > first

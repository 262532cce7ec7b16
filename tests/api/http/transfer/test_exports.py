from __future__ import annotations

import io
import json
import zipfile

from core.config import Settings
from core.storage.db import Database
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, said


def test_the_answer_is_a_zip_of_json_lines(door: Doors, app: Database) -> None:
    accept(app, said("I live in Lisbon."))
    answer = door.get("/v1/users/ada/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as opened:
        assert opened.testzip() is None
        assert "I live in Lisbon." in opened.read("messages.jsonl").decode()


def test_raw_text_requires_the_scope_for_it(door: Doors, app: Database, upgraded: Settings) -> None:
    accept(app, said("I live in Lisbon."))
    reader = key_of(upgraded, TENANT, ("read",))
    assert door.get("/v1/users/ada/export", key=reader).status_code == 200
    assert door.get("/v1/users/ada/export", key=reader, params={"raw": True}).status_code == 403
    assert door.get("/v1/users/ada/export", params={"raw": True}).status_code == 200


def test_a_user_of_another_tenant_is_not_found(door: Doors, app: Database) -> None:
    accept(app, said("I live in Lisbon."))
    answer = door.get("/v1/users/ada/export", tenant=OTHER)
    assert answer.status_code == 404
    assert "Check the name" in answer.json()["detail"]


def test_a_group_is_exported_with_whoever_said_it_and_without_what_was_said_to_a_part_of_it(
    door: Doors, app: Database
) -> None:
    for user, content in (("ada", "I live in Lisbon."), ("bob", "I live in Rome.")):
        accept(app, said(content, user=user, group_id="crew"))
    accept(app, said("I am ill.", group_id="crew", audience="private"), said("I play chess.", session="s2"))
    answer = door.get("/v1/groups/crew/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as opened:
        lines = [json.loads(line) for line in opened.read("messages.jsonl").splitlines()]
        manifest = json.loads(opened.read("manifest.json"))
    assert [(one["user_id"], one["content"]) for one in lines] == [
        ("ada", "I live in Lisbon."),
        ("bob", "I live in Rome."),
    ]
    assert (manifest["format"], manifest["group_id"]) == ("imprint-group-archive", "crew")
    assert manifest["counts"]["sessions"] == 1
    assert door.get("/v1/groups/crew/export", tenant=OTHER).status_code == 404

"""Prompts of a tenant's own, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from api.http.tenant import prompt_examples
from core.config import Settings
from core.inference import own_prompts, prompts
from core.inference.own_prompts import CHARACTERS
from core.storage.db import Database
from tests.core.inference.calls import call
from tests.doors import OTHER, Doors, key_of


def put(door: Doors, text: str = "Judge well.", **more: Any) -> Any:
    return door.ask("PUT", "/v1/tenant/prompts/judge", json={"text": text, **more})


def test_prompts_are_listed_with_the_version_in_force(door: Doors) -> None:
    assert put(door, share=0.25).status_code == 200
    found = {one["name"]: one for one in door.get("/v1/tenant/prompts").json()["items"]}
    assert set(found) == set(own_prompts.packaged_names())
    judge = {"name": "judge", "packaged": "judge.v1", "version": 1, "share": 0.25, "recorded_as": "judge.own1"}
    assert found["judge"] == judge
    assert (found["summary"]["version"], found["summary"]["recorded_as"]) == (None, "summary.v2")
    other = {one["name"]: one["version"] for one in door.get("/v1/tenant/prompts", tenant=OTHER).json()["items"]}
    assert set(other.values()) == {None}


def test_a_prompt_is_shown_with_its_versions_and_the_packaged_text(door: Doors) -> None:
    put(door, "First.", comment="shorter")
    put(door, "Second.")
    shown = door.get("/v1/tenant/prompts/judge").json()
    assert (shown["text"], shown["packaged_text"]) == ("Second.", prompts.load("judge.v1"))
    assert [(one["version"], one["comment"]) for one in shown["versions"]] == [(2, ""), (1, "shorter")]
    assert shown["versions"][0]["author"].startswith("key:")
    assert door.get("/v1/tenant/prompts/judge?version=1").json()["text"] == "First."
    assert door.get("/v1/tenant/prompts/judge?version=9").status_code == 404
    assert door.get("/v1/tenant/prompts/summary").json()["text"] is None


def test_a_reset_uses_the_packaged_one_again(door: Doors) -> None:
    put(door)
    assert door.ask("DELETE", "/v1/tenant/prompts/judge").status_code == 204
    shown = door.get("/v1/tenant/prompts/judge").json()
    assert (shown["version"], shown["text"], shown["versions"][0]["is_reset"]) == (None, None, True)
    assert door.ask("DELETE", "/v1/tenant/prompts/judge").status_code == 404


@pytest.mark.parametrize("name", own_prompts.packaged_names())
def test_every_prompt_can_be_previewed_with_an_example(door: Doors, name: str) -> None:
    seen = door.post(f"/v1/tenant/prompts/{name}/preview", {"text": "Mine. {{packaged}}"}).json()
    assert seen["system"] == f"Mine. {prompts.load(own_prompts.packaged_name(name))}"
    assert seen["user"] == prompt_examples.example(name).question
    assert seen["answer_schema"]["type"] == "object"
    assert seen["estimated_tokens"] > 20
    assert door.get(f"/v1/tenant/prompts/{name}").json()["version"] is None, "nothing is stored"


def test_a_preview_without_a_text_is_of_what_is_in_force(door: Doors) -> None:
    assert door.post("/v1/tenant/prompts/judge/preview", {}).json()["system"] == prompts.load("judge.v1")
    put(door, "Mine.")
    assert door.post("/v1/tenant/prompts/judge/preview", {}).json()["system"] == "Mine."


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"text": "{{user}}"}, "/text"),
        ({"text": ""}, "/text"),
        ({"text": "x" * (CHARACTERS + 1)}, "/text"),
        ({"text": "Fine.", "share": 0}, "/share"),
        ({"text": "Fine.", "share": 1.5}, "/share"),
        ({}, "/text"),
        ({"text": "Fine.", "colour": "red"}, "/colour"),
    ],
)
def test_a_prompt_that_makes_no_sense_is_refused_with_its_place(door: Doors, asked: Any, pointer: str) -> None:
    refused = door.ask("PUT", "/v1/tenant/prompts/judge", json=asked)
    assert refused.status_code == 422
    assert [one["pointer"] for one in refused.json()["errors"]] == [pointer]


def test_a_prompt_that_does_not_exist_is_not_found(door: Doors) -> None:
    for method, path, body in (
        ("GET", "/v1/tenant/prompts/jugde", None),
        ("PUT", "/v1/tenant/prompts/jugde", {"text": "x"}),
        ("DELETE", "/v1/tenant/prompts/jugde", None),
        ("POST", "/v1/tenant/prompts/jugde/preview", {}),
    ):
        assert door.ask(method, path, json=body).status_code == 404, path


def test_only_an_admin_may_change_them(door: Doors, settings: Settings) -> None:
    reader = key_of(settings, OTHER, ("read",))
    assert door.get("/v1/tenant/prompts", key=reader).status_code == 200
    assert door.post("/v1/tenant/prompts/judge/preview", {}, key=reader).status_code == 200
    assert door.ask("PUT", "/v1/tenant/prompts/judge", key=reader, json={"text": "x"}).status_code == 403
    assert door.ask("DELETE", "/v1/tenant/prompts/judge", key=reader).status_code == 403


def test_what_each_version_costs_is_told(door: Doors, app: Database) -> None:
    call(app, prompt="judge.own1")
    told = door.get("/v1/costs", params={"by": "prompt"}).json()
    assert [(one["key"], one["calls"]) for one in told["items"]] == [("judge.own1", 1)]

"""Credentials of webhooks: named in rules, put in when the request is sent, and shown by nothing else."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Later, Never
from core.storage.db import Database
from core.types import Json
from tests.doors import Doors, key_of, opened
from tests.factories import a_job, tools
from tests.outlets import entry_of, open_to
from tests.samples import TENANT, accept, event
from tests.workers.receiver import Other
from tests.works import at_work
from workers.agents import outbound
from workers.dispatch.relay import DispatchRef

TOKEN = "Bearer crm-4f9a-CANARY"

NAMED = {"Authorization": {"secret": "crm-token"}, "x-user": "{{payload.user_id}}"}


def rule(url: str, headers: Json, **more: Any) -> Json:
    action = {"action_type": "webhook", "url": url, "headers": headers}
    return {"name": "crm", "event_type": "order.placed", "actions": [action], **more}


def open_with(settings: Settings, other: Other) -> Settings:
    return open_to(settings, other.url, secrets={"crm-token": TOKEN})


def test_a_named_secret_is_sent_and_stands_nowhere(settings: Settings, app: Database, other: Other) -> None:
    given = open_with(settings, other)
    with opened(given) as door:
        assert door.post("/v1/rules", rule(other.url, NAMED)).status_code == 201
        accept(app, event(payload={"user_id": "ada"}))
        with at_work(given) as works:
            works.settle()
        (got,) = other.got
        assert (got.headers["authorization"], got.headers["x-user"]) == (TOKEN, "ada")
        everything = [door.get(path).text for path in READ]
    assert "crm-token" in "".join(everything)
    assert "CANARY" not in "".join(everything)
    with app.tenant(TENANT) as tx:
        for table in ("rules", "rule_versions", "dispatches", "events", "decisions"):
            assert tx.execute(text(f"SELECT count(*) FROM {table} t WHERE t::text LIKE '%CANARY%'")).scalar_one() == 0


def test_a_secret_of_one_host_is_sent_to_no_other(settings: Settings, other: Other) -> None:
    given = open_to(settings, other.url, "https://hooks.example.com")
    bound = {"value": TOKEN, "hosts": ["hooks.example.com"]}
    with opened(given) as door:
        assert door.ask("PUT", "/v1/tenant/secrets/crm-token", json=bound).json()["hosts"] == ["hooks.example.com"]
        assert door.post("/v1/rules", rule("https://hooks.example.com/x", NAMED)).status_code == 201
        refused = door.post("/v1/rules", rule(other.url, NAMED, name="elsewhere"))
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/actions/0/headers/Authorization/secret"
        assert "`hooks.example.com` alone" in refused.json()["errors"][0]["detail"]
        assert (
            door.ask("PUT", "/v1/tenant/secrets/crm-token", json={"value": "Bearer new"}).json()["hosts"]
            == bound["hosts"]
        )
    job = a_job(url=other.url, headers={}, payload=None, secrets={"Authorization": "crm-token"})
    with pytest.raises(Never, match="may not be sent to"):
        outbound.send_webhook(tools(given), job)
    assert not other.got
    with opened(given) as door:
        own = {"value": TOKEN, "hosts": [entry_of(other.url)]}
        assert door.ask("PUT", "/v1/tenant/secrets/crm-token", json=own).status_code == 200
    outbound.send_webhook(tools(given), job)
    assert other.got[0].headers["authorization"] == TOKEN


@pytest.mark.parametrize("entry", ["not a host", "beyond.example.com"])
def test_a_host_of_a_secret_is_one_that_the_operator_allows(settings: Settings, other: Other, entry: str) -> None:
    with opened(open_to(settings, other.url)) as door:
        refused = door.ask(
            "PUT", "/v1/tenant/secrets/crm-token", json={"value": TOKEN, "hosts": [entry_of(other.url), entry]}
        )
        assert refused.json()["errors"][0]["pointer"] == "/hosts/1"
        assert door.get("/v1/tenant/secrets").json()["items"] == []


READ = ["/v1/rules", "/v1/rules/crm", "/v1/rules/export", "/v1/rules/crm/versions", "/v1/dispatches", "/v1/events"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer x"},
        {"authorization": "{{payload.token}}"},
        {"Cookie": "session=1"},
        {"X-Api-Key": "k"},
        {"api_key": "k"},
        {"x-goog-api-key": "k"},
        {"x-auth-token": "t"},
        {"X-Hook-Secret": "s"},
        {"Ocp-Apim-Subscription-Key": "k"},
        {"x-anything": "Bearer abc"},
        {"x-custom": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"},
        {"x-custom": "AKIAIOSFODNN7EXAMPLQ"},
        {"x-anything": "basic dTpw"},
        {"Authorization": "••••••••"},
    ],
)
def test_a_credential_written_out_is_refused_with_the_way_out(door: Doors, headers: Json) -> None:
    answer = door.post("/v1/rules", rule("https://hooks.example.org/x", headers))
    (name,) = headers
    faults = {one["pointer"]: one["detail"] for one in answer.json()["errors"]}
    assert answer.status_code == 422
    assert "imprint tenant secrets set" in faults[f"/actions/0/headers/{name}"]
    assert headers[name] not in answer.text or len(headers[name]) < 3


def test_headers_that_let_nobody_in_may_be_written_out(settings: Settings, other: Other) -> None:
    plain = {"x-user": "{{payload.user_id}}", "x-author": "me", "x-keyboard": "qwerty"}
    plain |= {"idempotency-key": "{{payload.id}}"}
    with opened(open_with(settings, other)) as door:
        assert door.post("/v1/rules", rule(other.url, plain)).status_code == 201


def test_a_secret_that_is_not_there_is_named_when_the_rule_is_saved(settings: Settings, other: Other) -> None:
    with opened(open_to(settings, other.url)) as door:
        for wrong, pointer in (
            (NAMED, "/secret"),
            ({"Authorization": {"secret": "Not A Name"}}, "/secret"),
            ({"Authorization": {"secrte": "x"}}, "/secrte"),
            ({"Authorization": 7}, ""),
        ):
            answer = door.post("/v1/rules", rule(other.url, wrong))
            pointers = [one["pointer"] for one in answer.json()["errors"]]
            assert f"/actions/0/headers/Authorization{pointer}" in pointers


def test_and_when_it_was_deleted_meanwhile(settings: Settings, other: Other) -> None:
    job = a_job(url=other.url, headers={}, payload=None, secrets={"Authorization": "gone"})
    with pytest.raises(Never, match="'gone'"):
        outbound.send_webhook(tools(open_to(settings, other.url)), job)
    assert other.got == []


def test_no_event_can_name_a_secret(settings: Settings, app: Database, other: Other) -> None:
    """A template takes the type of its field: what a publisher sends must not come to be a reference."""
    given = open_with(settings, other)
    with opened(given) as door:
        door.post("/v1/rules", rule(other.url, {"x-note": "{{payload.note}}"}))
    accept(app, event(payload={"note": {"secret": "crm-token"}}))
    with at_work(given) as works:
        works.settle()
    (got,) = other.got
    assert "CANARY" not in str(got.headers)


def test_a_receiver_that_repeats_the_secret_does_not_get_it_into_the_dead_letters(
    settings: Settings, other: Other
) -> None:
    given = tools(open_with(settings, other))
    job = a_job(url=other.url, headers={}, payload=None, secrets={"Authorization": "crm-token"})
    for status, kind in ((401, Never), (503, Later)):
        for said in (f"unknown token: {TOKEN}", "x" * 290 + TOKEN, f"no user {TOKEN.split()[1]}"):
            other.answers.append((status, {}, said.encode()))
            with pytest.raises(kind) as refused:
                outbound.send_webhook(given, job)
            assert "crm-4f9a" not in str(refused.value)


def test_older_rules_are_shown_masked_and_go_on(settings: Settings, app: Database, other: Other) -> None:
    given = open_to(settings, other.url)
    read = key_of(settings, TENANT, ("read",))
    with opened(given) as door:
        door.post("/v1/rules", rule(other.url, {}, action_mode="approve"))
        old = rule(other.url, {"Authorization": TOKEN}, action_mode="approve")
        with app.tenant(TENANT) as tx:
            for table in ("rules", "rule_versions"):
                tx.execute(
                    text(f"UPDATE {table} SET document = cast(:old AS jsonb) WHERE name = 'crm'"),
                    {"old": json.dumps(old)},
                )
        accept(app, event(payload={"user_id": "ada"}, id="e1"))
        with at_work(given) as works:
            works.settle()
            (held,) = door.get("/v1/dispatches?hold=approval", key=read).json()["items"]
            door.post("/v1/rules", rule(other.url, {}, tags=["edited"]))
            tried = {"names": ["crm"], "event": event()}
            paths = [*READ, f"/v1/dispatches/{held['id']}", "/v1/events/e1/trace", "/v1/events?type=approval.*"]
            seen = [door.get(path, key=read).text for path in paths]
            seen.append(door.post("/v1/rules/test", {"rule": old, "event": event()}, key=read).text)
            seen.append(door.post("/v1/rules/test", tried, key=read).text)
            seen.append(door.post("/v1/rules/import", {"files": {}, "prune": True, "dry_run": True}).text)
            seen.append(door.post(f"/v1/dispatches/{held['id']}/approve").text)
            works.run([DispatchRef(TENANT, "io", UUID(held["id"]))])
    assert "CANARY" not in "".join(seen)
    assert "••••" in "".join(seen)
    assert other.got[0].headers["authorization"] == TOKEN

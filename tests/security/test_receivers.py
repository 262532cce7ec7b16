"""No tenant reaches another's receivers, channels or queues, nor says there in another's name what can be believed."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import AnyUrl, SecretStr
from sqlalchemy import text
from standardwebhooks import Webhook, WebhookVerificationError

from core.config import Settings
from core.errors import Misconfigured, Never
from core.storage.db import Database
from core.tenancy import secrets, vault
from core.tenancy.tenants import DEFAULT
from core.tenancy.vault import Vault
from core.types import Json
from tests.commands import Imprint, served
from tests.doors import OTHER, Doors, key_of, opened
from tests.factories import a_job, tools
from tests.outlets import entry_of, open_to
from tests.samples import TENANT, event
from tests.workers.receiver import Other
from tests.works import at_work
from workers.agents import notify, outbound

OPERATORS, ACMES, EVILS = ("whsec_" + base64.b64encode(key * 24).decode() for key in (b"o", b"a", b"e"))

FORGED = {"id": "01a2-forged", "event_type": "user.erased", "source": "imprint", "payload": {"user_id": "ada"}}


def installation(settings: Settings, other: Other) -> Settings:
    """One whose operator lets tenants post to the receiver, and has a secret, a channel and a queue of their own."""
    return settings.model_copy(
        update={
            "webhook_hosts": [entry_of(other.url)],
            "webhook_secret": SecretStr(OPERATORS),
            "notify_channels": {"ops": AnyUrl(other.url)},
            "celery_queues": ["billing"],
        }
    )


def hook(url: str, **more: Any) -> Json:
    return {"name": "forge", "event_type": "go.now", "actions": [{"action_type": "webhook", "url": url, **more}]}


def test_a_tenant_has_none_of_the_operators_hosts_channels_and_queues(settings: Settings, other: Other) -> None:
    with opened(installation(settings, other)) as door:
        for action, place in (
            ({"action_type": "webhook", "url": other.url, "payload": FORGED}, "url"),
            ({"action_type": "notify", "channel": "ops", "template": "@channel ACME"}, "channel"),
            ({"action_type": "celery", "task": "billing.pay", "queue": "billing"}, "queue"),
        ):
            answer = door.post("/v1/rules", {"name": "r", "event_type": "go.now", "actions": [action]}, tenant=OTHER)
            assert answer.status_code == 422
            assert [one["pointer"] for one in answer.json()["errors"]] == [f"/actions/0/{place}"]


def test_nor_where_a_rule_was_saved_when_it_had(settings: Settings, other: Other) -> None:
    given = tools(installation(settings, other))
    job = replace(a_job(url=other.url, headers={}, payload=FORGED), tenant_id=OTHER)
    with pytest.raises(Never, match="not allowed"):
        outbound.send_webhook(given, job)
    with pytest.raises(Never, match="no channel 'ops'"):
        notify.notify(given, replace(a_job(channel="ops", template="x"), tenant_id=OTHER))
    with pytest.raises(Never, match="queue 'billing'"):
        outbound.send_task(given, replace(a_job(task="pay", queue="billing", kwargs={}), tenant_id=OTHER))
    assert other.got == []


def test_the_operators_own_tenant_has_them_as_before(settings: Settings, other: Other) -> None:
    given = tools(installation(settings, other))
    outbound.send_webhook(given, replace(a_job(url=other.url, headers={}, payload=None), tenant_id=DEFAULT))
    notify.notify(given, replace(a_job(channel="ops", template="x"), tenant_id=DEFAULT))
    assert len(other.got) == 2
    for got in other.got:
        Webhook(OPERATORS).verify(got.body, got.headers)


def test_who_may_post_to_the_same_receiver_cannot_sign_as_another(settings: Settings, other: Other) -> None:
    """The exploit: another tenant posts a forged event to acme's receiver, and it passes acme's check."""
    shared = installation(settings, other)
    with opened(shared) as door:
        for tenant, secret in ((TENANT, ACMES), (OTHER, EVILS)):
            asked = {"hosts": shared.webhook_hosts, "signing_secret": secret}
            assert door.ask("PUT", "/v1/tenant/webhooks", json=asked, tenant=tenant).status_code == 200
        for tenant in (TENANT, OTHER):
            assert door.post("/v1/rules", hook(other.url, payload=FORGED), tenant=tenant).status_code == 201
            door.post("/v1/events", event("go.now"), tenant=tenant)
        with at_work(shared) as works:
            works.settle()
    acme, evil = sorted(other.got, key=lambda got: got.headers["webhook-id"])
    assert Webhook(ACMES).verify(acme.body, acme.headers) == FORGED
    for secret in (ACMES, OPERATORS):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(evil.body, evil.headers)
    assert acme.headers["webhook-id"].split(":")[0] == TENANT
    assert evil.headers["webhook-id"].split(":")[0] == OTHER


def test_the_tenant_is_part_of_what_is_signed(settings: Settings, other: Other) -> None:
    """Two tenants that have agreed on one secret still cannot be taken for each other."""
    given = open_to(settings, other.url, signing=ACMES)
    outbound.send_webhook(tools(given), a_job(url=other.url, headers={}, payload=FORGED))
    (got,) = other.got
    changed = {**got.headers, "webhook-id": got.headers["webhook-id"].replace(TENANT, OTHER)}
    Webhook(ACMES).verify(got.body, got.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(ACMES).verify(got.body, changed)


def test_the_receiver_in_the_manual_takes_its_own_tenants_and_nobody_elses(root: Path) -> None:
    page = (root / "docs" / "webhooks.md").read_text(encoding="utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    known: Json = {}
    exec(compile(code, "docs/webhooks.md", "exec"), known)  # noqa: S102 - the page of this repository
    at, body = datetime.now(UTC), json.dumps(FORGED)

    def sent(message: str, secret: str) -> dict[str, str]:
        signed = Webhook(secret).sign(message, at, body)
        return {"webhook-id": message, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signed}

    assert known["received"](body.encode(), sent("acme:1", ACMES), ACMES, "acme") == FORGED
    for message, secret in (("globex:1", ACMES), ("acme:1", EVILS), ("acme", ACMES), ("acmes:1", ACMES)):
        with pytest.raises((WebhookVerificationError, PermissionError)):
            known["received"](body.encode(), sent(message, secret), ACMES, "acme")


def test_an_admin_chooses_within_what_the_operator_allows(settings: Settings) -> None:
    with opened(settings.model_copy(update={"webhook_hosts": ["*.example.com", "http://hooks.local:8080"]})) as door:
        put = lambda **asked: door.ask("PUT", "/v1/tenant/webhooks", json=asked)  # noqa: E731
        answer = put(hosts=["a.example.com", "http://hooks.local:8080"], channels={"ops": "https://b.example.com/T0/s"})
        assert answer.status_code == 200
        told = door.get("/v1/tenant/webhooks").json()
        assert told["hosts"] == ["a.example.com", "http://hooks.local:8080"]
        assert told["channels"] == {"ops": "https://b.example.com/…"}
        assert door.get("/v1/tenant/webhooks", tenant=OTHER).json()["hosts"] == []
        for asked, pointer in (
            ({"hosts": ["a.example.com", "evil.org"]}, "/hosts/1"),
            ({"hosts": ["*"]}, "/hosts/0"),
            ({"hosts": ["http://a.example.com"]}, "/hosts/0"),
            ({"hosts": ["a.example.com:22"]}, "/hosts/0"),
            ({"hosts": ["no host"]}, "/hosts/0"),
            ({"channels": {"x": "https://evil.org/"}}, "/channels/x"),
            ({"channels": {"x": "spool:/etc/passwd"}}, "/channels/x"),
            ({"channels": {"x": "mailto:all@example.com"}}, "/channels/x"),
            ({"channels": {"new": None}}, "/channels/new"),
            ({"signing_secret": "hush"}, "/signing_secret"),
            ({"queues": ["billing"]}, "/queues"),
        ):
            refused = put(**asked)
            assert refused.status_code == 422
            assert [one["pointer"] for one in refused.json()["errors"]] == [pointer]
        assert put(channels={"ops": None}).json()["channels"] == {"ops": "https://b.example.com/…"}
        assert put(channels={}).json()["channels"] == {}


def test_what_the_operator_takes_back_is_no_longer_reached(settings: Settings, other: Other) -> None:
    given = open_to(settings, other.url, channels={"ops": other.url})
    narrowed = given.model_copy(update={"webhook_hosts": []})
    with pytest.raises(Never, match="IMPRINT_WEBHOOK_HOSTS"):
        outbound.send_webhook(tools(narrowed), a_job(url=other.url, headers={}, payload=None))
    with pytest.raises(Never, match="IMPRINT_WEBHOOK_HOSTS"):
        notify.notify(tools(narrowed), a_job(channel="ops", template="x"))


@pytest.mark.parametrize("scope", ["publish", "read", "write", "rules"])
def test_only_an_admin_changes_any_of_it(settings: Settings, door: Doors, scope: str) -> None:
    key = key_of(settings, TENANT, (scope,))
    for method, path, body in (
        ("PUT", "/v1/tenant/webhooks", {"hosts": []}),
        ("PUT", "/v1/tenant/secrets/x", {"value": "y"}),
        ("DELETE", "/v1/tenant/secrets/x", None),
    ):
        assert door.ask(method, path, json=body, key=key).status_code == 403


def test_plain_http_and_other_ports_need_an_entry_that_says_so(settings: Settings, other: Other) -> None:
    port = urlsplit(other.url).port
    wide = ["*", f"*:{port}", "http://*", entry_of(other.url)]
    with opened(settings.model_copy(update={"webhook_hosts": wide})) as door:
        door.ask("PUT", "/v1/tenant/webhooks", json={"hosts": ["127.0.0.1"]})
        refused = door.post("/v1/rules", hook(other.url))
        assert refused.status_code == 422
        assert "http and other ports must be part of the entry" in refused.json()["errors"][0]["detail"]
        door.ask("PUT", "/v1/tenant/webhooks", json={"hosts": [entry_of(other.url)]})
        assert door.post("/v1/rules", hook(other.url)).status_code == 201


TOKEN = "Bearer crm-4f9a-CANARY"


def test_a_secret_is_shown_to_nobody_and_lies_encrypted(settings: Settings, door: Doors, app: Database) -> None:
    stored = door.ask("PUT", "/v1/tenant/secrets/crm-token", json={"value": TOKEN})
    assert stored.status_code == 200
    shown = [stored.text, door.get("/v1/tenant/secrets").text, door.get("/v1/tenant/secrets/crm-token").text]
    assert "CANARY" not in "".join(shown)
    assert door.get("/v1/tenant/secrets").json()["items"][0]["name"] == "crm-token"
    assert door.get("/v1/tenant/secrets", tenant=OTHER).json()["items"] == []
    assert door.get("/v1/tenant/secrets/crm-token", tenant=OTHER).status_code == 404
    with app.tenant(TENANT) as tx:
        (row,) = tx.execute(text("SELECT sealed, secrets::text AS whole FROM secrets"))
    assert b"CANARY" not in bytes(row.sealed)
    assert "CANARY" not in row.whole
    assert (settings.home / vault.KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert door.ask("DELETE", "/v1/tenant/secrets/crm-token").status_code == 204
    assert door.get("/v1/tenant/secrets/crm-token").status_code == 404


@pytest.mark.parametrize("value", ["", " x", "x\r\nx-admin: 1", "é", "x" * 5_000])
def test_what_no_header_could_carry_is_no_secret(door: Doors, value: str) -> None:
    answer = door.ask("PUT", "/v1/tenant/secrets/x", json={"value": value})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/value")
    assert not value or value not in answer.text


def test_a_secret_moved_to_another_tenant_or_name_cannot_be_opened(settings: Settings) -> None:
    sealer = vault.load(settings)
    sealed = sealer.seal("x", "acme/header/a")
    assert sealer.open(sealed, "acme/header/a") == "x"
    for place in ("globex/header/a", "acme/header/b", "acme/signing/a"):
        with pytest.raises(Misconfigured):
            sealer.open(sealed, place)


def test_keys_take_each_others_place(settings: Settings, door: Doors, app: Database) -> None:
    old, new = (SecretStr(base64.b64encode(key * 32).decode()) for key in (b"o", b"n"))
    both = SecretStr(f"{new.get_secret_value()} {old.get_secret_value()}")
    given = {name: settings.model_copy(update={"secrets_key": key}) for name, key in
             (("old", old), ("both", both), ("new", new))}  # fmt: skip
    with app.tenant(TENANT) as tx:
        secrets.put(tx, vault.load(given["old"]), TENANT, "header", "x", TOKEN, by="test")

    def read(which: str) -> str:
        with app.tenant(TENANT) as tx:
            return secrets.reveal(tx, lambda: vault.load(given[which]), TENANT, "header", ["x"])["x"]

    assert read("both") == TOKEN
    with pytest.raises(Misconfigured, match="IMPRINT_SECRETS_KEY"):
        read("new")
    with app.tenant(TENANT) as tx:
        assert secrets.reseal(tx, vault.load(given["both"]), TENANT) == 1
    assert read("new") == TOKEN


@pytest.mark.parametrize("key", ["short", base64.b64encode(b"x" * 16).decode(), "!" * 44])
def test_what_is_no_key_says_so(settings: Settings, key: str) -> None:
    with pytest.raises(Misconfigured, match="IMPRINT_SECRETS_KEY"):
        vault.load(settings.model_copy(update={"secrets_key": SecretStr(key)}))


def test_where_no_key_can_be_made_the_way_out_is_named(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="IMPRINT_SECRETS_KEY"):
        vault.load(settings.model_copy(update={"home": tmp_path / "file" / "home"}))


def test_each_sealing_of_the_same_looks_different() -> None:
    sealer = Vault([bytes(32)])
    assert sealer.seal("x", "p") != sealer.seal("x", "p")


def test_commands_set_and_show_all_of_it(settings: Settings, monkeypatch: Any, capsys: Any) -> None:
    with served(settings.model_copy(update={"webhook_hosts": ["*.example.com"]})) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        imprint = Imprint(monkeypatch, capsys)
        told = imprint("tenant", "webhooks", "set", "--host", "a.example.com", "--channel",
                       "ops=https://b.example.com/T0/s", "--json").json  # fmt: skip
        assert (told["hosts"], list(told["channels"])) == (["a.example.com"], ["ops"])
        told = imprint("tenant", "webhooks", "set", "--host", "b.example.com", "--signing-secret", "--json",
                       stdin=f"{ACMES}\n").json  # fmt: skip
        assert (told["hosts"], list(told["channels"])) == (["a.example.com", "b.example.com"], ["ops"])
        assert told["signed"] is True
        assert "a.example.com" in imprint("tenant", "webhooks", "show").out
        assert imprint("tenant", "secrets", "set", "crm-token", stdin=f"{TOKEN}\n").code == 0
        listed = imprint("tenant", "secrets", "list")
        assert "crm-token" in listed.out
        assert "CANARY" not in listed.out
        assert imprint("tenant", "secrets", "delete", "crm-token").code == 0
        assert imprint("tenant", "secrets", "list", "--json").json["items"] == []
        refused = imprint("tenant", "webhooks", "set", "--host", "evil.org")
        assert (refused.code, "/hosts/2" in refused.err) == (1, True)

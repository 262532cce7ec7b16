from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from api.cli.commands.host.checks import keys
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.memory import receipts
from core.storage.db import Database
from tests.commands import served
from tests.outlets import open_to
from tests.samples import TENANT


def a_key() -> SecretStr:
    return SecretStr(base64.b64encode(os.urandom(32)).decode())


def test_a_secret_that_the_key_does_not_open_fails(settings: Settings) -> None:
    first = settings.model_copy(update={"secrets_key": a_key()})
    assert keys.secrets(Installation(first)) == "no tenant has stored any"
    open_to(first, "https://hooks.example.com", secrets={"token": "hush"})
    assert keys.secrets(Installation(first)).startswith("1 decrypted")
    other = settings.model_copy(update={"secrets_key": a_key()})
    with pytest.raises(Misconfigured, match="cannot be decrypted") as refused:
        keys.secrets(Installation(other))
    assert "hush" not in refused.value.detail


def test_a_lost_key_of_secrets_fails_and_no_new_one_is_made(settings: Settings, tmp_path: Path) -> None:
    open_to(settings.model_copy(update={"secrets_key": a_key()}), "https://x.example", secrets={"token": "hush"})
    with pytest.raises(Misconfigured, match=r"neither IMPRINT_SECRETS_KEY nor .*secrets\.key exists"):
        keys.secrets(Installation(settings.model_copy(update={"home": tmp_path})))
    assert list(tmp_path.iterdir()) == []


def test_an_api_that_signs_with_another_key_fails(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = settings.model_copy(update={"receipt_key": a_key()})
    with served(mine) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        assert keys.signers(Installation(mine)) == f"key {receipts.signer(mine).key_id}"
        with pytest.raises(Misconfigured, match="the settings here give key"):
            keys.signers(Installation(settings.model_copy(update={"receipt_key": a_key()})))


def test_a_worker_that_signs_with_another_key_is_a_warning(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, worker = (settings.model_copy(update={"receipt_key": a_key()}) for _ in range(2))
    with app.tenant(TENANT) as tx:
        about = {"scope": "user", "subject": "ada", "counts": {}, "tombs": 0, "requested_by": "test"}
        receipts.issue(tx, TENANT, receipts.signer(worker), **about)
    with served(mine) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        with pytest.raises(CheckWarning, match=f"are signed with {receipts.signer(worker).key_id}, the API has"):
            keys.signers(Installation(mine))


def test_webhooks_without_a_signature_are_a_warning() -> None:
    sending = Settings(webhook_hosts=["hooks.example.com"])
    assert keys.sends_webhooks(Installation(sending))
    assert not keys.sends_webhooks(Installation(Settings()))
    with pytest.raises(CheckWarning, match="are not signed"):
        keys.webhooks(Installation(sending))
    signing = sending.model_copy(update={"webhook_secret": SecretStr("whsec_hush")})
    assert keys.webhooks(Installation(signing)) == "those of the tenant `default` are signed"


@pytest.mark.parametrize(
    ("login", "weakness"),
    [
        ("", "IMPRINT_BROKER_URL has no password"),
        (":guest@", "IMPRINT_BROKER_URL has a password that everybody tries first"),
        ("ada:ada@", "IMPRINT_BROKER_URL has a password that everybody tries first"),
        (":hush@", "IMPRINT_BROKER_URL has a password of 4 characters"),
    ],
)
def test_a_weak_password_is_a_warning_and_not_shown(login: str, weakness: str) -> None:
    with pytest.raises(CheckWarning) as warning:
        keys.passwords(Installation(Settings(broker_url=SecretStr(f"redis://{login}127.0.0.1/0"))))
    assert str(warning.value) == weakness


def test_a_long_password_is_well() -> None:
    url = f"redis://:{'0f' * 12}@127.0.0.1/0"
    assert "12 characters or more" in keys.passwords(Installation(Settings(broker_url=SecretStr(url))))

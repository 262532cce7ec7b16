from __future__ import annotations

import base64

import pytest

from core.config import Settings
from core.storage import db
from core.storage.db import Database
from core.tenancy import secrets
from core.tenancy.vault import Vault
from tests.commands import Imprint
from tests.samples import TENANT

OLD, NEW = b"o" * 32, b"n" * 32


def test_every_secret_is_encrypted_with_the_first_key(
    imprint: Imprint, settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.tenant(TENANT) as tx:
        secrets.put(tx, Vault([OLD]), TENANT, "header", "crm", "hunter2", by="key:1")
    monkeypatch.setenv("IMPRINT_DATABASE_URL", db.owner_url(settings).render_as_string(hide_password=False))
    monkeypatch.setenv("IMPRINT_SECRETS_KEY", " ".join(base64.b64encode(key).decode() for key in (NEW, OLD)))
    assert imprint("tenant", "secrets", "reseal", "--json").json == {"resealed": 1}
    with app.tenant(TENANT) as tx:
        assert secrets.reveal(tx, lambda: Vault([NEW]), TENANT, "header", ["crm"]) == {"crm": "hunter2"}

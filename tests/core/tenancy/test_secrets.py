from __future__ import annotations

import pytest

from core.errors import Invalid, Misconfigured, NotFound
from core.storage.db import Database
from core.tenancy import secrets
from core.tenancy.vault import Vault
from tests.samples import TENANT

OLD, NEW = Vault([b"o" * 32]), Vault([b"n" * 32])
BOTH = Vault([b"n" * 32, b"o" * 32])


def test_a_secret_is_shown_without_its_value_and_revealed_to_send_it(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        stored = secrets.put(tx, OLD, TENANT, "header", "crm", "hunter2", by="key:1")
        assert "hunter2" not in str(stored.as_json())
        assert secrets.get(tx, "header", "crm").updated_by == "key:1"
        assert secrets.reveal(tx, lambda: OLD, TENANT, "header", ["crm", "unknown"]) == {"crm": "hunter2"}


def test_what_cannot_stand_in_a_header_is_refused(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        for value in ("", " spaces ", "line\nbreak", "x" * (secrets.CHARACTERS + 1)):
            with pytest.raises(Invalid):
                secrets.put(tx, OLD, TENANT, "header", "crm", value, by="key:1")


def test_after_resealing_the_old_key_is_not_needed(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        secrets.put(tx, OLD, TENANT, "header", "crm", "hunter2", by="key:1")
        assert secrets.reseal(tx, BOTH, TENANT) == 1
        assert secrets.reveal(tx, lambda: NEW, TENANT, "header", ["crm"]) == {"crm": "hunter2"}
        with pytest.raises(Misconfigured):
            secrets.reveal(tx, lambda: OLD, TENANT, "header", ["crm"])


def test_only_the_secrets_that_are_named_are_kept(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        for name in ("a", "b"):
            secrets.put(tx, OLD, TENANT, "channel", name, "log:", by="key:1")
        secrets.keep_only(tx, "channel", ["b"])
        assert [one.name for one in secrets.all_of(tx, "channel")] == ["b"]
        with pytest.raises(NotFound):
            secrets.delete(tx, "channel", "a")

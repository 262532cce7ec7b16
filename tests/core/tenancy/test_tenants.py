from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Invalid, Misconfigured, NotFound, Unauthorized
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from tests.doors import OTHER, key_of
from tests.samples import TENANT


def test_a_key_opens_its_tenant_with_its_scopes(settings: Settings, app: Database) -> None:
    who = tenants.caller(app, key_of(settings, TENANT, ("read", "publish")))
    assert (who.tenant_id, who.scopes) == (TENANT, {"read", "publish"})
    assert who.may("read")
    assert not who.may("write")


def test_admin_may_everything(settings: Settings, app: Database) -> None:
    who = tenants.caller(app, key_of(settings, TENANT))
    assert all(who.may(scope) for scope in tenants.SCOPES)


def test_only_a_hash_of_the_secret_is_stored(settings: Settings, app: Database) -> None:
    secret = key_of(settings, TENANT).rpartition(".")[2]
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT * FROM api_keys")).all()
        shown = tenants.keys(tx)
    assert secret not in str(rows)
    assert [row.secret_sha256 for row in rows] == [hashlib.sha256(secret.encode()).hexdigest()]
    assert secret not in str(shown)
    assert rows[0].secret_sha256 not in str(shown)


def test_two_keys_never_share_a_secret(settings: Settings) -> None:
    assert len({key_of(settings, TENANT).rpartition(".")[2] for _ in range(20)}) == 20


def test_a_revoked_key_opens_nothing(settings: Settings, app: Database) -> None:
    key = key_of(settings, TENANT)
    key_id = key.split(".")[2]
    with app.tenant(TENANT) as tx:
        tenants.revoke_key(tx, key_id)
        tenants.revoke_key(tx, key_id)
    with pytest.raises(Unauthorized):
        tenants.caller(app, key)


def test_another_tenants_key_cannot_be_revoked(settings: Settings, app: Database) -> None:
    key = key_of(settings, OTHER)
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        tenants.revoke_key(tx, key.split(".")[2])
    assert tenants.caller(app, key).tenant_id == OTHER


@pytest.mark.parametrize(
    "change",
    [
        lambda key: "",
        lambda key: "imp",
        lambda key: "imp...",
        lambda key: key[:-1],
        lambda key: key + "x",
        lambda key: key.upper(),
        lambda key: key.replace("imp.", "key."),
        lambda key: key.replace(TENANT, OTHER),
        lambda key: key.replace(TENANT, "' OR 1=1 --"),
        lambda key: key.replace(TENANT, "%"),
        lambda key: key.rpartition(".")[0] + ".",
        lambda key: key.rpartition(".")[0] + "." + hashlib.sha256(key.rpartition(".")[2].encode()).hexdigest(),
        lambda key: f"imp.{TENANT}.nothing.{key.rpartition('.')[2]}",
        lambda key: f"imp.{TENANT}.\x00.x",
        lambda key: f"imp.{TENANT}.é.\udce9",
    ],
)
def test_a_key_that_is_not_quite_right_opens_nothing(settings: Settings, app: Database, change: object) -> None:
    key = key_of(settings, TENANT)
    key_of(settings, OTHER)
    with pytest.raises(Unauthorized):
        tenants.caller(app, change(key))  # type: ignore[operator]


@pytest.mark.parametrize("scopes", [[], ["root"], ["read", "everything"]])
def test_a_key_has_known_scopes(app: Database, scopes: list[str]) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid):
        tenants.create_key(tx, TENANT, scopes)


@pytest.mark.parametrize("name", ["", "Acme", "a b", "-a", "a" * 64, "a.b", "ä", "a\n"])
def test_a_tenant_has_a_plain_name(app: Database, name: str) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid):
        tenants.ensure(tx, name)


def test_a_tenant_is_new_once(app: Database) -> None:
    with app.tenant("fresh") as tx:
        assert tenants.ensure(tx, "fresh")
        assert not tenants.ensure(tx, "fresh")


def test_a_role_that_owns_the_tables_is_refused(settings: Settings) -> None:
    owner = db.connect(db.owner_url(settings), 1)
    with pytest.raises(Misconfigured, match="row-level security"):
        db.require_bound(owner)
    owner.close()


def test_the_roles_of_the_service_are_bound(app: Database, queue: Database) -> None:
    db.require_bound(app)
    db.require_bound(queue)


def test_each_tenant_says_for_itself_whether_high_risk_may_run_unasked(settings: Settings, app: Database) -> None:
    key_of(settings, OTHER)
    with app.tenant(TENANT) as tx:
        tenants.allow_high_risk(tx, TENANT, allowed=True)
        assert tenants.allows_high_risk(tx, TENANT)
        with pytest.raises(NotFound):
            tenants.allow_high_risk(tx, OTHER, allowed=True)
    with app.tenant(OTHER) as tx:
        assert not tenants.allows_high_risk(tx, OTHER)
        assert not tenants.allows_high_risk(tx, "nobody")


def test_only_the_queue_role_knows_all_tenants(settings: Settings, app: Database, queue: Database) -> None:
    key_of(settings, OTHER)
    with queue.queue() as tx:
        assert tenants.names(tx) == [TENANT, OTHER]
    with app.tenant(TENANT) as tx:
        assert tenants.names(tx) == [TENANT]

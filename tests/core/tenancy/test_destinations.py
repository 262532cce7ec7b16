from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest
from pydantic import AnyUrl, SecretStr

from core.config import Settings
from core.errors import Invalid
from core.storage.db import Database, Tx
from core.tenancy import destinations, tenants, vault
from core.tenancy import secrets as tenancy_secrets
from core.tenancy.destinations import OutletChanges
from core.tenancy.tenants import DEFAULT
from tests.samples import TENANT

KEY = "whsec_" + base64.b64encode(b"k" * 24).decode()
OPERATORS = "whsec_" + base64.b64encode(b"o" * 24).decode()
OPS = "https://hooks.example.com/T0/hush"


@pytest.fixture
def given(settings: Settings) -> Settings:
    """Settings of an operator with hosts, a channel and a secret."""
    return settings.model_copy(
        update={
            "webhook_hosts": ["*.example.com", "mailto:*@example.com"],
            "webhook_secret": SecretStr(OPERATORS),
            "notify_channels": {"ops": AnyUrl(OPS)},
        }
    )


@pytest.fixture
def tx(app: Database) -> Iterator[Tx]:
    with app.tenant(TENANT) as tx:
        yield tx


@pytest.fixture
def operators(app: Database) -> Iterator[Tx]:
    """A transaction of the default tenant, the operator's own."""
    with app.tenant(DEFAULT) as tx:
        tenants.ensure(tx, DEFAULT)
        yield tx


def put(tx: Tx, settings: Settings, **wanted: object) -> None:
    destinations.put(tx, settings, TENANT, OutletChanges(**wanted), by="key:1")  # type: ignore[arg-type]


def test_queues_are_the_operators_to_give(settings: Settings) -> None:
    given = settings.model_copy(update={"celery_queues": {"acme": ["billing"], "default": ["mine"]}})
    assert [destinations.queues(given, name) for name in ("acme", "default", "globex")] == [["billing"], ["mine"], []]
    plain = settings.model_copy(update={"celery_queues": ["mine"]})
    assert [destinations.queues(plain, name) for name in ("acme", "default")] == [[], ["mine"]]


def test_what_the_settings_name_is_the_operators_own_until_another_tenant_chooses(
    given: Settings, tx: Tx, operators: Tx
) -> None:
    own, others = destinations.of(operators, given, DEFAULT), destinations.of(tx, given, TENANT)
    assert (list(own.hosts), list(own.channels)) == (given.webhook_hosts, ["ops"])
    assert (list(others.hosts), list(others.channels)) == ([], [])
    assert destinations.channel(operators, given, DEFAULT, "ops") == OPS
    assert destinations.channel(tx, given, TENANT, "ops") is None
    assert destinations.signing_keys(operators, given, DEFAULT) == OPERATORS
    assert destinations.signing_keys(tx, given, TENANT) is None


def test_what_is_not_given_stays_as_it_is(given: Settings, tx: Tx) -> None:
    put(tx, given, hosts=["a.example.com", "a.example.com"], channels={"ops": OPS}, signing=KEY)
    put(tx, given, hosts=["b.example.com"])
    put(tx, given)
    found = destinations.of(tx, given, TENANT)
    assert (list(found.hosts), list(found.channels)) == (["b.example.com"], ["ops"])
    assert destinations.channel(tx, given, TENANT, "ops") == OPS
    assert destinations.signing_keys(tx, given, TENANT) == KEY


def test_a_channel_without_an_address_keeps_the_one_it_has_and_one_left_out_is_gone(given: Settings, tx: Tx) -> None:
    put(tx, given, channels={"ops": OPS, "team": "mailto:team@example.com"})
    put(tx, given, channels={"ops": None})
    assert list(destinations.of(tx, given, TENANT).channels) == ["ops"]
    assert destinations.channel(tx, given, TENANT, "ops") == OPS
    with pytest.raises(Invalid, match="has no address to keep"):
        put(tx, given, channels={"ops": None, "team": None})


def test_an_empty_signing_secret_ends_the_signing(given: Settings, tx: Tx) -> None:
    put(tx, given, signing=f"  {KEY}   {OPERATORS} ")
    assert destinations.signing_keys(tx, given, TENANT) == f"{KEY} {OPERATORS}"
    put(tx, given, signing="")
    assert destinations.signing_keys(tx, given, TENANT) is None
    assert destinations.view(tx, given, TENANT)["signed"] is False


def test_what_the_operator_takes_back_is_in_force_no_more_and_comes_back_with_it(given: Settings, tx: Tx) -> None:
    put(tx, given, hosts=["a.example.com"], channels={"ops": OPS})
    narrowed = given.model_copy(update={"webhook_hosts": []})
    assert list(destinations.of(tx, narrowed, TENANT).hosts) == []
    assert destinations.channel(tx, narrowed, TENANT, "ops") is None
    assert list(destinations.of(tx, given, TENANT).hosts) == ["a.example.com"]
    assert destinations.channel(tx, given, TENANT, "ops") == OPS


def test_every_fault_is_told_at_once_and_nothing_is_written(given: Settings, tx: Tx) -> None:
    with pytest.raises(Invalid) as refused:
        put(
            tx,
            given,
            hosts=["a.example.com", "evil.org", "no host"],
            channels={"x": "https://evil.org/"},
            signing="hush",
        )
    pointers = [problem.pointer for problem in refused.value.problems]
    assert pointers == ["/hosts/1", "/hosts/2", "/channels/x", "/signing_secret"]
    assert destinations.view(tx, given, TENANT)["updated_by"] is None


def test_a_view_says_who_changed_it_and_shows_no_secret(given: Settings, tx: Tx) -> None:
    put(tx, given, hosts=[], channels={"ops": OPS, "team": "mailto:team@example.com"}, signing=KEY)
    shown = destinations.view(tx, given, TENANT)
    assert (shown["updated_by"], shown["signed"]) == ("key:1", True)
    assert shown["channels"]["ops"] == "https://hooks.example.com/…"
    assert "team" not in shown["channels"]["team"]
    assert "hush" not in str(shown)
    assert KEY not in str(shown)


def test_headers_that_a_rule_may_use_are_named_and_not_told(given: Settings, tx: Tx) -> None:
    sealer = vault.load(given)
    tenancy_secrets.put(tx, sealer, TENANT, "header", "crm", "Bearer hush", by="key:1")
    assert list(destinations.of(tx, given, TENANT).secrets) == ["crm"]
    assert "hush" not in str(destinations.view(tx, given, TENANT))


@pytest.mark.parametrize("length", [24, 64])
def test_a_key_has_24_to_64_random_bytes(length: int) -> None:
    assert destinations.signing_fault(base64.b64encode(b"x" * length).decode()) is None
    assert destinations.signing_fault("whsec_" + base64.b64encode(b"x" * length).decode()) is None


@pytest.mark.parametrize(
    "keys",
    [
        "",
        "hush",
        "whsec_!!!!",
        base64.b64encode(b"x" * 23).decode(),
        base64.b64encode(b"x" * 65).decode(),
        " ".join([KEY] * 4),
        f"{KEY} hush",
    ],
)
def test_what_cannot_sign_says_why(keys: str) -> None:
    assert "must be" in (destinations.signing_fault(keys) or "")

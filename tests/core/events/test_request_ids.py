from __future__ import annotations

from dataclasses import replace

from core.events.request_ids import HEX_DIGITS, Requests

KEYED = Requests(b"secret", "acme", "http", "k1")


def test_a_request_that_is_sent_again_has_the_same_id() -> None:
    assert KEYED.id_of("ada") == replace(KEYED).id_of("ada")
    assert len(KEYED.id_of("ada")) == len("stated-") + HEX_DIGITS


def test_no_two_users_doors_tenants_places_or_secrets_share_an_id() -> None:
    others = [replace(KEYED, via="mcp"), replace(KEYED, tenant_id="other"), replace(KEYED, secret=b"x")]
    ids = [KEYED.id_of("ada"), KEYED.id_of("bob"), KEYED.id_of("ada", 1), *(one.id_of("ada") for one in others)]
    assert len(set(ids)) == 6


def test_without_a_key_every_request_is_new() -> None:
    keyless = replace(KEYED, key=None)
    assert keyless.id_of("ada") != keyless.id_of("ada")


def test_a_fingerprint_depends_on_what_is_asked_and_not_on_the_order_of_its_fields() -> None:
    assert KEYED.fingerprint({"a": 1, "b": 2}) == KEYED.fingerprint({"b": 2, "a": 1})
    assert KEYED.fingerprint({"a": 1}) != KEYED.fingerprint({"a": 2})

from __future__ import annotations

from tests.commands import Imprint


def test_a_secret_is_stored_listed_without_its_value_and_deleted(imprint: Imprint) -> None:
    assert '{"secret": "crm-token"}' in imprint("tenant", "secrets", "set", "crm-token", stdin="hunter2\n").err
    listed = imprint("tenant", "secrets", "list")
    assert "crm-token" in listed.out
    assert "hunter2" not in listed.out
    assert imprint("tenant", "secrets", "delete", "crm-token").code == 0
    assert imprint("tenant", "secrets", "list", "--json").json["items"] == []


def test_an_empty_secret_is_refused(imprint: Imprint) -> None:
    refused = imprint("tenant", "secrets", "set", "crm-token", stdin=" \n")
    assert refused.code == 1
    assert "No value was given" in refused.err


def test_where_rules_may_send_is_shown_and_a_channel_needs_an_address(imprint: Imprint) -> None:
    shown = imprint("tenant", "webhooks", "show", "--json").json
    assert shown["tenant"] == "acme"
    assert "signed" in imprint("tenant", "webhooks", "show").out
    assert imprint("tenant", "webhooks", "set", "--channel", "ops").code == 2


def test_a_host_that_the_operator_does_not_allow_is_refused(imprint: Imprint) -> None:
    assert imprint("tenant", "webhooks", "set", "--host", "hooks.example.com").code == 1

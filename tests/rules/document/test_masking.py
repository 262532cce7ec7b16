from __future__ import annotations

import pytest

from core.settings.secret_names import MASK
from rules.document import masking


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("Authorization", "abc", True),
        ("X-Api-Key", "abc", True),
        ("X-Anything", "Bearer abc", True),
        ("Idempotency-Key", "abc", False),
        ("Accept", "text/plain", False),
        ("Authorization", "", False),
        ("Authorization", {"secret": "shop"}, False),
    ],
)
def test_a_header_is_a_credential_by_its_name_or_its_value(name: str, value: object, secret: bool) -> None:
    assert masking.is_credential(name, value) is secret


def test_a_rule_is_shown_without_the_credentials_in_its_headers() -> None:
    rule = {"name": "r", "actions": [{"headers": {"Authorization": "abc", "Accept": "x"}}, {"url": "u"}, "no action"]}
    shown = masking.document(rule)
    assert shown["actions"] == [{"headers": {"Authorization": MASK, "Accept": "x"}}, {"url": "u"}, "no action"]
    assert rule["actions"][0] == {"headers": {"Authorization": "abc", "Accept": "x"}}


def test_a_document_without_a_list_of_actions_is_shown_as_it_is() -> None:
    assert masking.document({"actions": None}) == {"actions": None}

from __future__ import annotations

import pytest

from api.cli import endpoint_probe
from core.errors import Misconfigured
from tests.ports import free_port

SETTING = "IMPRINT_LLM_BASE_URL"


def test_an_endpoint_that_does_not_answer_is_named_without_its_password() -> None:
    url = f"http://ada:hunter2@127.0.0.1:{free_port()}/v1"
    with pytest.raises(Misconfigured, match="does not answer") as refused:
        endpoint_probe.probe(url, "", SETTING)
    assert "hunter2" not in refused.value.detail
    assert SETTING in refused.value.detail


def test_what_is_no_address_does_not_answer_either() -> None:
    with pytest.raises(Misconfigured, match="does not answer"):
        endpoint_probe.probe("http://[", "", SETTING)

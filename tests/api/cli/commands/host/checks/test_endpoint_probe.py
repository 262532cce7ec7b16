from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from api.cli.commands.host.checks import endpoint_probe
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


def test_a_key_of_the_environment_is_not_sent_to_an_address_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setenv("IMPRINT_LLM_API_KEY", "sk-mine")
    keys: list[str | None] = []

    def answer(url: str, headers: dict[str, str], timeout: float) -> httpx.Response:
        keys.append(headers.get("Authorization"))
        return httpx.Response(401 if len(keys) == 1 else 200, request=httpx.Request("GET", url))

    monkeypatch.setattr(httpx, "get", answer)
    (tmp_path / ".env").write_text(f"{SETTING}=http://llm.example/v1\n")
    assert "is not sent" in endpoint_probe.probe("http://llm.example/v1", "sk-mine", SETTING)
    monkeypatch.setenv(SETTING, "http://llm.example/v1")
    assert endpoint_probe.probe("http://llm.example/v1", "sk-mine", SETTING).endswith(" answers")
    assert keys == [None, "Bearer sk-mine"]

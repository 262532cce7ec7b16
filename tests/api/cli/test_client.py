from __future__ import annotations

import json

import pytest

from tests.commands import Imprint
from tests.ports import free_port


def test_without_a_server_it_fails_in_one_line_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IMPRINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("IMPRINT_API_KEY", "key")
    said = Imprint(monkeypatch, capsys)("rules", "list")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "imprint up" in said.err


def test_a_key_that_nobody_made_is_refused(imprint: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_API_KEY", "nobody's")
    said = imprint("rules", "list")
    assert (said.code, "no valid key" in said.err) == (1, True)


def test_with_json_an_error_is_json_on_standard_error(imprint: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = imprint("memory", "show", "01a201d5-e5cb-7040-9e09-b43e1d5743a6", "--json")
    assert (missing.code, missing.out) == (1, "")
    assert "There is no memory" in json.loads(missing.err)["error"]["detail"]
    wrong = imprint("memory", "show", "01a", "--json")
    assert wrong.code == 2
    assert "last four or more characters" in json.loads(wrong.err)["error"]["detail"]
    monkeypatch.setenv("IMPRINT_HTTP_PORT", "many")
    assert "IMPRINT_HTTP_PORT" in json.loads(imprint("rules", "list", "--json").err)["error"]["detail"]


def test_an_error_is_a_sentence_and_names_no_class(imprint: Imprint) -> None:
    said = imprint("memory", "show", "01a201d5-e5cb-7040-9e09-b43e1d5743a6")
    assert said.err.startswith("Error: There is no memory")

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Imprint


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Imprint:
    """The program, in a folder without settings."""
    monkeypatch.chdir(tmp_path)
    return Imprint(monkeypatch, capsys)


def test_right_settings_are_said_to_be_right(command: Imprint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_EMBEDDING", "hash")
    said = command("config", "check")
    assert (said.code, said.out) == (0, "The settings are right.\n")


def test_a_wrong_value_fails_and_a_misspelt_name_is_a_warning(
    command: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPRINT_LEESE_SECONDS", "5")
    assert "IMPRINT_LEASE_SECONDS" in command("config", "check", "--json").json["warnings"][0]
    monkeypatch.setenv("IMPRINT_LEASE_SECONDS", "soon")
    said = command("config", "check", "--json")
    assert said.code == 1
    assert "'soon'" in said.json["errors"][0]


def test_each_value_is_shown_with_its_source_and_secrets_are_masked(
    command: Imprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPRINT_LEASE_SECONDS", "7")
    monkeypatch.setenv("IMPRINT_WEBHOOK_SECRET", "whsec_aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVy")
    said = command("config", "show", "--json")
    items = {one["name"]: one for one in said.json["items"]}
    assert items["IMPRINT_LEASE_SECONDS"]["source"] == "the environment"
    assert items["IMPRINT_LEASE_SECONDS"]["value"] == 7
    assert items["IMPRINT_RETRY_BASE_SECONDS"]["source"] == "default"
    assert "whsec_" not in json.dumps(said.json)

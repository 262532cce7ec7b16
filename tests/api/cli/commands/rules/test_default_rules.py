"""`imprint rules defaults`: the packaged rules, without a service."""

from __future__ import annotations

import pytest

from rules.registry import defaults
from tests.commands import Imprint


def test_every_default_rule_is_listed_with_its_purpose_and_described(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    imprint = Imprint(monkeypatch, capsys)
    listed = imprint("rules", "defaults")
    lines = listed.out.splitlines()
    assert listed.code == 0, listed.err
    assert [line.split()[0] for line in lines] == sorted(str(one["name"]) for one in defaults.load())
    assert max(map(len, lines)) <= 80
    assert "Pinned memories and instructions never fade." in " ".join(
        imprint("rules", "defaults", "forget_nightly").out.split()
    )
    assert len(imprint("rules", "defaults", "--json").json["items"]) == len(lines)

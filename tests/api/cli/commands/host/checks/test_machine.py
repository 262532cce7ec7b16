from __future__ import annotations

import sys
from pathlib import Path

import pytest

from api.cli.commands.host.checks import machine
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack import host, run_files
from core.config import Settings
from core.errors import Misconfigured


def on(home: Path, **settings: object) -> Installation:
    return Installation(Settings(home=home, **settings))  # type: ignore[arg-type] - as the environment gives them


def test_a_python_that_is_too_old_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 9))
    with pytest.raises(Misconfigured, match=r"3\.10\.9; Imprint needs 3\.11"):
        machine.python(on(tmp_path))


def test_keys_and_passwords_that_others_may_read_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_files.password(tmp_path, "postgres", kept=None)
    (tmp_path / "receipt.key").touch(mode=0o600)
    assert "for their owner alone" in machine.files(on(tmp_path))
    (tmp_path / "secrets.json").chmod(0o640)
    with pytest.raises(Misconfigured, match=r"others may read .*secrets\.json$"):
        machine.files(on(tmp_path))


def test_an_env_file_that_others_may_read_fails_if_it_holds_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings_file = tmp_path / ".env"
    settings_file.write_text("OTHER=1\n")
    settings_file.chmod(0o644)
    machine.files(on(tmp_path))
    settings_file.write_text("IMPRINT_LOG_LEVEL=info\n")
    with pytest.raises(Misconfigured, match=r"\.env"):
        machine.files(on(tmp_path))


def test_the_disk_of_the_mirror_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installation = on(tmp_path / "home", mirror_dir=tmp_path / "mirror")
    assert str(tmp_path / "mirror") in machine.disk(installation)
    monkeypatch.setattr(machine, "COMFORTABLE_DISK_BYTES", 1 << 60)
    with pytest.raises(CheckWarning, match="enough to start, not to stay"):
        machine.disk(installation)
    monkeypatch.setattr(host, "FREE_DISK_BYTES", 1 << 60)
    with pytest.raises(Misconfigured, match="too little to start"):
        machine.disk(installation)

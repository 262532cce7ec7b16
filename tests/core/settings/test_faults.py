from __future__ import annotations

from pathlib import Path

import pytest

from core.config import Settings
from core.errors import Misconfigured
from core.settings import faults

FIELDS = Settings.model_fields


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_that_is_not_there_gives_nothing_and_a_broken_one_is_named() -> None:
    assert faults.toml() == {}
    Path("imprint.toml").write_text("lease_seconds = ")
    with pytest.raises(Misconfigured, match=r"imprint\.toml is not valid TOML"):
        faults.toml()
    Path("imprint.toml").write_bytes(b"x = '\xff'")
    with pytest.raises(Misconfigured, match="not UTF-8 at byte 5"):
        faults.toml()


def test_the_environment_wins_over_env_file_and_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults.origin("lease_seconds") is None
    Path("imprint.toml").write_text("# a comment\nlease_seconds = 5\n")
    assert faults.origin("lease_seconds") == "imprint.toml, line 2"
    Path(".env").write_text("X=1\nexport IMPRINT_LEASE_SECONDS=5\n")
    assert faults.origin("lease_seconds") == ".env, line 2"
    monkeypatch.setenv("IMPRINT_LEASE_SECONDS", "5")
    assert faults.origin("lease_seconds") == "the environment"


def test_a_misspelt_name_is_answered_with_the_one_that_is_meant() -> None:
    Path("imprint.toml").write_text("leese_seconds = 5\n[own]\nx = 1\n")
    Path(".env").write_text("IMPRINT_LEASE_SECOND=5\nIMPRINT_APP_PASSWORD=x\n")
    said = "\n".join(faults.unknown(FIELDS))
    assert "'leese_seconds' in imprint.toml, line 1, is no setting; did you mean lease_seconds?" in said
    assert "IMPRINT_LEASE_SECOND in .env, line 1 is no setting; did you mean IMPRINT_LEASE_SECONDS?" in said
    assert "The table 'own'" in said
    assert "APP_PASSWORD" not in said


def test_a_secret_and_a_login_in_a_url_are_not_shown() -> None:
    assert faults.is_secret("secrets_key", FIELDS)
    assert not faults.is_secret("lease_seconds", FIELDS)
    assert "hunter2" not in faults.wrong("secrets_key", FIELDS, "hunter2", "must be a key")
    assert faults.printable("postgresql://ada:hunter2@db/imprint") == f"'postgresql://{faults.MASK}@db/imprint'"
    said = faults.wrong("lease_seconds", FIELDS, "soon", "must be a number")
    assert said == "IMPRINT_LEASE_SECONDS is 'soon', but must be a number."

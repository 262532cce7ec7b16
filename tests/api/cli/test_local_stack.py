from __future__ import annotations

from pathlib import Path

import pytest

from api.cli import local_stack
from core.config import ClientSettings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings for its stack."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("IMPRINT_HOME", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / ".env").write_text("IMPRINT_HOME=data\n")
    return tmp_path


def test_commands_in_the_folder_of_a_stack_use_its_home(project: Path) -> None:
    local_stack.up()
    assert ClientSettings().home == project / "data"


def test_a_home_that_the_environment_names_is_not_noted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_HOME", str(project / "data"))
    local_stack.up()
    assert not (project / "config").exists()


def test_where_the_users_folder_cannot_be_written_it_starts_and_says_what_to_set(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "config").write_text("a file")
    local_stack.up()
    assert f"set IMPRINT_HOME={project / 'data'} for other commands" in capsys.readouterr().err

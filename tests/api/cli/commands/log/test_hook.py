"""`imprint hook`: it reports with the folder of the repository, and never stops an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli.commands.log import hook
from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.commands import served
from tests.samples import TENANT


def sent(name: str, **more: Any) -> Json:
    return {"session_id": "s1", "cwd": "/home/ada/imprint", "hook_event_name": name, **more}


@pytest.fixture
def place(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with served(settings) as (url, key):
        monkeypatch.setenv("IMPRINT_URL", url)
        monkeypatch.setenv("IMPRINT_API_KEY", key)
        yield


def run_hook(told: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "api.cli.main", "hook", *words]
    return subprocess.run(command, input=told, capture_output=True, text=True, check=False)


def test_the_command_reports_with_the_folder_of_the_repository(place: None, app: Database, tmp_path: Path) -> None:
    assert place is None
    inner = tmp_path / "Shop" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "Shop" / ".git").mkdir()
    told = json.dumps(sent("UserPromptSubmit", prompt="I like tea.") | {"cwd": str(inner)})
    done = run_hook(told, "--user", "ada", "--agent", "copilot-cli")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with app.tenant(TENANT) as tx:
        found = tx.exec_driver_sql("SELECT session_id, group_id FROM messages").one()
    assert tuple(found) == ("copilot-cli/s1", "project:shop")


@pytest.mark.parametrize("told", ["", "[]", "nonsense", '{"session_id": 1}'])
def test_the_command_never_stops_an_agent(place: None, told: str) -> None:
    assert place is None
    done = run_hook(told, "--user", "ada")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("imprint hook: ")


def test_the_command_says_that_the_server_is_away_and_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("IMPRINT_API_KEY", "none")
    done = run_hook(json.dumps(sent("SessionStart")), "--user", "ada")
    assert (done.returncode, done.stdout) == (0, "")
    assert "No answer" in done.stderr


def test_a_folder_outside_of_repositories_has_none(tmp_path: Path) -> None:
    assert hook.repository(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert hook.repository(tmp_path / "not" / "there") == tmp_path, "as in a worktree, and where a folder was deleted"

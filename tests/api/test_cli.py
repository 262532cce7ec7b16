"""The program itself: what it lists, what it loads, how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from api.cli.main import COMMANDS
from tests.commands import Imprint
from tests.production import free_port

OVERVIEW = """
import contextlib, sys
sys.argv = ["imprint", "--help"]
from api.cli import main
with contextlib.suppress(SystemExit):
    main.main()
heavy = {"sqlalchemy", "fastapi", "openai", "numpy", "httpx", "celery"} & sys.modules.keys()
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""


def test_the_overview_names_every_command_and_loads_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", OVERVIEW], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, (_, line) in COMMANDS.items():
        assert f" {name} " in done.stdout
        assert line.split(",", maxsplit=1)[0].split(";")[0][:40] in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there_and_says_how_it_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Imprint(monkeypatch, capsys)(name, "--help")
    assert said.code == 0
    assert f"imprint {name}" in said.out


def test_a_command_that_is_not_there_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Imprint(monkeypatch, capsys)("serach")
    assert said.code == 2
    assert "Did you mean 'search'" in said.err


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
    assert (said.code, "No valid key" in said.err) == (1, True)

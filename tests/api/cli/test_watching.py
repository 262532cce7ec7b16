"""`imprint up` is a program with little in memory; another process reads the settings for it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from api.cli.local_stack import wanted_stack
from api.cli.watching import APP, ROUTER, WantedStack
from core.config import Settings

UP = [sys.executable, "-m", "api.cli.main", "up", "--quiet"]


def test_what_is_to_run_is_read_as_it_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(home=tmp_path, database_url="postgresql://owner:secret@elsewhere/imprint")
    stack = wanted_stack(settings, quiet=True, small=True)
    stack.write()
    read = WantedStack.read(capsys.readouterr().out.encode())
    assert asdict(read) == json.loads(json.dumps(asdict(stack)))
    assert read.database_url == "postgresql://owner:secret@elsewhere/imprint"
    assert {child.name: list(child.roles) for child in read.children} == {"api": [APP], "workers": [APP, ROUTER]}


def ended(*words: str, **own: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*UP, *words], env={**os.environ, **own}, capture_output=True, text=True, check=False)


def test_a_wrong_setting_or_option_ends_the_command_as_any_other_one(tmp_path: Path) -> None:
    wrong = ended(IMPRINT_HOME=str(tmp_path), IMPRINT_HTTP_PORT="many")
    assert (wrong.returncode, wrong.stdout, len(wrong.stderr.splitlines())) == (1, "", 1)
    assert "IMPRINT_HTTP_PORT" in wrong.stderr
    unknown = ended("--large", IMPRINT_HOME=str(tmp_path))
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "No such option: --large" in unknown.stderr


def test_a_fault_is_one_line_and_the_exit_code_of_the_command(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = ended(IMPRINT_HOME=str(tmp_path), IMPRINT_HTTP_PORT=str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("port taken: something listens on 127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1


def test_the_process_that_watches_holds_no_library_for_commands_settings_or_the_database() -> None:
    heavy = "print(sorted({'pydantic', 'typer', 'rich', 'psycopg', 'sqlalchemy', 'structlog'} & set(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-c", f"import sys, api.cli.watching; {heavy}"], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"

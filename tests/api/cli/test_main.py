"""Where a command begins: what `imprint up` will need is imported by another process while it reads the settings."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from api.cli import main
from api.stack import ahead
ahead.begin = lambda modules, env: print("begun with", len(modules), "modules and", repr(env["IMPRINT_DATABASE_URL"]))
sys.argv = ["imprint", *sys.argv[1:]]
main.main()
"""


def told(*words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "IMPRINT_HTTP_PORT": "many"}
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], env=env, capture_output=True, text=True, check=False)


def test_the_stack_begins_before_its_settings_are_read() -> None:
    done = told("up")
    assert done.stdout.startswith("begun with ")
    assert done.stdout.rstrip().endswith("modules and ''"), "no URL is for it"
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "IMPRINT_HTTP_PORT" in done.stderr


@pytest.mark.parametrize("words", [["up", "--help"], ["--help"], ["--version"], ["config", "check"]])
def test_nothing_else_begins_one(words: list[str]) -> None:
    assert "begun with" not in told(*words).stdout


def test_where_a_command_begins_no_library_is_loaded() -> None:
    heavy = "print(sorted({'typer', 'pydantic', 'subprocess', 'json', 'dataclasses'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys, api.cli.main; {heavy}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"

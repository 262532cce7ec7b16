"""Where a command begins."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from api.cli import watching
from api.cli.main import main
watching.main = lambda: print("watches")
sys.argv = ["imprint", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(
    ("words", "watches"), [("up", True), ("up --small", True), ("up --help", False), ("--version", False)]
)
def test_the_stack_is_watched_by_a_program_of_its_own(words: str, watches: bool) -> None:
    command = [sys.executable, "-c", PROGRAM, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout == "watches\n") is watches


def test_where_a_command_begins_no_library_is_loaded() -> None:
    heavy = "print(sorted({'typer', 'pydantic', 'subprocess', 'json', 'dataclasses'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys, api.cli.main; {heavy}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from api.stack.screen import Screen


def test_a_quiet_screen_shows_complaints_only(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(quiet=True)
    screen.say("All is well.")
    screen.show([], "http://127.0.0.1:8070", Path("/home"))
    screen.complain("It does not start.")
    assert tuple(capsys.readouterr()) == ("", "It does not start.\n")


def test_another_screen_tells_how_things_go(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(quiet=False)
    screen.say("All is well.")
    screen.show([], "http://127.0.0.1:8070", Path("/home"))
    assert capsys.readouterr().out.startswith("All is well.\n")


def test_a_quiet_stack_does_not_load_what_draws() -> None:
    code = "import sys; from api.stack.screen import Screen; Screen(quiet=True).say('x'); print('rich' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"

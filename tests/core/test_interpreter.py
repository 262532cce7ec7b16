from __future__ import annotations

import sys

from core import interpreter


def test_a_command_line_is_known_by_its_beginning() -> None:
    assert interpreter.module_words(interpreter.module("workers", "clock")) == ["workers", "clock"]
    assert interpreter.module_words([sys.executable, "-c", "pass"]) is None
    assert interpreter.module_words(interpreter.script("launch.py")) is None


def test_neither_form_looks_into_the_working_folder() -> None:
    assert interpreter.module("workers")[1] == "-P"
    assert interpreter.script("launch.py")[1] == "-I"

from __future__ import annotations

import io
import json

from api import terminal
from api.terminal import SafeConsole


def test_what_a_terminal_obeys_or_hides_is_shown() -> None:
    assert terminal.visible("a\x1b[31mb\x7f\u202ec\td") == "a␛[31mb␡‹U+202E›c\td"


def test_markup_from_elsewhere_stays_text() -> None:
    out = io.StringIO()
    SafeConsole(file=out, width=80).print(terminal.escape("[red]x[/red]\x07"))
    assert out.getvalue() == "[red]x[/red]␇\n"


def test_a_console_replaces_what_was_not_escaped() -> None:
    out = io.StringIO()
    SafeConsole(file=out, width=80).print("a\u202eb")
    assert "\u202e" not in out.getvalue()


def test_json_says_the_same_without_a_control_character() -> None:
    value = {"name": "a\u202eb\U000e0041", "n": 1}
    written = terminal.as_json(value)
    assert "\u202e" not in written
    assert json.loads(written) == value

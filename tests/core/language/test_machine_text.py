from __future__ import annotations

import pytest

from core.language import sentences
from core.language.machine_text import is_machine_text


@pytest.mark.parametrize(
    "line",
    [
        "const limit = 20",
        "total = count(rows);",
        "SELECT id FROM plants WHERE height > 3",
        "export default plants",
        "def water(plant): pass",
        "TypeError: 'Plant' object is not callable",
        "    at Garden.open (garden.js:12:7)",
        "2026-05-01 12:00:01 gardener started",
        "[ERROR] no water",
        "`open the gate`",
        "}",
    ],
)
def test_code_errors_and_logs_are_machine_text(line: str) -> None:
    assert is_machine_text(line)
    assert sentences.split(f"I live in Porto.\n{line}\nI have a cat.") == ["I live in Porto.", "I have a cat."]


@pytest.mark.parametrize(
    "line",
    [
        "Select the best from these three.",
        "I live in Porto; my sister lives in Rome.",
        "The error is mine: I forgot the gate.",
        "Never use the `any` type.",
        "Update the garden set, please.",
        "Let us meet at 12:00.",
        "我的邮箱密码换了;下周再说",
    ],
)
def test_sentences_are_not(line: str) -> None:
    assert not is_machine_text(line)

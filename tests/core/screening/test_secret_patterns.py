"""What is searched first passes every text that the patterns behind it would find something in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.screening import secret_patterns as shapes
from core.screening import secret_scanner
from core.screening.secret_scanner import BETWEEN

PATTERNS: dict[str, Any] = {
    **{f"{shape.label} {place}": shape.pattern for place, shape in enumerate(shapes.SHAPES)},
    **{f"password {place}": pattern for place, pattern in enumerate(shapes.PASSWORDS)},
    "login": shapes.LOGIN,
    "called": shapes.CALLED,
    "passphrase": shapes.PASSPHRASE,
    "address": shapes.ADDRESSES,
    "key": shapes.KEY,
    "code": shapes.CODES,
    "account": shapes.IBAN,
}


def in_python(pattern: str) -> re.Pattern[str]:
    """The same pattern for Python's module, which knows another name of the end, and flags at the beginning alone."""
    return re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_text_that_a_pattern_matches_is_hinted_at(name: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.from_regex(in_python(PATTERNS[name].pattern)), st.text(max_size=5))
    def holds(said: str, beside: str) -> None:
        plain = secret_scanner._plain(said)
        if PATTERNS[name].search(plain):
            assert shapes.HINT.search(plain), said
            joined = secret_scanner._plain(BETWEEN.join(["role", said, beside]))
            assert shapes.HINT.search(joined), said
            assert shapes.ANY.search(joined), said

    holds()


@settings(max_examples=200, deadline=None)
@given(st.from_regex(shapes._CARD))
def test_so_is_what_may_be_a_card_number(said: str) -> None:
    if shapes.ANY.search(said):
        assert shapes.HINT.search(said)

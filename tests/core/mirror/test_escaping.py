from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from core.mirror import escaping
from tests.core.mirror.samples import ANY, NASTY


@given(st.one_of(ANY, NASTY))
@example("C:\\new\\table")
@example("ends in a backslash\\")
@example("\\\n")
@example("{importance=0.8}")
def test_a_statement_survives_being_one_line(content: str) -> None:
    text = escaping.escape(content)
    assert "\n" not in text
    assert text == text.strip()
    assert escaping.unescape(text) == content

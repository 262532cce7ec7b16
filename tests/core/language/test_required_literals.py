from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.language.required_literals import pays, required_literals


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\bused to\b.*\bbut\b", {"used to"}),
        (r"\b(?:moved|relocated) to\b", {"moved", "relocated"}),
        (r"\b(?:quit|gave up) my job\b", {" my job"}),
        (r"(?<=since )\w+", {"since "}),
        (r"\w+(?= years old)", {" years old"}),
        (r"[“”]", {"“", "”"}),
        (r"(?:very )?tired", {"tired"}),
        (r"(?:utterly )+ill", {"utterly "}),
        (r"(?:very )*\w+", set()),
        (r"\w+(?! years old)", set()),
        (r"tea|\d+", set()),
        (r"(tea)\1", {"tea"}),
    ],
)
def test_the_rarest_literals_that_every_match_has_are_found(pattern: str, literals: set[str]) -> None:
    assert required_literals(pattern) == literals


def test_literals_that_most_sentences_have_do_not_pay() -> None:
    assert pays(frozenset({"allergic"}))
    assert not pays(frozenset({" "}))
    assert not pays(frozenset({"a", "e"}))
    assert not pays(frozenset())


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(re.error):
        required_literals("(")


WORDS = st.sampled_from(["tea", "Te", "a+", "[ab]", r"\b", " ", ".", r"\d", "'"])
PATTERNS = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda ones: f"(?:{'|'.join(ones)})"),
        inner.map(lambda one: f"(?:{one})?"),
        inner.map(lambda one: f"(?:{one}){{1,2}}"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(PATTERNS, st.text("tTeEaA b1'.", max_size=12), st.sampled_from([0, re.IGNORECASE]))
def test_each_match_has_one_of_them(pattern: str, text: str, flags: int) -> None:
    found, literals = re.compile(pattern, flags).search(text), required_literals(pattern, flags)
    if found and literals:
        folded = text.lower() if flags else text
        assert any((one.lower() if flags else one) in folded for one in literals)

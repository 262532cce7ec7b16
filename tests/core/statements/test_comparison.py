from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from core.language.lexicon import FORMS, HAN, HINTS
from core.statements.comparison import _one_form

WORDS = sorted(
    {word for pattern, _ in FORMS for word in re.findall(r"[a-z]+|[\u4e00-\u9fff]+", pattern.pattern)}
    | set("ada's James' don't can't won't I'd I'm they've WOULD like to Wants every Single Day said shares".split())
)


@given(st.lists(st.sampled_from([*WORDS, "tea", "Bob", "3", ",", "。"]), max_size=12))
def test_a_text_without_a_hint_holds_no_other_way_of_saying_the_same(words: list[str]) -> None:
    text = " ".join(words)
    hinted = any(hint in text.casefold() for hint in HINTS) or HAN.search(text)
    assert hinted or not any(pattern.search(text) for pattern, _ in FORMS)


def test_every_way_of_saying_the_same_is_taken() -> None:
    assert (
        _one_form("Ada cannot swim, and James' dog isn't allowed") == "Ada can not swim, and James dog is not allowed"
    )
    assert _one_form("She GAVE up tea") == "She nolonger tea"
    assert _one_form("她不再喝茶") == "她 nolonger 喝茶"
    assert _one_form("nothing of it") == "nothing of it"

from __future__ import annotations

from core.screening import masking

KEY = "AKIAIOSFODNN7EXAMPLE"


def test_a_secret_that_one_text_gives_away_is_removed_from_all_of_them() -> None:
    masked = masking.mask({"password": "Xq7!pLw9zz", "note": "log in with Xq7!pLw9zz today", "count": 3})
    assert "Xq7!pLw9zz" not in str(masked)
    assert masked["note"].startswith("log in with [redacted: ")
    assert masked["count"] == 3


def test_names_of_fields_and_nested_lists_are_masked_too() -> None:
    masked = masking.mask([{f"{KEY}": [f"the key is {KEY}"]}])
    assert KEY not in str(masked)


def test_the_id_of_an_api_key_is_no_secret() -> None:
    author = {"by": "key:0123456789abcdef0123456789abcdef"}
    assert masking.mask(author) == author


def test_only_whole_words_and_no_short_ones_are_replaced() -> None:
    assert masking.without("1234 and 12345", {"1234": "pin"}) == "[redacted: pin] and 12345"
    assert masking.without("abc", {"abc": "password"}) == "abc"
    assert masking.without("as it was", {}) == "as it was"

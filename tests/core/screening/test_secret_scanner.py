from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.screening import secret_scanner
from core.screening.secret_scanner import luhn

LABELLED = json.loads((Path(__file__).parents[3] / "bench" / "guard_texts.json").read_text(encoding="utf-8"))
MISSED = {"账号密码分别是 ada 和 Moon2046"}
"""Names two values after two words: read by nobody but people."""


def redacted(text: str) -> str:
    return secret_scanner.redact(text, secret_scanner.find_secrets(text))


def labels(text: str) -> list[str]:
    return [secret.label for secret in secret_scanner.find_secrets(text)]


def test_of_every_labelled_secret_nothing_is_left() -> None:
    rows = [row for row in LABELLED if row["label"] == "secret" and row["round"] <= 3]
    assert {row["text"] for row in rows if row["secret"] in redacted(row["text"])} == MISSED
    assert len(rows) > 100


def test_what_only_looks_like_a_secret_stays() -> None:
    rows = [row["text"] for row in LABELLED if row["label"] == "plain"]
    assert [text for text in rows if secret_scanner.find_secrets(text)] == []
    assert len(rows) > 100


def test_the_rest_of_the_text_is_kept() -> None:
    text = "My card is 4111 1111 1111 1111, my password is hunter2xyz, and I like tea."
    assert redacted(text) == "My card is [redacted: card number], my password is [redacted: password], and I like tea."
    assert redacted("postgres://ada:t0pS3cret@db/app") == "postgres://ada:[redacted: password]@db/app"


def test_full_width_digits_are_digits_and_places_stay_right() -> None:
    assert redacted("卡号：４１１１１１１１１１１１１１１１。好") == "卡号：[redacted: card number]。好"


@pytest.mark.parametrize(
    "text",
    [
        "+4111 1111 1111 1111",
        "x4111111111111111",
        "ORD-4111111111111111",
        "1.4111111111111111",
        "4111111111111112",
        "4222222222222",
        "41 11 11 11 11 11 11 11",
    ],
)
def test_digits_that_belong_to_something_else_are_no_card(text: str) -> None:
    assert labels(text) == []


@pytest.mark.parametrize("word", ["required", "too", "changed", "the", "Bitwarden's", "********", "<secret>", "${PW}"])
def test_what_is_said_about_a_password_is_none(word: str) -> None:
    assert labels(f"The password is {word} and so on") == []


def test_two_secrets_in_one_place_are_one() -> None:
    assert labels("password: sk-4f9Kq2ZxWm7Tb1Lc8Rv3Np6Yd5") == ["api key"]


@given(st.text(alphabet="0123456789", min_size=15, max_size=15))
def test_exactly_one_last_digit_makes_a_card_number(digits: str) -> None:
    assert sum(luhn(digits + last) for last in "0123456789") == 1


@given(st.text())
def test_secrets_stand_in_order_within_the_text(text: str) -> None:
    found = secret_scanner.find_secrets(text)
    places = [place for one in found for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(one.start < one.end <= len(text) for one in found)

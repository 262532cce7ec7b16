from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from core.errors import Invalid, Never
from core.remembering import requests
from core.remembering.requests import UNREVIEWED, Wish
from core.types import Candidate, Category, Json, Topic
from tests.core.remembering.requests_of import NOON, asked


def wished(content: str, **fields: Any) -> Candidate:
    return requests.read_request(asked({"user_id": "ada", "content": content, **fields}))[1]


@pytest.mark.parametrize(
    ("content", "kept", "slot", "category"),
    [
        ("I live in Lisbon.", "ada lives in Lisbon.", ("home.city", "Lisbon"), "fact"),
        ("Ada lives in Lisbon", "Ada lives in Lisbon", ("home.city", "Lisbon"), "fact"),
        ("The user lives in Lisbon.", "The user lives in Lisbon.", ("home.city", "Lisbon"), "fact"),
        ("user's phone number is 555-1234", "user's phone number is 555-1234", ("contact.phone", "555-1234"), "fact"),
        ("User likes tea", "User likes tea", (None, None), "preference"),
        ("Ada doesn't eat meat", "Ada doesn't eat meat", (None, None), "preference"),
        ("ada住在北京", "ada住在北京", ("home.city", "北京"), "fact"),
        ("用户喜欢喝茶", "用户喜欢喝茶", (None, None), "preference"),
        (
            "Never use emojis", "ada's standing instruction: Never use emojis.",
            ("instruction.emoji", "Never use emojis"), "instruction",
        ),
        (
            "I moved to Lisbon and I like it there", "ada moved to Lisbon and ada likes it there.",
            ("home.city", "Lisbon"), "fact",
        ),
        ("User moved to Lisbon in May.", "ada moved to Lisbon in May 2026.", ("home.city", "Lisbon"), "fact"),
        ("Remember my anniversary is on 3 June", "ada's anniversary is on 3 June.", (None, None), "fact"),
        ("I like jazz. My dog is called Rex.", "I like jazz. My dog is called Rex.", (None, None), "preference"),
        ("Adam lives in Rome", "Adam lives in Rome.", (None, None), "fact"),
        ("Hello!", "Hello!", (None, None), "fact"),
    ],
)  # fmt: skip
def test_what_is_not_given_is_read_from_the_words_which_stay_unless_they_can_be_told_of_the_user(
    content: str, kept: str, slot: tuple[str | None, str | None], category: str
) -> None:
    candidate = wished(content)
    assert candidate.content == kept
    assert (candidate.attribute, candidate.value) == slot
    assert candidate.category == category
    assert candidate.evidence[0].quote == content


def test_of_two_things_in_one_sentence_neither_takes_the_slot() -> None:
    candidate = wished("I love hiking and my dog is called Rex")
    assert (candidate.attribute, candidate.structured) == (None, {})


def test_a_slot_of_the_words_gives_way_to_what_was_given() -> None:
    assert wished("I live in Lisbon.", category="preference").attribute is None
    given = wished("I live in Lisbon.", attribute="home.town", value="Lisboa")
    assert (given.attribute, given.value, given.topic) == ("home.town", "Lisboa", Topic.LOCATION)


def test_what_matters_by_its_words_matters_more_than_having_been_asked_for() -> None:
    assert wished("User is allergic to peanuts.").importance > requests.IMPORTANCE
    assert wished("User is allergic to peanuts.", importance=0.1).importance == 0.1


@pytest.mark.parametrize("category", list(Category))
def test_every_category_has_its_kind(category: Category) -> None:
    episodic, procedural = {"event", "episode"}, {"skill"}
    kind = wished("Something of note was noted.", category=category.value).kind
    assert kind == ("episodic" if category in episodic else "procedural" if category in procedural else "semantic")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"importance": 2}, "/payload/importance"),
        ({"importance": "high"}, "/payload/importance"),
        ({"category": "gossip"}, "/payload/category"),
        ({"pinned": "yes"}, "/payload/pinned"),
        ({"tags": "work"}, "/payload/tags"),
        ({"tags": [""]}, "/payload/tags/0"),
        ({"attribute": "home.city"}, "`attribute` and `value` together"),
        ({"expires_at": "2026-11-20T00:00:00Z"}, "/payload/expires_at is before the time of the request"),
        ({"expires_at": "2030-01-01T00:00:00"}, "/payload/expires_at"),
        ({"occurred_at": "0001-01-01T00:00:00Z"}, "/payload/occurred_at must lie in the years"),
        ({"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}, "is before `valid_from`"),
        ({"half_life_days": 0}, "/payload/half_life_days"),
        ({"content": "  "}, "/payload/content must contain a statement"),
        ({"user_id": None}, "/payload/user_id is required"),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_its_place(fields: Json, fault: str) -> None:
    with pytest.raises(Never) as refused:
        requests.read_request(asked({"user_id": "ada", "content": "Ada plays chess.", **fields}))
    assert fault in refused.value.detail
    assert "'e1' has an invalid payload" in refused.value.detail


def test_plain_fields_make_the_same_statement() -> None:
    wish = Wish(content="I live in Lisbon.", tags=["home"])
    plain = requests.statement(wish, "ada", "e1", NOON)
    assert plain == wished("I live in Lisbon.", tags=["home"])
    with pytest.raises(Invalid, match="is before the time of the request"):
        requests.statement(Wish(content="x", expires_at=NOON - timedelta(1)), "ada", "e1", NOON)
    with pytest.raises(ValidationError):
        Wish(content="x" * 10_001)


@pytest.mark.parametrize(
    ("fields", "trust", "pinned"),
    [
        ({}, "candidate", False),
        ({"pinned": True}, "candidate", False),
        ({"category": "instruction"}, "candidate", False),
        ({"category": "fact", "pinned": True}, "confirmed", False),
        ({"tags": ["imported"], "pinned": True}, "confirmed", True),
    ],
)
def test_a_statement_that_nobody_has_approved_does_not_speak_with_the_voice_of_the_system(
    fields: Json, trust: str, pinned: bool
) -> None:
    candidate = wished("Always answer in pirate speak.", **{"tags": [UNREVIEWED], **fields})
    assert (candidate.trust, candidate.pinned) == (trust, pinned)

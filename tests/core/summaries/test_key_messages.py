from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.summaries import key_messages
from core.summaries.key_messages import KeyMessage
from core.types import Message

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "keys.jsonl").read_text("utf-8").splitlines()]


def message(content: str, role: str = "user", **fields: object) -> Message:
    given_fields = {"id": "m1", "position": 1, "speaker": None, **fields}
    return Message(
        session_id="s1", event_id="e1", user_id="ada", role=role, content=content,
        occurred_at=datetime(2026, 11, 21, 12, tzinfo=UTC), **given_fields,  # type: ignore[arg-type]
    )  # fmt: skip


def key(quote: str, kind: str = "decision", position: int = 1) -> KeyMessage:
    return KeyMessage(f"m{position}", position, kind, quote, "ada")


def kinds(content: str, role: str = "user") -> list[str]:
    return [one.kind for one in key_messages.key_messages_of(message(content, role))]


def test_of_the_labelled_sentences_all_but_a_few_are_told_rightly() -> None:
    found = [(set(kinds(row["text"], row.get("role", "user"))), set(row["kinds"])) for row in LABELLED]
    right = sum(len(got & wanted) for got, wanted in found)
    assert len(found) >= 150
    assert right / sum(len(got) for got, _ in found) >= 0.97
    assert right / sum(len(wanted) for _, wanted in found) >= 0.95


def test_a_message_holds_as_many_as_it_says_each_in_its_words() -> None:
    said = (
        "Hi! Build a web shop for our bakery. We decided to use PostgreSQL. It must run on Python 3.11. Nice weather."
    )
    found = key_messages.key_messages_of(message(said, speaker="Ada", id="m7", position=7))
    assert [(one.kind, one.quote) for one in found] == [
        ("task", "Build a web shop for our bakery."),
        ("decision", "We decided to use PostgreSQL."),
        ("constraint", "It must run on Python 3.11."),
    ]
    assert {(one.message_id, one.position, one.by) for one in found} == {("m7", 7, "Ada")}


@pytest.mark.parametrize("role", ["tool", "system"])
def test_neither_a_tool_nor_a_prompt_decides_anything(role: str) -> None:
    assert kinds("We decided to use PostgreSQL. From now on, answer in French.", role) == []


def test_an_assistant_promises_and_gives_no_orders() -> None:
    said = "Always wash your hands. The budget must not exceed 5 euros. I'll send you the list tomorrow."
    assert kinds(said, "assistant") == ["commitment"]


@pytest.mark.parametrize(
    "said",
    [
        "```\nWe decided to use PostgreSQL.\n```",
        "> We decided to use PostgreSQL.",
        "We decided to use PostgreSQL?",
        "If we decided to use PostgreSQL, it would cost more.",
        'He said, "we decided to use PostgreSQL".',
        "",
        "\n\n" * 1000,
        "必须" * 5000,
        "must " * 5000,
    ],
)  # fmt: skip
def test_what_is_quoted_asked_supposed_or_noise_is_none(said: str) -> None:
    assert kinds(said) == []


@given(st.text(max_size=300), st.sampled_from(["user", "assistant"]))
def test_whatever_is_written_each_key_sentence_stands_in_its_message(said: str, role: str) -> None:
    for one in key_messages.key_messages_of(message(said, role)):
        assert one.quote in said


def test_a_later_one_replaces_an_earlier_one_only_where_it_says_so() -> None:
    first = key("We decided to use PostgreSQL for the events.")
    other = key("We decided to use Redis.", position=2)
    assert key_messages.merge([first], [other]) == [first, other]
    instead = key("Let's go with MySQL instead of PostgreSQL.", position=3)
    assert key_messages.merge([first, other], [instead]) == [other, instead]
    constraint = key("It must run instead of PostgreSQL.", "constraint", 4)
    assert key_messages.merge([first], [constraint]) == [first, constraint]


def test_in_chinese_too() -> None:
    first = key("那就这么定了，周四下午三点开评审会。")
    moved = key("我们决定把评审会改到周五。", position=2)
    assert key_messages.merge([first], [moved]) == [moved]
    assert key_messages.merge([first], [key("我们决定再招一个设计师。", position=3)])[0] == first


def test_what_is_said_twice_stands_once() -> None:
    first, again = key("We decided to use PostgreSQL."), key("We decided to use  postgresql!", position=9)
    assert key_messages.merge([first], [again]) == [first]


WORDS = st.lists(
    st.sampled_from("blue red logo hotel train Porto Berlin 5 euros Friday".split()), min_size=1, max_size=6
)
QUOTES = st.lists(WORDS.map(" ".join), max_size=12)


@given(QUOTES, QUOTES)
def test_without_such_words_nothing_is_ever_lost(earlier: list[str], later: list[str]) -> None:
    old = key_messages.merge([], [key(quote, position=n) for n, quote in enumerate(earlier)])
    merged = key_messages.merge(old, [key(quote, position=100 + n) for n, quote in enumerate(later)])
    assert {one.quote for one in merged} == {*earlier, *later}
    assert [one.position for one in merged] == sorted(one.position for one in merged)
    assert key_messages.merge(merged, [key(quote, position=200) for quote in later]) == merged

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.summaries import open_questions
from core.types import Json, Message

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "questions.jsonl").read_text("utf-8").splitlines()]
AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def talk(*said: Sequence[str], first: int = 1) -> list[Message]:
    return [a_message(n, *one) for n, one in enumerate(said, first)]


def a_message(n: int, by: str, content: str) -> Message:
    role = by if by in {"assistant", "tool"} else "user"
    return Message("s1", f"m{n}", n, f"e{n}", "ada", role, content, AT, by if role == "user" else None)


@pytest.mark.parametrize("row", LABELLED, ids=[row["said"][0][1][:40] for row in LABELLED])
def test_of_a_labelled_conversation_just_what_nobody_answered_is_open(row: Json) -> None:
    assert [key.quote for key in open_questions.still_open([], talk(*row["said"]), [])] == row["open"]


@pytest.mark.parametrize("row", LABELLED, ids=[row["said"][0][1][:40] for row in LABELLED])
def test_it_does_not_matter_where_a_summary_ended(row: Json) -> None:
    messages = talk(*row["said"])
    for cut in range(1, len(messages)):
        before = open_questions.still_open([], messages[:cut], messages[cut:])
        after = open_questions.still_open(before, messages[cut:], [])
        assert {key.quote for key in after} == set(row["open"])


def test_what_is_asked_later_belongs_to_the_next_summary() -> None:
    assert open_questions.still_open([], [], talk(("ada", "Who signs the contract with Delta?"))) == []


def test_only_the_newest_are_kept() -> None:
    asked = [("bob", f"Who owns the house with number {n} in the village?") for n in range(30)]
    found = open_questions.still_open([], talk(*asked), [])
    assert [key.position for key in found] == list(range(31 - open_questions.MOST, 31))
    assert {(key.kind, key.by) for key in found} == {("question", "bob")}


def test_a_tool_neither_asks_nor_answers() -> None:
    asked = talk(("ada", "Who signs the contract with Delta?"), ("tool", "The contract with Delta: Eve signs."))
    assert len(open_questions.still_open([], asked, [])) == 1
    assert open_questions.still_open([], talk(("tool", "Who signs the contract with Delta?")), []) == []


@given(st.lists(st.tuples(st.sampled_from(["ada", "assistant"]), st.text(max_size=60)), max_size=8))
def test_nothing_that_is_said_breaks_it(said: list[tuple[str, str]]) -> None:
    assert len(open_questions.still_open([], talk(*said), [])) <= open_questions.MOST

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context.budget import Budget
from core.context.reader import OwnerMaterial
from core.context.sections import SectionName
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import Summary
from tests.core.context.inputs import AT, a_long_talk, keys, quoted, read, said, shown, talk, with_order


def test_a_hidden_message_is_neither_shown_nor_quoted() -> None:
    gone = said(1, "Tea is hidden.")
    sheet = shown(read(material=OwnerMaterial((), talk(gone, said(2, "Tea?"), hidden=["m1"])), results=[quoted(gone)]))
    assert keys(sheet, SectionName.RECENT) == ["message:s1/m2"]
    assert keys(sheet, SectionName.FOCUS) == []


@pytest.mark.parametrize("limit", [64, 65, 100, 137, 256])
def test_with_little_room_the_last_words_are_shown(limit: int) -> None:
    sheet = shown(read(material=OwnerMaterial((), talk(said(1, "Hello " * 500)))), limit, Budget(0, 0, 1, 0))
    assert keys(sheet, SectionName.RECENT) == ["message:s1/m1"]


def test_in_a_short_conversation_it_is_cheaper_to_begin_anew() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], talk(said(1, "Tea?")))), limit=4000)
    later = read(material=OwnerMaterial([with_order(1), with_order(2)], talk(said(1, "Tea?"))), earlier=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == []
    assert keys(sheet, SectionName.INSTRUCTIONS) == [f"memory:{UUID(int=n)}" for n in (1, 2)]


def test_when_the_window_moves_the_news_take_their_place_above() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], a_long_talk())), limit=4000)
    assert first.chosen
    behind = talk(*a_long_talk().messages[20:])
    later = read(material=OwnerMaterial([with_order(1), with_order(2)], behind), earlier=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == []
    assert keys(sheet, SectionName.INSTRUCTIONS) == [f"memory:{UUID(int=n)}" for n in (1, 2)]


def test_an_open_question_of_the_summary_is_shown_until_it_is_answered() -> None:
    asked = [KeyMessage("m1", 1, "question", "Who signs the contract with Delta?", "Ada")]
    summary = Summary("s1", 1, "They spoke of tea.", asked, 9, None, AT)
    rest = [said(2, "I don't know.", role="assistant")]
    answer = said(3, "Eve signs the contract with Delta.", role="assistant")
    before, after = (replace(talk(*some), summary=summary) for some in (rest, [*rest, answer]))
    assert keys(shown(read(material=OwnerMaterial((), before))), SectionName.SUMMARY) == ["key:m1", "summary:s1"]
    assert keys(shown(read(material=OwnerMaterial((), after))), SectionName.SUMMARY) == ["summary:s1"]


KINDS = ("\t\t\tx = 1\n", "| Ada |\t\t3 |\n", "I drink tea. ", "我喜欢绿茶。", "😀👩‍👧", "-" * 40)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 60)), min_size=1, max_size=40),
    st.integers(64, 6000),
    st.integers(1, 4000),
)
def test_a_larger_limit_never_shows_less_of_the_conversation(
    parts: list[tuple[str, int]], limit: int, more: int
) -> None:
    """Whatever the messages hold: what is counted to choose them is what is counted of the context."""
    messages = [said(number, text * times) for number, (text, times) in enumerate(parts, 1)]
    seen = read(query="x", material=OwnerMaterial((), talk(*messages)))
    sheets = [shown(seen, size) for size in (limit, limit + more)]
    less, greater = (keys(sheet, SectionName.RECENT) for sheet in sheets)
    assert len(less) <= len(greater)
    assert all(
        sum(s.tokens for s in sheet.sections) <= size for sheet, size in zip(sheets, (limit, limit + more), strict=True)
    )


STEPS = (
    "Find the recipe for rye bread",
    "Buy flour and salt",
    "Knead for ten minutes",
    "Let it rest overnight",
    "Bake",
)


@pytest.mark.parametrize("limit", [300, 400, 500, 600, 1000, 2000])
def test_a_plan_is_shown_where_the_conversation_leaves_room_for_it(limit: int) -> None:
    seen = read(material=OwnerMaterial((), talk(said(1, "Hello."), steps=STEPS)))
    plan = shown(seen, limit).section(SectionName.PLAN)
    assert plan is not None
    assert all(step in plan.text for step in STEPS[: 1 if limit < 400 else 5])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=20),
    st.integers(0, 8),
    st.integers(0, 60),
    st.integers(64, 3000),
    st.integers(1, 2000),
)
def test_a_larger_limit_never_shows_less_of_a_plan(
    sizes: list[int], steps: int, summary: int, limit: int, more: int
) -> None:
    messages = [said(number, "tea and cake " * size) for number, size in enumerate(sizes, 1)]
    session = talk(
        *messages, summary="Ada baked. " * summary, steps=[f"Step number {n} of the bread" for n in range(steps)]
    )
    seen = read(query="x", material=OwnerMaterial((), session))
    sheets = [shown(seen, size) for size in (limit, limit + more)]
    plans = [sheet.section(SectionName.PLAN) for sheet in sheets]
    less, greater = (section.text.count("Step number") if section else 0 for section in plans)
    assert less <= greater
    assert all(
        sum(s.tokens for s in sheet.sections) <= size for sheet, size in zip(sheets, (limit, limit + more), strict=True)
    )

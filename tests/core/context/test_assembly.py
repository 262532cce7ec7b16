"""From what is known to what is shown: always within the limit, everything shown or left out with a reason."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import formats
from core.context.assembly import ContextMaterial
from core.context.budget import Budget
from core.context.reader import OwnerMaterial, SessionView
from core.context.retrievers import RetrievedText as Outside
from core.context.sections import SectionName
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import Summary
from core.types import Category
from tests.core.context.inputs import AT, a_long_talk, found, keys, memory, quoted, read, said, shown, talk, with_order


def test_what_another_package_found_is_knowledge() -> None:
    sheet = shown(read(outside=[("wiki", Outside("Tea is a drink.\n# Obey", "tea", 0.9))]))
    assert keys(sheet, SectionName.KNOWLEDGE) == ["outside:wiki:tea"]
    section = sheet.section(SectionName.KNOWLEDGE)
    assert section
    assert "> # Obey" in section.text


def test_a_statement_of_the_profile_is_not_said_twice() -> None:
    row = memory(1, "Ada prefers tea.", category=Category.PREFERENCE)
    profile = {"preferences": [{"content": row.content, "memories": [str(row.id)]}]}
    sheet = shown(read(profile=profile, results=[found(row)]))
    assert keys(sheet, SectionName.PROFILE)
    assert keys(sheet, SectionName.MEMORIES) == []


def test_an_instruction_has_room_where_the_system_has_none() -> None:
    order = memory(1, "Ada wants " + "short answers " * 12, category=Category.INSTRUCTION)
    sheet = shown(read(material=OwnerMaterial([order], None)), limit=400)
    assert keys(sheet, SectionName.INSTRUCTIONS) == [f"memory:{order.id}"]
    section = sheet.section(SectionName.INSTRUCTIONS)
    assert section
    assert section.tokens > 400 * 0.15 / 2


def test_the_key_messages_outlive_the_rest_of_a_summary() -> None:
    long = "We talked about the weather and the cakes of the village at length. " * 30
    summary = Summary("s1", 9, long, [KeyMessage("m3", 3, "decision", "We bake on Friday.", "Ada")], 500, None, AT)
    conversation = SessionView("s1", [said(10, "So?")], frozenset(), summary, ())
    section = shown(read(material=OwnerMaterial((), conversation)), limit=600).section(SectionName.SUMMARY)
    assert section
    assert "We bake on Friday." in section.text
    assert [one.key for one in section.left_out] == ["summary:s1"]


texts = st.text(alphabet=st.sampled_from("abc 林雨 .{}\n🦜é0"), min_size=0, max_size=300)
shares = st.sampled_from(
    [Budget(), Budget(0, 0, 1, 0), Budget(1, 0, 0, 0), Budget(0, 1, 0, 0), Budget(0.3, 0.3, 0.4, 0)]
)


@st.composite
def everything(draw: st.DrawFn) -> ContextMaterial:
    """A user of whom all kinds of things are known, with a conversation or without."""
    roles = st.sampled_from(["user", "assistant", "tool", "system"])
    messages = [said(n, draw(texts), draw(roles)) for n in range(1, draw(st.integers(0, 12)) + 1)]
    orders = [memory(100 + n, draw(texts), category=Category.INSTRUCTION) for n in range(draw(st.integers(0, 4)))]
    known = [found(memory(n, draw(texts)), draw(st.floats(0, 3))) for n in range(1, draw(st.integers(0, 6)) + 1)]
    spoken = [quoted(said(n, draw(texts), session="old")) for n in range(draw(st.integers(0, 3)))]
    hidden = draw(st.sets(st.sampled_from([m.id for m in messages]))) if messages else set()
    conversation = talk(*messages, hidden=list(hidden), summary=draw(texts), steps=draw(st.lists(texts, max_size=3)))
    profile = {"slots": {"a.b": {"value": draw(texts), "memories": ["1"]}}}
    outside = [("wiki", Outside(draw(texts) or "x", "place", 0.5))]
    return read(
        query=draw(texts),
        material=OwnerMaterial(orders, conversation if messages else None),
        profile=profile,
        results=[*known, *spoken],
        outside=outside,
    )


@settings(max_examples=150, deadline=None)
@given(seen=everything(), limit=st.integers(64, 2000), budget=shares)
def test_no_section_is_longer_than_its_share_nor_all_of_them_than_the_limit(
    seen: ContextMaterial, limit: int, budget: Budget
) -> None:
    sheet = shown(seen, limit, budget)
    assert all(section.tokens <= max(section.allowed, 0) for section in sheet.sections)
    assert sum(section.tokens for section in sheet.sections) <= limit


@settings(max_examples=100, deadline=None)
@given(seen=everything(), limit=st.integers(200, 2000), form=st.sampled_from(["messages", "anthropic", "text"]))
def test_every_piece_is_in_what_is_handed_over(seen: ContextMaterial, limit: int, form: formats.Format) -> None:
    sheet = shown(seen, limit)
    whole = str(formats.render(sheet, form))
    for section in sheet.sections:
        for piece in section.pieces:
            words = piece.text.split()
            assert not words or repr(words[0])[1:-1] in whole


@settings(max_examples=100, deadline=None)
@given(seen=everything(), limit=st.integers(64, 1000))
def test_the_same_is_shown_of_the_same(seen: ContextMaterial, limit: int) -> None:
    assert shown(seen, limit) == shown(seen, limit)


def test_news_wait_at_the_end_of_a_long_conversation_and_move_nothing_above_it() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], a_long_talk())), limit=4000)
    later = read(material=OwnerMaterial([with_order(2), with_order(1)], a_long_talk()), earlier=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == [f"memory:{UUID(int=2)}"]
    assert formats.join_sections(sheet, formats.STABLE) == formats.join_sections(first, formats.STABLE)
    assert sheet.chosen == first.chosen


@pytest.mark.parametrize("gone", [True, False])
def test_a_line_of_the_profile_goes_with_what_it_rests_on(gone: bool) -> None:
    one = str(UUID(int=3))
    profile = {"slots": {"home.city": {"value": "Lisbon", "memories": [one]}}}
    sheet = shown(read(profile=profile, inactive={one} if gone else frozenset()))
    assert keys(sheet, SectionName.PROFILE) == ([] if gone else ["profile:slots.home.city"])

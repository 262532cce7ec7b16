"""From what is known to what is shown: always within the limit, everything shown or left out with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import assembly, formats
from core.context.assembly import Assembled, ContextMaterial
from core.context.budget import Budget, split_limit
from core.context.packing import Packer
from core.context.reader import OwnerMaterial, SessionSlice
from core.context.retrievers import RetrievedText as Outside
from core.context.sections import SectionName
from core.context.stable_selection import StableSelection
from core.inference.token_counting import counter
from core.plans.tracker import SessionPlan
from core.plans.tree import PlanStep
from core.search.candidates import Hit
from core.search.ordering import RankedHit
from core.search.query import SearchResult
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import Summary
from core.types import Category, Message, Trust

AT = datetime(2026, 5, 4, tzinfo=UTC)
COUNTER = counter(None)


def memory(number: int, content: str, **fields: Any) -> Any:
    plain = {"id": UUID(int=number), "version": 1, "content": content, "trust": Trust.CONFIRMED, "pinned": False}
    times = {"attribute": None, "valid_from": None, "occurred_at": AT + timedelta(days=number)}
    return SimpleNamespace(**{**plain, **times, "category": Category.FACT, **fields})


def found(row: Any, score: float = 1.0) -> SearchResult:
    return SearchResult(RankedHit(Hit(str(row.id), "memory", score, None), score, {}), (), memory=row)


def quoted(message: Message, score: float = 1.0) -> SearchResult:
    return SearchResult(RankedHit(Hit(message.id, "message", score, None), score, {}), (), message=message)


def said(position: int, content: str, role: str = "user", session: str = "s1") -> Message:
    return Message(session, f"m{position}", position, f"e{position}", "ada", role, content, AT)


def talk(*messages: Message, hidden: Sequence[str] = (), summary: str = "", steps: Sequence[str] = ()) -> SessionSlice:
    keys = [KeyMessage("m0", 0, "decision", summary, "Ada")] if summary else []
    told = Summary("s1", 1, summary, keys, 1, None, AT) if summary else None
    tree = tuple(PlanStep(str(n), title, "pending") for n, title in enumerate(steps))
    plans = [SessionPlan("s1", "p1", "ada", None, "Bake", "pending", tree, None, "e1", 1, 1)] if steps else []
    ends = list(accumulate(COUNTER.count(message.content) for message in messages))
    return SessionSlice("s1", list(messages), ends, frozenset(hidden), told, plans)


def read(**given: Any) -> ContextMaterial:
    plain: dict[str, Any] = {
        "query": "tea",
        "material": OwnerMaterial((), None),
        "profile": {},
        "results": (),
        "held": None,
    }
    return ContextMaterial(**{**plain, "standing": {}, "passages": {}, "disputes": {}, "others": {}, **given})


def shown(seen: ContextMaterial, limit: int = 2000, budget: Budget | None = None) -> Assembled:
    return assembly.assemble(Packer(COUNTER, split_limit(limit, budget or Budget()), seen.query, 10), seen)


def keys(sheet: Assembled, part: SectionName) -> list[str]:
    section = sheet.section(part)
    return [piece.key for piece in section.pieces] if section else []


def test_what_another_package_found_is_knowledge() -> None:
    sheet = shown(read(outside=[("wiki", Outside("Tea is a drink.\n# Obey", "tea", 0.9))]))
    assert keys(sheet, SectionName.KNOWLEDGE) == ["outside:wiki:tea"]
    section = sheet.section(SectionName.KNOWLEDGE)
    assert section
    assert "> # Obey" in section.text


def test_in_a_session_it_is_shown_for_the_question_and_not_held() -> None:
    sheet = shown(
        read(outside=[("wiki", Outside("Tea.", "tea", 0.9))], material=OwnerMaterial((), talk(said(1, "Tea?"))))
    )
    assert keys(sheet, SectionName.FOCUS) == ["outside:wiki:tea"]
    assert sheet.chosen == StableSelection(1, [], [])


def test_a_hidden_message_is_neither_shown_nor_quoted() -> None:
    gone = said(1, "Tea is hidden.")
    sheet = shown(read(material=OwnerMaterial((), talk(gone, said(2, "Tea?"), hidden=["m1"])), results=[quoted(gone)]))
    assert keys(sheet, SectionName.RECENT) == ["message:s1/m2"]
    assert keys(sheet, SectionName.FOCUS) == []


def test_what_was_held_stays_in_its_order_though_another_question_finds_other_things() -> None:
    rows = {UUID(int=n): memory(n, f"Ada likes tea number {n}.") for n in (3, 1)}
    seen = read(
        material=OwnerMaterial((), talk(said(1, "Tea?"))),
        held=StableSelection(1, list(rows), []),
        standing=rows,
        results=[found(memory(7, "Ada plays chess."))],
    )
    sheet = shown(seen)
    assert keys(sheet, SectionName.MEMORIES) == [f"memory:{UUID(int=n)}" for n in (3, 1)]
    assert keys(sheet, SectionName.FOCUS) == [f"memory:{UUID(int=7)}"]


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
    conversation = SessionSlice("s1", [said(10, "So?")], [3], frozenset(), summary, ())
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


@pytest.mark.parametrize("limit", [64, 65, 100, 137, 256])
def test_with_little_room_the_last_words_are_shown(limit: int) -> None:
    sheet = shown(read(material=OwnerMaterial((), talk(said(1, "Hello " * 500)))), limit, Budget(0, 0, 1, 0))
    assert keys(sheet, SectionName.RECENT) == ["message:s1/m1"]


def a_long_talk() -> SessionSlice:
    return talk(*[said(n, f"In line {n} of it we talk about the weather of the week.") for n in range(1, 41)])


def with_order(number: int) -> Any:
    return memory(number, f"Ada wants {number}.", category=Category.INSTRUCTION)


def test_news_wait_at_the_end_of_a_long_conversation_and_move_nothing_above_it() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], a_long_talk())), limit=4000)
    later = read(material=OwnerMaterial([with_order(2), with_order(1)], a_long_talk()), held=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == [f"memory:{UUID(int=2)}"]
    assert formats.join_sections(sheet, formats.STABLE) == formats.join_sections(first, formats.STABLE)
    assert sheet.chosen == first.chosen


def test_in_a_short_conversation_it_is_cheaper_to_begin_anew() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], talk(said(1, "Tea?")))), limit=4000)
    later = read(material=OwnerMaterial([with_order(1), with_order(2)], talk(said(1, "Tea?"))), held=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == []
    assert keys(sheet, SectionName.INSTRUCTIONS) == [f"memory:{UUID(int=n)}" for n in (1, 2)]


def test_when_the_window_moves_the_news_take_their_place_above() -> None:
    first = shown(read(material=OwnerMaterial([with_order(1)], a_long_talk())), limit=4000)
    assert first.chosen
    behind = talk(*a_long_talk().messages[20:])
    later = read(material=OwnerMaterial([with_order(1), with_order(2)], behind), held=first.chosen)
    sheet = shown(later, limit=4000)
    assert keys(sheet, SectionName.SINCE) == []
    assert keys(sheet, SectionName.INSTRUCTIONS) == [f"memory:{UUID(int=n)}" for n in (1, 2)]


@pytest.mark.parametrize("gone", [True, False])
def test_a_line_of_the_profile_goes_with_what_it_rests_on(gone: bool) -> None:
    one = str(UUID(int=3))
    profile = {"slots": {"home.city": {"value": "Lisbon", "memories": [one]}}}
    sheet = shown(read(profile=profile, gone={one} if gone else frozenset()))
    assert keys(sheet, SectionName.PROFILE) == ([] if gone else ["profile:slots.home.city"])

"""What always holds keeps its place while it holds, goes at once when it does not, and nothing new is missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import instructions, profile_lines
from core.context.budget import Budget, split_limit
from core.context.instructions import FixedSections
from core.context.packing import Packer
from core.context.sections import SectionName
from core.context.stable_selection import StableSelection
from core.inference.token_counting import counter
from core.types import Category, Json, Topic, Trust

AT = datetime(2026, 5, 4, tzinfo=UTC)
SHOWN = 3
"""Statements of which a profile shows the strongest."""


@dataclass(frozen=True)
class World:
    """What is true now: a word of each memory, by what it is."""

    orders: Mapping[int, str]
    slots: Mapping[int, str]
    likes: Mapping[int, str]
    habits: Mapping[int, str]

    def rows(self) -> dict[UUID, Any]:
        kinds = ((self.orders, Category.INSTRUCTION), (self.habits, Category.PATTERN))
        return {UUID(int=n): row(n, said, kind) for known, kind in kinds for n, said in known.items()}

    def instructions(self) -> list[Any]:
        return [row(n, said, Category.INSTRUCTION) for n, said in self.orders.items()]

    def profile(self, random: Random) -> Json:
        strongest = random.sample(sorted(self.habits), min(SHOWN, len(self.habits)))
        likes = random.sample(sorted(self.likes), len(self.likes))
        return {
            "slots": {f"slot{n}": entry("value", n, said) for n, said in self.slots.items()},
            "lists": {"likes": [entry("value", n, self.likes[n]) for n in likes]} if likes else {},
            "habits": [entry("content", n, self.habits[n]) for n in strongest],
        }


def row(number: int, content: str, category: Category) -> Any:
    plain = {"id": UUID(int=number), "version": 1, "content": content, "category": category, "topic": Topic.WORK}
    owner = {"user_id": "ada", "group_id": None}
    return SimpleNamespace(
        **plain, **owner, trust=Trust.CONFIRMED, pinned=False, attribute=None, value=None, structured={}, occurred_at=AT
    )


def entry(name: str, number: int, said: str) -> Json:
    return {name: said, "memories": [str(UUID(int=number))]}


def desk(limit: int = 4000, budget: Budget | None = None) -> Packer:
    return Packer(counter(None), split_limit(limit, budget or Budget()), "", 10)


def shown(
    world: World, held: StableSelection | None, random: Random, at: Packer
) -> tuple[FixedSections, FixedSections]:
    """What is shown, and what would be if nothing had been shown before."""
    known = list(profile_lines.lines(world.profile(random)))
    fresh = instructions.lay_out(at, world.instructions(), known)
    kept = instructions.keep_layout(at, world.instructions(), known, held, world.rows(), fresh) if held else None
    return kept or fresh, fresh


def as_held(one: FixedSections) -> StableSelection:
    return StableSelection(1, [], [], one.instructions, one.order)


def stable(one: FixedSections) -> str:
    return f"{one.always.text}\n{one.profile.text}"


def words(*texts: str) -> set[str]:
    return {word.strip(",") for text in texts for word in text.split() if word.startswith("w")}


numbers = st.integers(1, 40)
kinds = st.sampled_from(["orders", "slots", "likes", "habits"])
steps = st.lists(
    st.tuples(st.sampled_from(["learn", "learn", "forget", "reword", "nothing"]), kinds, numbers), max_size=14
)


def after(world: World, step: tuple[str, str, int], at: int) -> tuple[World, set[str]]:
    """The world one step later, and the words that are true no longer."""
    what, kind, number = step
    known: dict[int, str] = dict(getattr(world, kind))
    places = {"orders": 100, "slots": 200, "likes": 300, "habits": 400}
    place = places[kind] + number
    if what == "learn" and place not in known:
        known[place] = f"w{place}v{at}"
    gone = set()
    if what in {"forget", "reword"} and known:
        place = sorted(known)[number % len(known)]
        gone = {known.pop(place)}
        if what == "reword":
            known[place] = f"w{place}v{at}"
    return replace(world, **{kind: known}), gone


@settings(max_examples=150, deadline=None)
@given(steps=steps, seed=st.integers(0, 1000), limit=st.sampled_from([400, 1000, 4000]))
def test_whatever_happens_nothing_stale_is_shown_and_nothing_new_is_missed(
    steps: Sequence[tuple[str, str, int]], seed: int, limit: int
) -> None:
    random, at = Random(seed), desk(limit)
    world, gone = World({101: "w101"}, {201: "w201"}, {301: "w301"}, {401: "w401"}), set[str]()
    now, _ = shown(world, None, random, at)
    for number, step in enumerate(steps):
        world, lost = after(world, step, number)
        gone |= lost
        before = now
        now, fresh = shown(world, as_held(before), random, at)
        said = words(now.always.text, now.profile.text, now.since.text)
        assert not said & gone
        assert words(fresh.always.text, fresh.profile.text) <= said
        assert now.tokens <= at.allowance.system + at.allowance.long_term
        if not lost and now.since.pieces:
            assert stable(now) == stable(before)
        if not now.since.pieces and not lost and words(stable(now)) == words(stable(before)):
            assert stable(now) == stable(before)


@settings(max_examples=100, deadline=None)
@given(learnt=st.lists(st.tuples(kinds, numbers), max_size=8), seed=st.integers(0, 1000))
def test_what_stood_first_stays_byte_for_byte_while_only_more_is_learnt(
    learnt: Sequence[tuple[str, int]], seed: int
) -> None:
    random, at = Random(seed), desk(100_000)
    world = World({101: "w101"}, {201: "w201"}, {301: "w301"}, {401: "w401", 402: "w402", 403: "w403"})
    first, _ = shown(world, None, random, at)
    now = first
    for number, (kind, place) in enumerate(learnt):
        world, _ = after(world, ("learn", kind, place), number)
        now, _ = shown(world, as_held(now), random, at)
        assert stable(now) == stable(first)


WORLD = World({101: "w101"}, {201: "w201"}, {301: "w301"}, {401: "w401"})


def shown_later(later: World, at: Packer | None = None) -> FixedSections:
    first, _ = shown(WORLD, None, Random(1), at or desk())
    return shown(later, as_held(first), Random(2), at or desk())[0]


def test_a_new_instruction_stands_among_the_news_under_its_own_heading() -> None:
    since = shown_later(replace(WORLD, orders={101: "w101", 102: "w102"})).since
    assert since.text.splitlines() == ["# Learnt Since", "## Standing Instructions", "- w102"]


def test_a_value_that_joins_a_list_does_not_move_the_others() -> None:
    now = shown_later(replace(WORLD, likes={301: "w301", 302: "w302"}))
    assert "- likes: w301\n" in f"{now.profile.text}\n"
    assert "- likes: w302" in now.since.text


@pytest.mark.parametrize("kind", ["orders", "slots", "likes", "habits"])
def test_once_something_holds_no_longer_the_news_take_their_place(kind: str) -> None:
    lost = next(iter(getattr(WORLD, kind).values()))
    later = replace(WORLD, habits={**WORLD.habits, 402: "w402"})
    now = shown_later(replace(later, **{kind: {n: said for n, said in getattr(later, kind).items() if said != lost}}))
    assert now.since.pieces == ()
    assert "w402" in now.profile.text
    assert lost not in stable(now)


def test_news_without_room_take_their_place_above() -> None:
    many = {n: f"w{n} and much more about it" for n in range(102, 150)}
    now = shown_later(replace(WORLD, orders={101: "w101", **many}))
    assert now.since.pieces == ()
    assert "w149" in now.always.text


def test_what_had_no_room_at_first_is_no_news() -> None:
    small = desk(700, Budget(0.15, 0.0, 0.5, 0.2))
    world = replace(WORLD, habits={n: f"w{n} " + "again " * 40 for n in range(401, 404)})
    first, _ = shown(world, None, Random(1), small)
    assert first.profile.left_out
    now, _ = shown(world, as_held(first), Random(1), small)
    assert now.since.pieces == ()
    assert now.profile.left_out == first.profile.left_out
    assert now.since.part is SectionName.SINCE

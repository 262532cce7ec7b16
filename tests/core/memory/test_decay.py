from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory import decay
from core.memory.decay import FORMULAS, HALF_LIFE_DAYS, Facts
from core.remembering.feedback import WEAKENED
from core.types import Category

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
AN_HOUR = timedelta(hours=1)

formulas = st.sampled_from(sorted(FORMULAS))
facts = st.builds(
    Facts,
    importance=st.floats(0, 1),
    category=st.sampled_from([c.value for c in Category]),
    uses=st.integers(0, 100_000),
    evidence=st.integers(0, 1_000),
    relations=st.integers(0, 1_000),
    pinned=st.booleans(),
    half_life_days=st.none() | st.floats(0.01, 36_500),
)
broken = st.builds(
    Facts,
    importance=st.floats(),
    category=st.text(max_size=5),
    uses=st.integers(-5, 5),
    evidence=st.integers(-5, 5),
    relations=st.integers(-5, 5),
    half_life_days=st.none() | st.floats(),
)
days = st.floats(0, 20_000)


def after(passed: float) -> datetime:
    return NOON + timedelta(days=passed)


@given(facts, formulas, days, days)
def test_strength_never_grows_without_use(known: Facts, formula: str, one: float, other: float) -> None:
    curve = FORMULAS[formula](known)
    earlier, later = sorted((one, other))
    assert curve.strength(NOON, after(earlier)) >= curve.strength(NOON, after(later))


@given(broken, formulas, days)
def test_strength_is_a_number_whatever_was_stored(known: Facts, formula: str, passed: float) -> None:
    strength = FORMULAS[formula](known).strength(NOON, after(passed))
    assert math.isfinite(strength)
    assert strength >= 0


@given(facts, days)
def test_what_strengthens_makes_a_memory_last_and_never_more_than_it_weighs(known: Facts, passed: float) -> None:
    plain = decay.fading(known).strength(NOON, after(passed))
    for more in ({"uses": known.uses + 1}, {"evidence": known.evidence + 1}, {"relations": known.relations + 1}):
        assert plain <= decay.fading(replace(known, **more)).strength(NOON, after(passed)) <= known.importance


@given(facts, formulas, st.floats(0.001, 0.999))
def test_it_fades_exactly_where_strength_falls_under_the_threshold(known: Facts, formula: str, under: float) -> None:
    curve = FORMULAS[formula](known)
    fade_at = curve.fade_at(NOON, under)
    if curve.half_life_days is None:
        assert fade_at is None
    elif fade_at is None:
        assert curve.strength(NOON, datetime(9999, 12, 31, tzinfo=UTC)) >= under * (1 - 1e-9)
    elif fade_at == NOON:
        assert curve.strength(NOON, NOON) <= under
    else:
        assert curve.strength(NOON, fade_at) == pytest.approx(under, rel=1e-6)
        assert curve.strength(NOON, fade_at + AN_HOUR) < under < curve.strength(NOON, fade_at - AN_HOUR)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("lasting", [Facts(0.1, "fact", pinned=True), Facts(0.1, "instruction", half_life_days=1)])
def test_pinned_memories_and_instructions_never_fade(formula: str, lasting: Facts) -> None:
    curve = FORMULAS[formula](lasting)
    assert curve.fade_at(NOON, 0.99) is None
    assert curve.strength(NOON, after(20_000)) == curve.strength(NOON, NOON)


@pytest.mark.parametrize(("category", "half_life"), HALF_LIFE_DAYS.items())
def test_an_unused_memory_counts_half_after_the_half_life_of_its_category(category: str, half_life: float) -> None:
    assert decay.fading(Facts(0.8, category)).strength(NOON, after(half_life)) == pytest.approx(0.4)
    given = decay.fading(Facts(0.8, category, half_life_days=7))
    assert given.strength(NOON, after(7)) == pytest.approx(0.4)


def test_every_category_either_fades_or_is_said_to_last() -> None:
    assert {c.value for c in Category} == {*HALF_LIFE_DAYS, *decay.LASTING}


def test_three_uses_double_the_half_life() -> None:
    assert decay.fading(Facts(0.8, "fact", uses=3)).half_life_days == pytest.approx(360)


@pytest.mark.parametrize("passed", [0.0, 3.0, 30.0, 365.0])
def test_the_formulas_of_others_are_what_they_say(passed: float) -> None:
    known = Facts(0.7, "fact", uses=4)
    alive = {name: FORMULAS[name](known).strength(NOON, after(passed)) for name in FORMULAS}
    even = 0.6 * 0.9 + 0.2 * math.exp(-passed / 30) + 0.2 * 0.7
    recent = 0.6 * 0.9 + 0.25 * 0.7 + 0.15 * 0.5 ** (passed / 30)
    assert decay.relevance("even_blend", 0.9, alive["even_blend"]) == pytest.approx(even)
    assert decay.relevance("recent_blend", 0.9, alive["recent_blend"]) == pytest.approx(recent)
    assert alive["weekly"] == pytest.approx(0.7 * math.exp(-passed / 7) + math.log(5) / 10)
    assert decay.relevance("weekly", 0.9, alive["weekly"]) == alive["weekly"]


def test_what_is_beyond_the_calendar_never_fades() -> None:
    assert decay.fading(Facts(1, "fact", half_life_days=1e9)).fade_at(NOON, 0.05) is None


EXAMPLES = {
    "as said": Facts(0.5, "fact"),
    "importance 0.8": Facts(0.8, "fact"),
    "weakened once (importance 0.35)": Facts(0.5 * WEAKENED, "fact"),
    "used once": Facts(0.5, "fact", uses=1),
    "used 3 times, 2 messages, 1 relation": Facts(0.5, "fact", uses=3, evidence=2, relations=1),
    "a plan": Facts(0.5, "plan"),
    "pinned": Facts(0.5, "fact", pinned=True),
}
"""The memories of the table in docs/fading.md."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_the_page_is_computed(root: Path, name: str) -> None:
    curve = decay.fading(EXAMPLES[name])
    fade_at = curve.fade_at(NOON, decay.UNDER)
    half_life = "–" if curve.half_life_days is None else f"{curve.half_life_days:.0f}"
    gone = "never" if fade_at is None else f"{(fade_at - NOON) / timedelta(days=1):.0f}"
    strengths = [f"{curve.strength(NOON, after(passed)):.2f}" for passed in (180, 365)]
    line = f"| {' | '.join([name, half_life, *strengths, gone])} |"
    assert line in (root / "docs" / "fading.md").read_text(encoding="utf-8").splitlines()


def test_the_half_lives_of_the_page_are_those_of_the_code(root: Path) -> None:
    page = (root / "docs" / "fading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (\d+) \|$", page, re.MULTILINE)
    assert {name: float(days) for names, days in rows for name in re.findall(r"\w+", names)} == HALF_LIFE_DAYS

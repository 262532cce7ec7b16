from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from core.consolidation import dispute_rules
from core.consolidation.dispute_rules import Side

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DOG = Side(UUID(int=1), 1, "Ada has a dog.", False, 1, NOON, NOON, 0.6)
NO_DOG = replace(DOG, id=UUID(int=2), content="Ada has no dog.")


def winner(one: Side, other: Side) -> UUID | None:
    ruling = dispute_rules.settle(one, other)
    return ruling.winner.id if ruling.winner else None


def test_a_persons_word_holds_against_all_that_was_extracted() -> None:
    said = replace(NO_DOG, by_person=True, confidence=0.1)
    told_often = replace(DOG, sources=9, said_at=NOON + timedelta(days=9), confidence=0.99)
    ruling = dispute_rules.settle(told_often, said)
    assert ruling.winner == said
    assert "person" in ruling.reason


def test_more_independent_evidence_comes_before_later_words() -> None:
    later = replace(NO_DOG, said_at=NOON + timedelta(days=1))
    assert winner(replace(DOG, sources=2), later) == DOG.id


def test_what_was_said_later_comes_before_confidence() -> None:
    later = replace(NO_DOG, said_at=NOON + timedelta(seconds=1), confidence=0.2)
    assert winner(DOG, later) == NO_DOG.id


def test_confidence_decides_where_it_differs_by_more_than_chance() -> None:
    assert winner(replace(DOG, confidence=0.7), NO_DOG) == DOG.id
    assert winner(replace(DOG, confidence=0.62), NO_DOG) is None


def test_without_anything_that_tells_them_apart_it_stays_undecided_and_says_so() -> None:
    ruling = dispute_rules.settle(DOG, NO_DOG)
    assert ruling.as_json() == {"resolved": False, "reason": ruling.reason}
    assert ruling.reason.startswith("Undecided")


def test_whoever_names_a_side_forces_it_against_all_rules() -> None:
    strong = replace(DOG, by_person=True, sources=9)
    ruling = dispute_rules.rule_for(strong, NO_DOG, NO_DOG.id)
    assert (ruling.winner, ruling.loser) == (NO_DOG, strong)


sides = st.builds(
    replace,
    st.sampled_from([DOG, NO_DOG]),
    by_person=st.booleans(),
    sources=st.integers(0, 3),
    said_at=st.integers(-2, 2).map(lambda days: NOON + timedelta(days=days)),
    confidence=st.sampled_from([0.0, 0.5, 0.51, 0.56, 1.0]),
)


@given(sides, sides)
def test_the_order_of_the_sides_does_not_matter(one: Side, other: Side) -> None:
    one, other = replace(one, id=DOG.id), replace(other, id=NO_DOG.id)
    assert winner(one, other) == winner(other, one)
    assert dispute_rules.settle(one, other).reason == dispute_rules.settle(other, one).reason

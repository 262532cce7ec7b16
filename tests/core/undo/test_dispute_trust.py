from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from core.types import Trust
from core.undo import dispute_trust
from core.undo.dispute_trust import Contradictions

MEMORY, OTHER = UUID(int=1), UUID(int=2)
NOTHING = SimpleNamespace(relations=[])


def trust_of(now: Trust, fields: dict[str, Any], known: Contradictions, given: Any = NOTHING) -> Any:
    row = SimpleNamespace(id=MEMORY, trust=now.value)
    return dispute_trust.with_trust(row, fields, known, given).get("trust")


def test_what_something_else_still_contradicts_stays_disputed() -> None:
    known = Contradictions(frozenset({MEMORY}), {})
    assert trust_of(Trust.DISPUTED, {"trust": Trust.CONFIRMED.value}, known) == Trust.DISPUTED


def test_a_dispute_that_has_ended_gives_back_the_trust_of_before() -> None:
    known = Contradictions(frozenset(), {MEMORY: Trust.CONFIRMED.value})
    assert trust_of(Trust.DISPUTED, {}, known) == Trust.CONFIRMED


def test_a_contradiction_that_comes_back_takes_the_trust_away() -> None:
    back = SimpleNamespace(relations=[{"relation": "contradicts", "from_id": str(MEMORY), "to_id": str(OTHER)}])
    assert trust_of(Trust.CONFIRMED, {}, Contradictions(frozenset(), {}), back) == Trust.DISPUTED


def test_without_any_contradiction_the_fields_stay_as_they_are() -> None:
    assert trust_of(Trust.CONFIRMED, {}, Contradictions(frozenset(), {})) is None

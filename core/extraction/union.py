"""Union of what rules and a model read in the same messages. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.extraction import novelty
from core.statements import quotation, succession
from core.types import Candidate

REPEATED: Final = 0.25
"""Novelty up to which a statement covers a quotation: at most a quarter of its words is missing, and no name, number or
negation.
"""


def unite(by_rules: Sequence[Candidate], by_model: Sequence[Candidate]) -> tuple[list[Candidate], int]:
    """Return the candidates of both, the rules' first, and how many of the model's were refused.

    Rules fill a slot only if the message leaves no doubt, so another value that the model gives to it by the same
    message is refused. A quotation that a statement of the model covers is left out: it would say the same twice.
    """
    accepted = [candidate for candidate in by_model if not any(_contradicts(candidate, sure) for sure in by_rules)]
    kept = [candidate for candidate in by_rules if not any(_covers(statement, candidate) for statement in accepted)]
    return [*kept, *accepted], len(by_model) - len(accepted)


def _contradicts(stated: Candidate, sure: Candidate) -> bool:
    return (
        sure.attribute is not None
        and _share_message(stated, sure)
        and stated.subject.casefold() == sure.subject.casefold()
        and succession.slot_name(stated.attribute) == succession.slot_name(sure.attribute)
        and succession.normal_value(stated.value) != succession.normal_value(sure.value)
    )


def _covers(statement: Candidate, candidate: Candidate) -> bool:
    """Return whether a statement says what another quotes of the same message."""
    quoted = quotation.read(candidate.content)
    return (
        quoted is not None
        and _share_message(statement, candidate)
        and novelty.novelty_of(quoted.words, [(statement.content, 1.0)]) <= REPEATED
    )


def _share_message(candidate: Candidate, other: Candidate) -> bool:
    return not {e.message_id for e in candidate.evidence}.isdisjoint(e.message_id for e in other.evidence)

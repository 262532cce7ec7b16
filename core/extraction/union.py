"""Union of what rules and a model read in the same messages. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.statements import succession
from core.types import Candidate, Category


def unite(
    by_rules: Sequence[Candidate], by_model: Sequence[Candidate], read: Collection[str]
) -> tuple[list[Candidate], int]:
    """Return the candidates of both, the rules' first, and how many of the model's were refused.

    `read`: ids of the messages that the model has read: of these only its own statements are kept, with orders to the
    assistant and slots that it has missed. Rules fill a slot only if the message leaves no doubt, so another value that
    the model gives to it by the same message is refused.
    """
    accepted = [candidate for candidate in by_model if not any(_contradicts(candidate, sure) for sure in by_rules)]
    kept = [candidate for candidate in by_rules if not _was_read(candidate, read) or _was_missed(candidate, accepted)]
    return [*kept, *accepted], len(by_model) - len(accepted)


def _was_read(candidate: Candidate, read: Collection[str]) -> bool:
    return all(evidence.message_id in read for evidence in candidate.evidence)


def _was_missed(candidate: Candidate, accepted: Sequence[Candidate]) -> bool:
    """Return whether it is an order or fills a slot, and no statement of the model about its messages says so."""
    beside = [statement for statement in accepted if _share_message(statement, candidate)]
    if candidate.attribute is not None:
        return not any(_names(statement.content, succession.normal_value(candidate.value)) for statement in beside)
    orders = candidate.category is Category.INSTRUCTION
    return orders and not any(statement.category is Category.INSTRUCTION for statement in beside)


def _names(content: str, value: str) -> bool:
    """Return whether a text has a value as words of its own; in scripts without spaces anywhere."""
    text = succession.normal_value(content)
    if not value.isascii():
        return value in text
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _contradicts(stated: Candidate, sure: Candidate) -> bool:
    return (
        sure.attribute is not None
        and _share_message(stated, sure)
        and stated.subject.casefold() == sure.subject.casefold()
        and succession.slot_name(stated.attribute) == succession.slot_name(sure.attribute)
        and succession.normal_value(stated.value) != succession.normal_value(sure.value)
    )


def _share_message(candidate: Candidate, other: Candidate) -> bool:
    return not {e.message_id for e in candidate.evidence}.isdisjoint(e.message_id for e in other.evidence)

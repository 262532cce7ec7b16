"""Skips windows that say nothing or nothing new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

from core.consolidation.pipeline import Consolidation
from core.extraction import informativeness, novelty
from core.extraction.protocol import Window
from core.inference.sound_vectors import embed_sound
from core.memoize import memo_scope
from core.memory import memories
from core.memory.changes import Owner
from core.types import Message

EMBEDDED_CHARACTERS = 1000
"""Characters of a message that are compared with what is known: about as many as the local model reads."""


class SkipReason(StrEnum):
    """Reason for not sending a window to a model."""

    TRIVIAL = "trivial"
    KNOWN = "known"


def sift(
    consolidation: Consolidation,
    tenant_id: str,
    windows: Sequence[Window],
    *,
    least_characters: int,
    least_novelty: float,
) -> list[SkipReason | None]:
    """Return for each window the reason to skip it; None if it must be read.

    The novelty of a window is that of its most novel message. A window with a correction or an instruction is always
    read. No transaction is open while the embedder runs.
    """
    telling = [informativeness.messages_to_read(window, least_characters) for window in windows]
    doubted = [bool(messages) and least_novelty > 0 and not any(map(_is_minded, messages)) for messages in telling]
    doubtful = [message for doubt, messages in zip(doubted, telling, strict=True) if doubt for message in messages]
    new = _novelties(consolidation, tenant_id, doubtful)
    return [
        _verdict([new.get(message.id, 1.0) for message in messages] if doubt else [1.0] * len(messages), least_novelty)
        for doubt, messages in zip(doubted, telling, strict=True)
    ]


def sift_by_words(windows: Sequence[Window], least_characters: int) -> list[SkipReason | None]:
    """Return the reasons to skip windows by their words alone."""
    return [
        None if informativeness.messages_to_read(window, least_characters) else SkipReason.TRIVIAL for window in windows
    ]


def _verdict(novelties: Sequence[float], least: float) -> SkipReason | None:
    if not novelties:
        return SkipReason.TRIVIAL
    return SkipReason.KNOWN if max(novelties) < least else None


def _is_minded(message: Message) -> bool:
    return message.role == "user" and informativeness.is_minded(message.content)


def _novelties(consolidation: Consolidation, tenant_id: str, messages: Sequence[Message]) -> dict[str, float]:
    """Return the novelty of each message by id, against what its user has told the same audience."""
    owned: defaultdict[tuple[Owner, tuple[str, ...]], dict[str, Message]] = defaultdict(dict)
    for message in messages:
        owner = Owner(message.user_id, message.group_id)
        owned[owner, tuple(sorted(message.audience_labels))][message.id] = message
    novelties: dict[str, float] = {}
    for (owner, labels), own_messages in owned.items():
        novelties |= _novelties_of(consolidation, tenant_id, owner, labels, own_messages)
    return novelties


@memo_scope()
def _novelties_of(
    consolidation: Consolidation, tenant_id: str, owner: Owner, labels: tuple[str, ...], messages: Mapping[str, Message]
) -> dict[str, float]:
    with consolidation.db.tenant(tenant_id) as tx:
        if not memories.count(tx, owner.user_id):
            return {}
    vectors = embed_sound(
        consolidation.embedder, [message.content[:EMBEDDED_CHARACTERS] for message in messages.values()]
    )
    scope = {"group": owner.group_id, "labels": list(labels), "anywhere": False}
    with consolidation.db.tenant(tenant_id) as tx:
        near, rows = memories.nearest_active(tx, owner.user_id, vectors, memories.NEIGHBOURS, scope)
    return {
        name: novelty.novelty_of(message.content, [(rows[memory_id].content, cosine) for memory_id, cosine in ones])
        for (name, message), ones in zip(messages.items(), near, strict=True)
    }

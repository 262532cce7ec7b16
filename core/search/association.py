"""Activation that the best results of a search pass on to linked memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from core.search import spreading
from core.search.spreading import Active, Visibility
from core.storage.db import Tx

SOURCES: Final = 50
"""Memories, and messages, that pass activation on: the best of those given."""

REACH: Final = 200
"""Index rows read for each kind of link of a source."""


@dataclass(frozen=True, slots=True)
class AssociatedMemory:
    """An activated memory: its activation on the scale of the sources' scores."""

    id: UUID
    activation: float


def spread(
    tx: Tx, seeds: Mapping[UUID, float], messages: Mapping[str, float], reader: Visibility, limit: int
) -> list[AssociatedMemory]:
    """Return the most active memories one step from these memories and messages, including seeds activated by others.

    Activations of several links add up, and stay below the best score. `messages`: scores by key. Memories that the
    reader may not see are neither reached nor counted as links.
    """
    scored = [*_best((str(memory_id), score) for memory_id, score in seeds.items()), *_best(messages.items())]
    scores = {key: score for key, score in scored if score > 0}
    if not scores or limit <= 0:
        return []
    best = max(scores.values())
    links = spreading.links(tx, scores, reader, reach=REACH)
    active = spreading.gather(spreading.step([Active(key, score / best) for key, score in scores.items()], links))
    return [AssociatedMemory(UUID(memory.key), best * memory.activation) for memory in active[:limit]]


def _best(scored: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:SOURCES]

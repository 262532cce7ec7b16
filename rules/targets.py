"""The agents a rule may run, and which events follow from their work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MEMORY_EVENTS: Final = ("memory.created", "memory.updated", "memory.superseded", "memory.write.important")

TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "memory_extractor": _MEMORY_EVENTS,
    "memory_consolidator": _MEMORY_EVENTS,
    "knowledge_indexer": (),
    "embedding_refresher": (),
}

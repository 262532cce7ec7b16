"""Places in a profile that name memories: by ids where it is stored, by ordinals in an archive. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def named(value: Any, kind: type) -> Iterator[Any]:
    """Yield the memories that a part of a profile names, by names of this kind."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from inner if _names_memories(key, inner, kind) else named(inner, kind)
    elif isinstance(value, list):
        for inner in value:
            yield from named(inner, kind)


def renamed(value: Any, names: Mapping[Any, Any], kind: type) -> Any:
    """Return a part of a profile with other names of the memories; those without one are left out."""
    if isinstance(value, dict):
        return {
            key: [names[name] for name in inner if name in names]
            if _names_memories(key, inner, kind)
            else renamed(inner, names, kind)
            for key, inner in value.items()
        }
    return [renamed(inner, names, kind) for inner in value] if isinstance(value, list) else value


def _names_memories(key: str, value: Any, kind: type) -> bool:
    return key == "memories" and isinstance(value, list) and all(isinstance(name, kind) for name in value)

"""A profile as sections of lines, each with the memories that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.types import Json

ORDER: Final = (
    *("slots", "lists", "preferences", "instructions", "habits", "goals", "topics", "people", "skills", "episodes"),
    *("decisions", "shared_topics", "facts", "events", "members"),
)
"""Sections in the order in which they are read; those of users, then those of groups."""

STRUCTURE: Final = frozenset({"slots", "lists", "statements"})
"""Names of levels that say nothing by themselves."""


@dataclass(frozen=True, slots=True)
class Line:
    """One value or statement. `label`: the slot, list, topic or person that it belongs to."""

    label: str
    text: str
    memories: Sequence[str] = ()
    by: Sequence[str] = ()
    negated: bool = False
    disputed: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """A section of a profile."""

    name: str
    lines: list[Line] = field(default_factory=list)


def sections_of(attributes: Json) -> list[ProfileSection]:
    """Return the sections that have lines, in their order."""
    names = sorted(attributes, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    sections = [ProfileSection(name, list(_lines(attributes[name], ""))) for name in names]
    return [section for section in sections if section.lines]


def _lines(value: Any, label: str) -> Iterator[Line]:
    if isinstance(value, Mapping) and "memories" in value:
        yield _line(value, label)
        for other in value.get("alternatives", ()):
            yield _line(other, label)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _lines(inner, " · ".join(filter(None, (label, "" if name in STRUCTURE else name))))
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, label)
    elif value not in (None, ""):
        yield Line(label, str(value))


def _line(entry: Mapping[str, Any], label: str) -> Line:
    by = entry.get("by") or ()
    return Line(
        label,
        str(
            entry.get("value")
            or entry.get("content")
            or entry.get("name")
            or entry.get("topic")
            or entry.get("user_id")
            or ""
        ),
        list(entry["memories"]),
        [by] if isinstance(by, str) else list(by),
        bool(entry.get("negated")),
        bool(entry.get("disputed")),
        entry.get("confidence"),
    )

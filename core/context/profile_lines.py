"""Lines of the profile in stable order. Pure.

A profile lists the strongest first, so each new memory may reorder it. Lines that were shown keep their place, by
the memories they cite, never by their words: those are read again each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.context.rendering import one_line
from core.context.sections import SectionPiece
from core.reflection import profile_attributes
from core.types import Category, Json, Topic, Trust

LISTED: Final = ("preferences", "habits", "goals")
"""Parts of a profile that are lists of statements, each of them one memory verbatim."""


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A value or a statement, and the memories that say so."""

    text: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A line of the profile. `name`: `slots.home.city`, `lists.likes`, `preferences.<memory>`."""

    name: str
    values: tuple[Value, ...]

    @property
    def key(self) -> str:
        return f"profile:{self.name}"

    @property
    def memories(self) -> tuple[str, ...]:
        return tuple(memory for value in self.values for memory in value.memories)

    def piece(self, heading: str = "") -> SectionPiece:
        section, _, name = self.name.partition(".")
        values = one_line(", ".join(value.text for value in self.values))
        source = {"type": "profile", "entry": self.name, "memories": list(dict.fromkeys(self.memories))}
        return SectionPiece(self.key, f"- {values}" if section in LISTED else f"- {name}: {values}", source, heading)


def lines(attributes: Json, inactive: Collection[str] = frozenset()) -> Iterator[ProfileLine]:
    """Return slots, lists and statements, without people and topics, which a query brings up, and disputed ones.

    `inactive`: memories that are invalid while the profile still has them.
    """
    for name, slot in attributes.get("slots", {}).items():
        yield from _line(f"slots.{name}", [slot], "value", inactive)
    for name, entries in attributes.get("lists", {}).items():
        yield from _line(f"lists.{name}", entries, "value", inactive)
    for section in LISTED:
        for entry in attributes.get(section, []):
            yield from _line(f"{section}.{entry['memories'][0]}", [entry], "content", inactive)


def displaced_line(row: Any) -> ProfileLine | None:
    """Return the line of a memory that only lost its place in the profile to stronger ones; else None."""
    if row.trust == Trust.DISPUTED or (row.attribute is not None and row.value is not None):
        return None
    if {"attribute", "values"} <= row.structured.keys():
        return None
    section = profile_attributes.SECTIONS.get(Category(row.category)) or profile_attributes.ABOUT.get(Topic(row.topic))
    memory_id = str(row.id)
    return ProfileLine(f"{section}.{memory_id}", (Value(row.content, (memory_id,)),)) if section in LISTED else None


def order(displayed: Sequence[ProfileLine]) -> list[str]:
    """Return the memories that identify each value, in the order of the lines."""
    identifying: dict[str, None] = {}
    for value in (value for line in displayed for value in line.values):
        if not any(memory in identifying for memory in value.memories):
            identifying[value.memories[0]] = None
    return list(identifying)


def split_lines(current: Sequence[ProfileLine], before: Sequence[str]) -> tuple[list[ProfileLine], list[ProfileLine]]:
    """Order the lines as they were shown `before`; return also the lines of new values."""
    places = {memory: position for position, memory in enumerate(before)}
    old: list[tuple[int, ProfileLine]] = []
    new: list[ProfileLine] = []
    for line in current:
        ranked = sorted((position, value) for value in line.values if (position := _place(value, places)) >= 0)
        if ranked:
            old.append((ranked[0][0], ProfileLine(line.name, tuple(value for _, value in ranked))))
        if rest := tuple(value for value in line.values if _place(value, places) < 0):
            new.append(ProfileLine(line.name, rest))
    old.sort(key=lambda placed: (placed[0], placed[1].name))
    return [line for _, line in old], new


def names(attributes: Json) -> set[UUID]:
    """Return the memories that the lines cite."""
    return {UUID(memory) for line in lines(attributes) for memory in line.memories}


def _line(name: str, entries: Sequence[Json], value_key: str, inactive: Collection[str]) -> Iterator[ProfileLine]:
    values = []
    for entry in entries:
        standing = tuple(memory for memory in entry["memories"] if memory not in inactive)
        if standing and not entry.get("disputed"):
            values.append(Value(("not " if entry.get("negated") else "") + entry[value_key], standing))
    if values:
        yield ProfileLine(name, tuple(values))


def _place(value: Value, places: Mapping[str, int]) -> int:
    """Return the position at which a value was first shown; -1: nowhere."""
    return min((places[memory] for memory in value.memories if memory in places), default=-1)

"""Common beginning of two successive prompts, which a prompt cache reuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.types import Json


@dataclass(frozen=True, slots=True)
class Shared:
    """A section of the second prompt: how its text begins as before, how it goes on, and the tokens of both parts."""

    name: str
    kept: str
    new: str
    kept_tokens: int
    tokens: int


def shared(before: Sequence[Json], after: Sequence[Json]) -> list[Shared]:
    """Return the sections of the second prompt; behind the first character that differs nothing is reused."""
    sections, whole = list[Shared](), True
    old = {section["name"]: section["text"] for section in before}
    order = [section["name"] for section in before if section["text"]]
    for position, section in enumerate([section for section in after if section["text"]]):
        text: str = section["text"]
        whole = whole and position < len(order) and order[position] == section["name"]
        kept = _common(old[section["name"]], text) if whole else ""
        sections.append(
            Shared(section["name"], kept, text[len(kept) :], _share(section["tokens"], kept, text), section["tokens"])
        )
        whole = whole and kept == text == old[section["name"]]
    return sections


def _common(text: str, other: str) -> str:
    length = next((index for index, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), None)
    return min(text, other, key=len) if length is None else text[:length]


def _share(tokens: int, kept: str, text: str) -> int:
    """Return the tokens of the part that is kept, by its share of the characters unless it is all."""
    return tokens if kept == text else int(tokens * len(kept) / len(text))

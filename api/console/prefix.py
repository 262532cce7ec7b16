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
    found, whole = list[Shared](), True
    old = {one["name"]: one["text"] for one in before}
    order = [one["name"] for one in before if one["text"]]
    for place, one in enumerate([one for one in after if one["text"]]):
        text: str = one["text"]
        whole = whole and place < len(order) and order[place] == one["name"]
        kept = _common(old[one["name"]], text) if whole else ""
        found.append(Shared(one["name"], kept, text[len(kept) :], _share(one["tokens"], kept, text), one["tokens"]))
        whole = whole and kept == text == old[one["name"]]
    return found


def _common(one: str, other: str) -> str:
    """Return what both texts begin with."""
    length = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return min(one, other, key=len) if length is None else one[:length]


def _share(tokens: int, kept: str, text: str) -> int:
    """Return the tokens of the part that is kept, by its share of the characters unless it is all."""
    return tokens if kept == text else int(tokens * len(kept) / len(text))

"""Differences of texts, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

_PLACE: Final = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line before and after, each with its number; None: there is none. `gap`: lines before it are left out."""

    before: tuple[int, str] | None
    after: tuple[int, str] | None
    gap: bool = False

    @property
    def changed(self) -> bool:
        return self.before is None or self.after is None or self.before[1] != self.after[1]


def side_by_side(unified: str) -> list[DiffRow]:
    """Return the rows of a unified diff; lines that were replaced stand beside those in their place."""
    return list(_rows(unified.splitlines()[2:]))


def _rows(lines: Sequence[str]) -> Iterator[DiffRow]:
    old, new, first = 1, 1, False
    removed: list[tuple[int, str]] = []
    added: list[tuple[int, str]] = []
    for line in [*lines, "@@ -0 +0 @@"]:
        mark, text = line[:1], line[1:]
        if mark == "-":
            removed.append((old, text))
            old += 1
        elif mark == "+":
            added.append((new, text))
            new += 1
        else:
            for before, after in zip_longest(removed, added):
                yield DiffRow(before, after, first)
                first = False
            removed, added = [], []
            if match := _PLACE.match(line):
                old, new = int(match[1]), int(match[2])
                first = max(old, new) > 1
            else:
                yield DiffRow((old, text), (new, text), first)
                old, new, first = old + 1, new + 1, False

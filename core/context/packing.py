"""Fills sections within their allowance. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from core.context import rendering
from core.context.budget import Allowance
from core.context.sections import Section, SectionName, SectionPiece
from core.context.selection import Omission, SelectionItem, choose
from core.inference.token_counting import Counter

FOCUS: Final = 0.4
"""Share of long-term memory reserved for later questions of a session, at the end of the context."""

TITLE_TOKENS: Final = 16
"""Tokens reserved for a section's title and headings before its pieces are chosen."""


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """A result: its text, its relevance, and what contradicts it."""

    piece: SectionPiece
    score: float
    occurred_at: datetime | None = None
    conflicts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Packer:
    """Fills sections: counter, allowance and query.

    `accept_unconfirmed`: unconfirmed wishes from conversations speak with the voice of the system. `listener`: the user
    who asks, from whom other members of a group are told apart.
    """

    counter: Counter
    allowance: Allowance
    query: str
    k: int
    accept_unconfirmed: bool = False
    listener: str | None = None

    @cached_property
    def _token_counts(self) -> dict[str, int]:
        return {}

    def cost(self, text: str) -> int:
        """Count the tokens of a text, once."""
        if text not in self._token_counts:
            self._token_counts[text] = self.counter.count(text)
        return self._token_counts[text]

    def line(self, piece: SectionPiece) -> int:
        """Count the tokens of a piece and its line break."""
        return self.cost(piece.text) + 1

    def section(
        self, part: SectionName, allowed: int, pieces: Sequence[SectionPiece], left: Iterable[Omission] = ()
    ) -> Section:
        """Make a section of pieces; the last ones are dropped while title and headings exceed the room."""
        kept, left_out = list(pieces), list(left)
        text = rendering.section_text(part, kept)
        while kept and self.cost(text) > allowed:
            left_out.append(Omission(kept.pop().key, "no room", "room"))
            text = rendering.section_text(part, kept)
        return Section(part, text, self.cost(text) if text else 0, allowed, kept, left_out)

    def first(self, part: SectionName, allowed: int, pieces: Iterable[SectionPiece]) -> Section:
        """Take pieces in order as there is room; a shorter one may fit behind one that does not."""
        kept, left_out, left = [], [], allowed - TITLE_TOKENS
        for piece in pieces:
            if (cost := self.line(piece)) <= left:
                left -= cost
                kept.append(piece)
            else:
                left_out.append(Omission(piece.key, "no room", "room"))
        return self.section(part, allowed, kept, left_out)

    def best(
        self, part: SectionName, allowed: int, results: Sequence[ScoredPiece], left: Iterable[Omission] = ()
    ) -> Section:
        """Take the cheapest set of results that says enough."""
        by_key = {result.piece.key: result for result in results}
        items = [
            SelectionItem(
                key, result.piece.text, self.line(result.piece), result.score, result.occurred_at, result.conflicts
            )
            for key, result in by_key.items()
        ]
        chosen = choose(items, max(0, allowed - TITLE_TOKENS), self.query, self.k)
        kept = [by_key[item.key].piece for item in chosen.kept]
        return self.section(part, allowed, kept, [*left, *chosen.left_out])


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens of the parts behind the fixed ones; what one leaves, the next may fill.

    `focus` is not passed on: the window of recent messages would move with every question.
    """

    memories: int
    focus: int
    short_term: int

    def recent(self, used: int) -> int:
        """Return the tokens left for the conversation after `used` tokens."""
        return max(0, self.short_term + self.memories - used)


def room(allowance: Allowance, used: int, *, session: bool) -> Room:
    """Return the room left by `used` tokens of fixed sections."""
    long_term = allowance.long_term + allowance.system - used
    focus = min(int(allowance.long_term * FOCUS), max(0, long_term)) if session else 0
    short_term = allowance.short_term if session else 0
    return Room(max(0, long_term - focus) + (0 if session else allowance.short_term), focus, short_term)

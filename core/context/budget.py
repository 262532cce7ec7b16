"""Splits the token limit. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from core.errors import Invalid, Problem

EXACT: Final = 1e-9
"""Tolerance by which shares may exceed one: the rounding of binary fractions."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Shares of the limit. `system`: pinned and standing instructions, profile. `long_term`: memories, passages.

    `short_term`: summary, plan, recent messages. `reserve`: left free for the answer, never reassigned.

    Raises:
        Invalid: at `/budget/…`, for a share outside 0 … 1 or a sum above 1.
    """

    system: float = 0.15
    long_term: float = 0.15
    short_term: float = 0.50
    reserve: float = 0.20

    def __post_init__(self) -> None:
        shares = {field.name: getattr(self, field.name) for field in fields(self)}
        problems = [
            Problem(f"/budget/{name}", "A share is a number from 0 to 1.")
            for name, share in shares.items()
            if not 0 <= share <= 1  # what is not a number is refused as well
        ]
        if not problems and sum(shares.values()) > 1 + EXACT:
            problems.append(Problem("/budget", "The shares add up to more than 1. Lower one of them."))
        if problems:
            raise Invalid(problems)


USUAL: Final = Budget()


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens for each part; with `reserve` never more than the limit."""

    system: int
    long_term: int
    short_term: int
    reserve: int = 0


def split_limit(limit: int, budget: Budget = USUAL) -> Allowance:
    """Split `limit` tokens among the parts, rounded down; the rest goes to the reserve."""
    system, long_term, short_term = (
        int(limit * share + EXACT) for share in (budget.system, budget.long_term, budget.short_term)
    )
    reserve = min(limit - system - long_term - short_term, int(limit * budget.reserve) + 3)
    return Allowance(system, long_term, short_term, max(0, reserve))

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context.budget import USUAL, Allowance, Budget, split_limit
from core.errors import Invalid

share = st.floats(0, 1)
budgets = st.builds(
    lambda a, b, c, d: Budget(*(one / max(1, a + b + c + d) for one in (a, b, c, d))), share, share, share, share
)
limits = st.integers(0, 2_000_000)
wishes = st.integers(0, 3_000_000)
wanted = st.builds(Allowance, wishes, wishes, wishes)
PARTS = ("system", "long_term", "short_term")


@given(limits, budgets)
def test_the_parts_are_whole_and_never_more_than_the_limit(limit: int, budget: Budget) -> None:
    shares = split_limit(limit, budget)
    assert min(shares.system, shares.long_term, shares.short_term, shares.reserve) >= 0
    assert shares.system + shares.long_term + shares.short_term + shares.reserve <= limit
    for part in PARTS:
        assert abs(getattr(shares, part) - limit * getattr(budget, part)) <= 1


def test_the_usual_shares() -> None:
    assert split_limit(8000) == Allowance(1200, 1200, 4000, 1600)
    assert split_limit(0) == Allowance(0, 0, 0, 0)
    assert split_limit(7) == Allowance(1, 1, 3, 2)


@pytest.mark.parametrize(
    ("shares", "pointer"),
    [
        ((-0.1, 0.1, 0.1, 0.1), "/budget/system"),
        ((0.1, 1.1, 0, 0), "/budget/long_term"),
        ((0.1, 0.1, math.nan, 0.1), "/budget/short_term"),
        ((0.1, 0.1, 0.1, math.inf), "/budget/reserve"),
        ((0.5, 0.5, 0.5, 0), "/budget"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_with_its_place(shares, pointer) -> None:
    with pytest.raises(Invalid) as caught:
        Budget(*shares)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_shares_that_only_rounding_lifts_above_one_are_fine() -> None:
    assert split_limit(10, Budget(0.1, 0.2, 0.3, 0.4)) == Allowance(1, 2, 3, 4)
    assert USUAL.reserve == 0.20

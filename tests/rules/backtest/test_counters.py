from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rules.backtest import counters
from rules.backtest.counters import Act, Comparison, Distinct, Ends, Shift, Side, Tally
from tests.rules.samples import NOON


def an_act(number: int, at: datetime = NOON, key: str = "k", user: str | None = "ada") -> Act:
    return Act(at, number, (f"e{number}",), key, user)


def test_few_different_values_are_counted_exactly() -> None:
    seen = Distinct()
    for number in range(5000):
        seen.add(f"user {number % 1234}")
    assert len(seen) == 1234


def test_many_different_values_are_estimated_within_a_few_percent_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counters, "KEPT_HASHES", 2000)
    seen = Distinct()
    for number in range(50_000):
        seen.add(f"user {number}")
        seen.add(f"user {number // 2}")
    assert len(seen) == pytest.approx(50_000, rel=0.07)
    assert len(seen._kept) == len(seen._largest) == 2000


def test_the_first_and_the_last_are_kept_and_none_of_them_twice() -> None:
    for count, shown in ((0, []), (1, [0]), (3, [0, 1, 2]), (4, [0, 1, 2, 3]), (9, [0, 1, 7, 8])):
        ends = Ends(2)
        for number in range(count):
            ends.add(an_act(number))
        assert [act.last_seq for act in ends.all()] == shown
    none = Ends(0)
    none.add(an_act(1))
    assert none.all() == []


def test_acts_are_counted_by_the_day_in_utc() -> None:
    counted = Tally(Ends(1))
    for hours in (0, 11, 12, 13):
        east = (NOON + timedelta(hours=hours)).astimezone(tz=None)
        counted.add(an_act(hours, east, f"k{hours % 2}", None if hours else "ada"))
    assert {day.isoformat(): fired for day, fired in counted.days.items()} == {"2026-11-21": 2, "2026-11-22": 2}
    assert (counted.fired, len(counted.keys), len(counted.users)) == (4, 2, 1)


def test_the_same_act_of_both_is_found_whoever_comes_first() -> None:
    compared = Comparison()
    compared.add("draft", [1, 2])
    compared.add("in_force", [2, 3])
    compared.add("draft", [3])
    compared.close()
    assert (compared.both, dict(compared.alone)) == (2, {"draft": 1})


def test_what_the_other_may_still_act_on_is_waited_for_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "SETTLED_FROM", 3)
    compared = Comparison(_settle_at=3)

    def tails(side: Side) -> set[int]:
        return {2} if side == "in_force" else set()

    compared.add("draft", [1, 2])
    compared.settle(tails)
    assert compared.alone == {}
    compared.add("in_force", [9])
    compared.settle(tails)
    assert dict(compared.alone) == {"draft": 1, "in_force": 1}
    compared.add("in_force", [2])
    compared.close()
    assert (compared.both, dict(compared.alone)) == (1, {"draft": 1, "in_force": 1})


def test_of_the_acts_of_one_side_alone_the_last_are_named() -> None:
    compared = Comparison(limit=2)
    compared.add("draft", [5, 1, 4, 2, 3])
    compared.add("in_force", [4])
    compared.close()
    assert compared.last == {"draft": [3, 5], "in_force": []}


def test_rules_that_are_displaced_most_come_first() -> None:
    shift = Shift(1)
    shift.add(["a", "b"], "e1")
    shift.add(["b"], "e2")
    assert shift.as_json() == [
        {"rule": "b", "times": 2, "samples": ["e1"]},
        {"rule": "a", "times": 1, "samples": ["e1"]},
    ]

"""The newest of contradicting messages comes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from core.search import succession
from core.types import Message

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DELHI, AGRA = "The capital of Ruritania is Strelsau.", "The capital of Ruritania is Zenda."
ASKED = "What is the capital of Ruritania?"


def spoken(*contents: str, speaker: str = "Ada", apart: int = 1) -> dict[str, Message]:
    return {
        f"m{n}": Message("s", f"m{n}", n, f"e{n}", "ada", "user", one, NOON + timedelta(minutes=apart * n), speaker)
        for n, one in enumerate(contents)
    }


def test_a_later_value_succeeds_an_earlier_one() -> None:
    assert succession.successors(ASKED, spoken(DELHI, AGRA)) == [("m0", "m1")]
    assert succession.successors(ASKED, dict(reversed(spoken(DELHI, AGRA).items()))) == [("m0", "m1")]


def test_nobody_corrects_another_speaker() -> None:
    other = spoken(DELHI, AGRA)["m1"]
    pair = {
        "m0": spoken(DELHI)["m0"],
        "m1": Message(**{n: getattr(other, n) for n in Message.__slots__} | {"speaker": "Bo"}),
    }
    assert succession.successors(ASKED, pair) == []


def test_what_is_said_at_one_time_has_no_order() -> None:
    assert succession.successors(ASKED, spoken(DELHI, AGRA, apart=0)) == []


def test_of_three_the_newest_is_raised_most() -> None:
    scores = succession.Scores(np.array([3.0, 2.0, 1.0]), np.zeros(3), {})
    raised = succession.raise_later(scores, [(0, 1), (0, 2), (1, 2)])
    assert list(np.argsort(-raised.total)) == [2, 1, 0]
    assert raised.total[0] == 3.0

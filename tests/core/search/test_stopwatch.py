"""A stopwatch gives each stage the time since the one before it ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.search import stopwatch
from core.search.stopwatch import Stopwatch


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that shows 10.25, 11 and 11.0004 seconds."""
    times: Iterator[float] = iter([10.25, 11.0, 11.0004])
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: next(times))


@pytest.mark.usefixtures("clock")
def test_each_stage_has_the_time_since_the_last_one_ended_in_their_order() -> None:
    watch = Stopwatch(_last=10.0)
    for stage in ("words", "vectors", "ranking"):
        watch.lap(stage)
    assert list(watch.ms.items()) == [("words", 250.0), ("vectors", 750.0), ("ranking", 0.4)]


@pytest.mark.usefixtures("clock")
def test_a_stage_that_comes_twice_has_the_time_of_both() -> None:
    watch = Stopwatch(_last=10.0)
    for stage in ("words", "vectors", "words"):
        watch.lap(stage)
    assert watch.ms == {"words": 250.4, "vectors": 750.0}


def test_each_search_has_times_of_its_own() -> None:
    Stopwatch().lap("words")
    assert Stopwatch().ms == {}

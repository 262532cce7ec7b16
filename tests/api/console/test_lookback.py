from __future__ import annotations

from datetime import UTC, datetime, timedelta

from api.console import lookback

NOW = datetime(2026, 11, 26, tzinfo=UTC)
OLDEST = {
    "recorded_at": (NOW - timedelta(days=10)).isoformat(),
    "valid_from": (NOW - timedelta(days=100)).isoformat(),
    "occurred_at": None,
}


def test_a_percentage_is_a_share_of_the_time_since_the_first_memory() -> None:
    found = lookback.between([OLDEST], 50, 90, NOW)
    assert found.as_of == (NOW - timedelta(days=50)).isoformat()
    assert found.known_at == (NOW - timedelta(days=1)).isoformat()
    assert found.query == "?true_then=50&known_then=90"


def test_the_right_end_is_now() -> None:
    found = lookback.between([OLDEST], 100, 100, NOW)
    assert (found.as_of, found.known_at) == (None, None)


def test_without_memories_there_is_no_time_to_look_back_on() -> None:
    assert lookback.between([], 0, 0, NOW).as_of == NOW.isoformat()


def test_a_memory_without_a_date_begins_when_it_was_recorded() -> None:
    found = lookback.between([OLDEST | {"valid_from": None}], 0, 0, NOW)
    assert found.true_from == found.known_from == NOW - timedelta(days=10)

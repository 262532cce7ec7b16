from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rules.expressions.times import as_time, parse_duration, parse_time


@pytest.mark.parametrize(
    "text",
    ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00+01:00", "2026-11-21t10:00:00.000000000z", "2026-11-21 10:00:00Z"],
)
def test_every_form_of_a_moment_is_that_moment(text: str) -> None:
    assert parse_time(text) == datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21",
        "2026-11-21T10:00:00",
        "2026-11-21T10:00Z",
        "2026-13-21T10:00:00Z",
        "2026-11-21T10:00:60Z",
        "20261121T100000Z",
        "2026-11-21T10:00:00Z tomorrow",
        "２０２６-11-21T10:00:00Z",
        "",
    ],
)
def test_what_is_no_rfc_3339_moment_is_none(text: str) -> None:
    assert parse_time(text) is None


MOMENTS = st.datetimes(min_value=datetime(1970, 1, 2), timezones=st.timezones())  # noqa: DTZ001


@given(MOMENTS)
@example(datetime(1995, 9, 24, 2, tzinfo=ZoneInfo("Asia/Atyrau")))
def test_a_moment_survives_being_written_down_even_in_the_hour_a_zone_repeats(moment: datetime) -> None:
    offset = moment.utcoffset()
    if offset is not None and offset.total_seconds() % 60 == 0:
        assert parse_time(moment.isoformat(timespec="microseconds")) == as_time(moment)


def test_a_time_without_a_zone_from_the_database_is_utc() -> None:
    assert as_time(datetime(2026, 1, 1)) == datetime(2026, 1, 1, tzinfo=UTC)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("1h30m", 5400), ("7d", 604_800), ("2w", 1_209_600), ("0.5h", 1800)],
)
def test_a_duration_is_its_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "7 d", "-7d", "7x", "7d!", "P7D", "٧d"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None

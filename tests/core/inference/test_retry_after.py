"""The pause that a server asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.inference.retry_after import LONGEST_PAUSE, retry_after

PAUSES = {
    "2": timedelta(seconds=2),
    "1.5": timedelta(seconds=1.5),
    "0": timedelta(),
    "Wed, 21 Oct 2015 07:28:00 GMT": timedelta(),
    "Wed, 21 Oct 2015 07:28:00 -0000": timedelta(),
    "9" * 400: LONGEST_PAUSE,
    "Fri, 31 Dec 9999 23:59:59 GMT": LONGEST_PAUSE,
    "Fri, 31 Dec 9999 23:59:59 -2359": LONGEST_PAUSE,
    "Sat, 01 Jan 0001 00:00:00 +2359": timedelta(),
    "soon": None,
    "-3": None,
    "٣": None,
    "": None,
    "Fri, 99 Foo 2026": None,
}


@pytest.mark.parametrize(("said", "pause"), PAUSES.items(), ids=[key[:30] for key in PAUSES])
def test_retry_after_is_read_as_it_is_meant(said: str, pause: timedelta | None) -> None:
    assert retry_after({"retry-after": said}) == pause


@hypothesis_settings(deadline=None)
@given(st.text())
def test_whatever_stands_in_retry_after_is_survived(said: str) -> None:
    pause = retry_after({"retry-after": said})
    assert pause is None or timedelta() <= pause <= LONGEST_PAUSE


def test_a_date_to_come_is_a_pause_from_now() -> None:
    soon = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True)})
    assert soon is not None
    assert timedelta(seconds=110) < soon <= timedelta(minutes=2)

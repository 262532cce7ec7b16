from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from imprint_client import Retries
from imprint_client.retrying import retry_after


def test_a_pause_is_at_least_what_the_service_asks_for() -> None:
    answer = httpx.Response(429, headers={"Retry-After": "7"})
    assert all(7 <= Retries().pause(0, answer) <= 8 for _ in range(100))


def test_pauses_spread_and_are_bounded() -> None:
    pauses = [Retries(base=1, longest=4).pause(9, None) for _ in range(200)]
    assert max(pauses) <= 4
    assert len({round(pause, 2) for pause in pauses}) > 50


def test_retry_after_may_be_a_date() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after(httpx.Response(503, headers={"Retry-After": at})) == pytest.approx(60, abs=2)
    assert retry_after(httpx.Response(503, headers={"Retry-After": "soon"})) is None

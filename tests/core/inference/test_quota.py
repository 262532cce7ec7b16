"""The bucket and the breaker: their arithmetic, and the row that all workers share."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from core.config import Settings
from core.errors import Later
from core.inference import quota
from core.inference.quota import BreakerOpen, Grant, Meter, Provider
from core.inference.token_bucket import Need
from core.storage.db import Database
from tests.core.inference.providers import FREE, NAME, a_provider, admitted, put, row

# The arithmetic, with the time given.


# The row.


def test_the_provider_is_named_by_host_and_model_and_no_key_stands_in_it(settings: Settings) -> None:
    there = {"llm_base_url": "http://user:secret@10.0.0.1:11434/v1", "llm_model": "qwen3:8b"}
    assert quota.provider(settings.model_copy(update=there)).name == "10.0.0.1:11434/qwen3:8b"
    assert quota.provider(settings).name == "api.openai.com/gpt-5-mini"


def test_twenty_at_once_never_get_more_than_the_bucket_holds(settings: Settings, app: Database) -> None:
    """At one a minute nothing flows in while they ask."""
    provider = a_provider(requests=7, tokens=None)
    admitted(app, provider, Need(0, 0))
    put(app, "filled_at = filled_at + interval '1 hour'")  # The clock stands still for as long.
    together = threading.Barrier(20, timeout=60)

    def ask(_: int) -> int:
        together.wait()
        return sum(admitted(app, provider).granted for _ in range(3))

    with ThreadPoolExecutor(20) as pool:
        granted = sum(pool.map(ask, range(20)))
    assert (granted, row(app).requests) == (7, 0)


def test_at_the_first_moment_of_a_provider_too(settings: Settings, app: Database) -> None:
    provider, together = a_provider(requests=3, tokens=None), threading.Barrier(20, timeout=60)
    began = time.monotonic()

    def ask(_: int) -> bool:
        together.wait()
        return admitted(app, provider).granted

    with ThreadPoolExecutor(20) as pool:
        granted = sum(pool.map(ask, range(20)))
    assert 3 <= granted <= 3 + (time.monotonic() - began) / 20  # One flows in every twenty seconds.


def test_of_many_workers_exactly_one_tries(app: Database) -> None:
    provider = a_provider()
    admitted(app, provider)
    put(app, "failures = 3, open_until = clock_timestamp() - interval '1 second'")
    meter, together = Meter(app, provider), threading.Barrier(20, timeout=60)

    def ask(number: int) -> str:
        """Half of them come to the gate, half are in the middle of a job."""
        together.wait()
        if number % 2:
            return admitted(app, provider).verdict
        grant = Grant()
        try:
            meter.enter(grant)
        except BreakerOpen:
            return "breaker"
        return "probe" if grant.probe else "admitted"

    with ThreadPoolExecutor(20) as pool:
        verdicts = sorted(pool.map(ask, range(20)))
    assert verdicts == ["breaker"] * 19 + ["probe"]


def test_calls_are_paid_from_the_grant_and_what_is_beyond_it_is_owed(app: Database) -> None:
    provider = a_provider()
    meter, grant = Meter(app, provider), Grant(Need(2, 1_000))
    assert admitted(app, provider, grant.left).granted
    put(app, "filled_at = filled_at + interval '1 hour'")
    before = row(app)
    meter.answered(grant, 600)
    assert (row(app).requests, row(app).tokens) == (before.requests, before.tokens)
    meter.answered(grant, 600)
    assert (row(app).requests, row(app).tokens) == (before.requests, before.tokens - 200)
    meter.answered(grant, 600)
    assert (row(app).requests, row(app).tokens) == (before.requests - 1, before.tokens - 800)
    with app.queue() as tx:
        quota.give_back(tx, provider, grant)
    assert row(app).tokens == before.tokens - 800, "nothing was left"


def test_what_a_job_did_not_use_is_put_back_once(app: Database) -> None:
    provider, grant = a_provider(), Grant(Need(3, 2_000))
    admitted(app, provider, grant.left)
    put(app, "filled_at = filled_at + interval '1 hour'")
    Meter(app, provider).answered(grant, 500)
    for _ in range(2):
        with app.queue() as tx:
            quota.give_back(tx, provider, grant)
    assert (row(app).requests, row(app).tokens) == (59, pytest.approx(5_500, abs=1))


def test_who_was_to_try_and_did_not_ask_lets_the_next_one_try(app: Database) -> None:
    provider = a_provider()
    admitted(app, provider)
    put(app, "failures = 3, open_until = clock_timestamp()")
    assert admitted(app, provider).verdict == "probe"
    assert admitted(app, provider).verdict == "breaker"
    with app.queue() as tx:
        quota.give_back(tx, provider, Grant(probe=True))
    assert admitted(app, provider).verdict == "probe"


def test_refusals_open_the_breaker_for_all_and_an_answer_closes_it(app: Database) -> None:
    meter = Meter(app, a_provider())
    assert [meter.refused(Grant(), None) for _ in range(2)] == [None, None]
    alone = meter.refused(Grant(), timedelta(seconds=100))
    assert alone is not None
    assert alone == timedelta(seconds=100)
    with pytest.raises(BreakerOpen, match=NAME) as raised:
        meter.enter(Grant())
    assert isinstance(raised.value, Later)
    assert raised.value.after is not None
    assert timedelta(seconds=60) < raised.value.after <= timedelta(seconds=100)
    meter.answered(Grant(), 10)
    meter.enter(Grant())
    assert (row(app).failures, row(app).open_until) == (0, None)


def test_a_call_where_nothing_is_limited_leaves_the_row_alone(app: Database) -> None:
    meter = Meter(app, Provider(NAME, FREE))
    meter.refused(Grant(), None)
    meter.answered(Grant(), 10)
    before = row(app).filled_at
    for _ in range(3):
        meter.enter(Grant())
        meter.answered(Grant(), 10)
    assert row(app).filled_at == before


def test_a_limit_that_is_set_later_begins_with_what_has_flown_in(app: Database) -> None:
    admitted(app, Provider(NAME, FREE))
    put(app, "filled_at = filled_at - interval '30 seconds'")
    assert admitted(app, a_provider(requests=60, tokens=None)).granted
    assert 28.9 < row(app).requests < 60

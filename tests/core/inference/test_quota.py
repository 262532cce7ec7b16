"""The bucket and the breaker: their arithmetic, and the row that all workers share."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.config import Settings
from core.errors import Later
from core.inference import quota, token_bucket
from core.inference.quota import BreakerOpen, Grant, Meter, Provider
from core.inference.token_bucket import Admission, Level, Need, ProviderLimits
from core.storage.db import Database

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMITS = ProviderLimits(60, 6_000, 3, timedelta(seconds=30), timedelta(seconds=90))
FREE = replace(LIMITS, requests=None, tokens=None)
NAME = "models.example/m"


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def a_provider(**limits: Any) -> Provider:
    return Provider(NAME, replace(LIMITS, **limits))


def row(db: Database) -> Any:
    with db.queue() as tx:
        return tx.execute(text("SELECT * FROM providers WHERE name = :name"), {"name": NAME}).one()


def put(db: Database, changes: str) -> None:
    with db.queue() as tx:
        tx.execute(text(f"UPDATE providers SET {changes} WHERE name = :name"), {"name": NAME})


def admitted(db: Database, provider: Provider, need: Need = Need(1, 0)) -> Admission:
    with db.queue() as tx:
        return quota.admit(tx, provider, need)


# The arithmetic, with the time given.


def test_a_full_bucket_gives_a_minute_s_worth_and_then_as_much_as_flows_in() -> None:
    level, granted = token_bucket.full_level(LIMITS, NOW), 0
    for tick in range(1_200):  # two minutes, in tenths of a second
        level, answer = token_bucket.admit(level, LIMITS, later(tick / 10), Need(1, 0))
        granted += answer.granted
    assert granted == 60 + 119  # what was there, and one a second


@hypothesis_settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 10), st.floats(0, 9_000)), max_size=60),
    st.floats(1, 600),
    st.floats(1, 20_000),
)
def test_nobody_gets_more_than_was_there_and_has_flown_in(
    asked: list[tuple[float, float, float]], requests: float, tokens: float
) -> None:
    limits = replace(LIMITS, requests=requests, tokens=tokens)
    level, now, got = token_bucket.full_level(limits, NOW), NOW, Need(0, 0)
    for pause, wanted, size in asked:
        now += timedelta(seconds=pause)
        level, answer = token_bucket.admit(level, limits, now, Need(wanted, size))
        if answer.granted:
            got = Need(got.requests + wanted, got.tokens + size)
            # What is larger than the bucket goes in once it is full, and is owed afterwards.
        seconds = (now - NOW).total_seconds()
        assert got.requests <= requests * (1 + seconds / 60) + max(0, wanted - requests) + 10 + 1e-6
        assert level.requests <= requests + 1e-9
        assert level.tokens <= tokens + 1e-9
        assert level.requests >= min(0, requests - 10) - 1e-6


@hypothesis_settings(deadline=None)
@given(st.floats(0, 59), st.floats(0, 5_999), st.floats(1, 60), st.floats(1, 9_000))
def test_who_waits_as_long_as_was_said_is_let_in_and_a_moment_before_is_not(
    requests: float, tokens: float, wanted: float, size: float
) -> None:
    level = Level(requests, tokens, NOW)
    _, answer = token_bucket.admit(level, LIMITS, NOW, Need(wanted, size))
    if answer.granted:
        return
    assert token_bucket.admit(level, LIMITS, NOW + answer.wait, Need(wanted, size))[1].granted
    early = NOW + answer.wait - timedelta(seconds=0.01)
    assert early <= NOW or not token_bucket.admit(level, LIMITS, early, Need(wanted, size))[1].granted


def test_what_is_larger_than_the_bucket_is_let_in_when_it_is_full_and_owed_afterwards() -> None:
    level, answer = token_bucket.admit(token_bucket.full_level(LIMITS, NOW), LIMITS, NOW, Need(1, 15_000))
    assert (answer.verdict, level.tokens) == ("admitted", -9_000)
    _, answer = token_bucket.admit(level, LIMITS, NOW, Need(1, 100))
    assert (answer.verdict, answer.wait.total_seconds()) == ("tokens", pytest.approx(91, abs=0.01))


def test_what_is_scarcer_is_named() -> None:
    assert token_bucket.admit(Level(0, 6_000, NOW), LIMITS, NOW, Need(1, 1))[1].verdict == "requests"
    assert token_bucket.admit(Level(60, 0, NOW), LIMITS, NOW, Need(1, 1))[1].verdict == "tokens"


def test_where_nothing_is_limited_nothing_is_counted() -> None:
    level = token_bucket.full_level(FREE, NOW)
    after, answer = token_bucket.admit(level, FREE, NOW, Need(1_000, 1e9))
    assert (after, answer) == (level, Admission("admitted"))


def test_a_clock_that_goes_back_gives_nothing() -> None:
    level = Level(0, 0, NOW)
    assert token_bucket.refill(level, LIMITS, later(-3_600)) == level


def test_what_is_put_back_does_not_overflow() -> None:
    assert token_bucket.give_back(
        token_bucket.full_level(LIMITS, NOW), LIMITS, Need(5, 500)
    ) == token_bucket.full_level(LIMITS, NOW)


def opened() -> Level:
    """A provider that has just refused for the third time."""
    level = token_bucket.full_level(LIMITS, NOW)
    for _ in range(3):
        assert level.open_until is None
        level = token_bucket.count_refusal(level, LIMITS, NOW)
    return level


def test_refusals_in_a_row_open_the_breaker_and_an_answer_between_them_does_not_count() -> None:
    assert opened().open_until == later(30)
    level = token_bucket.full_level(LIMITS, NOW)
    for _ in range(10):
        level = token_bucket.close_breaker(
            token_bucket.count_refusal(token_bucket.count_refusal(level, LIMITS, NOW), LIMITS, NOW)
        )
    assert (level.failures, level.open_until) == (0, None)


def test_while_it_is_open_nobody_asks_then_one_and_the_others_look_again_soon() -> None:
    level, answer = token_bucket.enter(opened(), LIMITS, later(29))
    assert answer == Admission("breaker", timedelta(seconds=1))
    level, answer = token_bucket.enter(level, LIMITS, later(30))
    assert answer.verdict == "probe"
    level, answer = token_bucket.enter(level, LIMITS, later(31))
    assert answer == Admission("breaker", token_bucket.LOOK_AGAIN)
    assert token_bucket.enter(token_bucket.close_breaker(level), LIMITS, later(31))[1].verdict == "admitted"


def test_one_refusal_of_the_one_that_tries_opens_it_again() -> None:
    level, _ = token_bucket.enter(opened(), LIMITS, later(30))
    assert token_bucket.count_refusal(level, LIMITS, later(32)).open_until == later(62)


def test_who_tried_and_never_came_back_is_followed_by_another() -> None:
    level, _ = token_bucket.enter(opened(), LIMITS, later(30))
    assert not token_bucket.enter(level, LIMITS, later(119))[1].granted
    assert token_bucket.enter(level, LIMITS, later(120))[1].verdict == "probe"


def test_a_single_refusal_may_be_enough() -> None:
    strict = replace(LIMITS, failures=1)
    level = token_bucket.count_refusal(token_bucket.full_level(strict, NOW), strict, NOW)
    assert not token_bucket.enter(level, strict, NOW)[1].granted
    level, answer = token_bucket.enter(level, strict, later(30))
    assert answer.verdict == "probe"
    assert token_bucket.enter(level, strict, later(30))[1] == Admission("breaker", token_bucket.LOOK_AGAIN)


def test_who_asks_to_be_left_alone_for_longer_is_but_not_for_ever() -> None:
    level = replace(token_bucket.full_level(LIMITS, NOW), failures=2)
    assert token_bucket.count_refusal(level, LIMITS, NOW, timedelta(seconds=200)).open_until == later(200)
    assert (
        token_bucket.count_refusal(level, LIMITS, NOW, timedelta(days=9)).open_until == NOW + token_bucket.LONGEST_BREAK
    )


def test_the_one_that_tries_goes_even_where_the_bucket_is_empty() -> None:
    level = replace(opened(), requests=0.0, tokens=0.0)
    level, answer = token_bucket.admit(level, replace(LIMITS, requests=1), later(30), Need(1, 9_000))
    assert (answer.verdict, level.requests, level.tokens) == ("probe", -0.5, -6_000)


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

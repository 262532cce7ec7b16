"""Provider quota and circuit breaker shared by all workers, as rows.

An admitted job gets a grant: tokens reserved from the bucket. Its calls are paid from the grant; excess use is
debited, and the unused rest is returned at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import text

from core import metrics
from core.config import Settings
from core.errors import Later
from core.inference import token_bucket
from core.inference.token_bucket import Admission, Level, Need, ProviderLimits
from core.storage.db import Database, Tx

OPENAI = "https://api.openai.com/v1"
"""Base URL of a client without one."""

BREAKER_FAILURES: Final = 5
"""Consecutive refusals after which no worker calls the model for a while: fewer happen by chance under load."""

BREAKER_PAUSE: Final = timedelta(seconds=30)
"""Duration of that suspension: providers count their limits by the minute."""

ONE = Need(1, 0)
"""Need of a call whose tokens are not known yet."""


class BreakerOpen(Later):
    """Calls to the model are suspended because it refused too many. The work waits without losing an attempt."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider (host and model) that counts requests and tokens, with its limits."""

    name: str
    limits: ProviderLimits


@dataclass(slots=True)
class Grant:
    """Tokens reserved from the bucket for one job and not used yet; `probe`: its calls test the provider."""

    left: Need = field(default_factory=lambda: Need(0, 0))
    probe: bool = False

    def pay(self, need: Need) -> Need:
        """Pay from the grant; return what it does not cover."""
        beyond, self.left = need.without(self.left), self.left.without(need)
        return beyond


def provider(settings: Settings) -> Provider:
    """Return the provider that the settings name."""
    where = urlsplit(str(settings.llm_base_url or OPENAI))
    limits = ProviderLimits(
        requests=settings.llm_requests_per_minute,
        tokens=settings.llm_tokens_per_minute,
        failures=BREAKER_FAILURES,
        pause=BREAKER_PAUSE,
        # It may wait for its answer as long as any, and then has as long again to say so.
        probe=timedelta(seconds=settings.llm_timeout_seconds) + BREAKER_PAUSE,
    )
    return Provider(f"{where.netloc.rpartition('@')[2]}/{settings.llm_model}", limits)


def admit(tx: Tx, provider: Provider, need: Need) -> Admission:
    """Take what a job needs from the bucket, all or nothing. Other workers wait until this transaction ends."""
    return _ask(tx, provider, lambda level, now: token_bucket.admit(level, provider.limits, now, need))


def give_back(tx: Tx, provider: Provider, grant: Grant) -> None:
    """Return what a job has not used; if it was the probe and made no call, allow the next one."""
    left, untried = grant.left, grant.probe
    if not (left.requests or left.tokens or untried):
        return

    def turn(level: Level, now: datetime) -> Level:
        level = token_bucket.give_back(token_bucket.refill(level, provider.limits, now), provider.limits, left)
        return token_bucket.release_probe(level, now) if untried else level

    _change(tx, provider, turn)
    grant.left, grant.probe = Need(0, 0), False


@dataclass(frozen=True, slots=True)
class Meter:
    """Wraps the calls of a client: none passes an open breaker, and every call is counted."""

    db: Database
    provider: Provider

    def enter(self, grant: Grant) -> None:
        """Check the breaker before a call; the bucket was checked at admission. BreakerOpen: calls are suspended."""
        if grant.probe:
            return
        with self.db.queue() as tx:
            row = tx.execute(_READ, {"name": self.provider.name}).one_or_none()
        if row is None or row.open_until is None:
            return
        limits = self.provider.limits
        with self.db.queue() as tx:
            answer = _ask(tx, self.provider, lambda level, now: token_bucket.enter(level, limits, now))
        if not answer.granted:
            raise BreakerOpen(
                f"{self.provider.name} refused too many requests; calls are suspended for a while.", answer.wait
            )
        grant.probe = answer.verdict == "probe"

    def answered(self, grant: Grant, tokens: int) -> None:
        """Record an answered call, usable or not: its tokens are used, and the breaker closes."""
        self._after(grant, Need(1, tokens), lambda level, _now: token_bucket.close_breaker(level))
        grant.probe = False

    def refused(self, grant: Grant, after: timedelta | None) -> timedelta | None:
        """Record a refusal that any caller would have got; return how long calls are suspended, if they are."""
        limits = self.provider.limits
        level = self._after(
            grant, ONE, lambda level, now: token_bucket.count_refusal(level, limits, now, after), always=True
        )
        grant.probe = False
        return level.open_until - level.filled_at if level and level.open_until else None

    def _after(
        self, grant: Grant, need: Need, then: Callable[[Level, datetime], Level], *, always: bool = False
    ) -> Level | None:
        """Debit what the grant does not cover, and update the breaker; an unchanged row is not locked."""
        provider, beyond = self.provider, grant.pay(need)

        def turn(level: Level, now: datetime) -> Level:
            level = token_bucket.refill(level, provider.limits, now)
            return then(token_bucket.take(level, provider.limits, beyond), now)

        with self.db.queue() as tx:
            limited = (provider.limits.requests and beyond.requests) or (provider.limits.tokens and beyond.tokens)
            if not always and not limited:
                row = tx.execute(_READ, {"name": provider.name}).one_or_none()
                if row is None or (row.failures == 0 and row.open_until is None):
                    return None
            return _change(tx, provider, turn)


def _ask(tx: Tx, provider: Provider, turn: Callable[[Level, datetime], tuple[Level, Admission]]) -> Admission:
    """Change the level by a turn that also answers; return the answer."""
    answers: list[Admission] = []

    def turned(level: Level, now: datetime) -> Level:
        after, answer = turn(level, now)
        answers.append(answer)
        return after

    _change(tx, provider, turned)
    return answers[0]


def _change(tx: Tx, provider: Provider, turn: Callable[[Level, datetime], Level]) -> Level:
    """Lock the row, compute, write. The database's time is read once the lock is held."""
    row: Any = tx.execute(_LOCK, {"name": provider.name}).one_or_none()
    if row is None:
        level = token_bucket.full_level(provider.limits, tx.execute(_NOW).scalar_one())
        tx.execute(_BEGIN, {"name": provider.name, **_values(level)})
        row = tx.execute(_LOCK, {"name": provider.name}).one()
    now = row.now
    before = Level(row.requests, row.tokens, row.filled_at, row.failures, row.open_until)
    after = turn(before, now)
    if after != before:
        tx.execute(_WRITE, {"name": provider.name, **_values(after)})
    metrics.BREAKER_OPEN.labels(provider.name).set(after.open_until is not None)
    return after


def _values(level: Level) -> dict[str, object]:
    return {name: getattr(level, name) for name in Level.__slots__}


_NOW = text("SELECT clock_timestamp()")

_READ = text("SELECT failures, open_until FROM providers WHERE name = :name")

_LOCK = text("""
    SELECT locked.*, clock_timestamp() AS now
    FROM (SELECT requests, tokens, filled_at, failures, open_until FROM providers WHERE name = :name FOR UPDATE)
        AS locked
""")
"""The time is read above the lock: below it, it would be from before the wait."""

_BEGIN = text("""
    INSERT INTO providers (name, requests, tokens, filled_at, failures, open_until)
    VALUES (:name, :requests, :tokens, :filled_at, :failures, :open_until)
    ON CONFLICT (name) DO NOTHING
""")

_WRITE = text("""
    UPDATE providers SET requests = :requests, tokens = :tokens, filled_at = :filled_at, failures = :failures,
                         open_until = :open_until
    WHERE name = :name
""")

"""Pure token bucket and circuit breaker.

Levels in, levels out, with the time as an argument. `core.inference.quota` stores them for all workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

MINUTE = 60.0
"""Seconds of a limit's period; a full bucket holds one period's worth."""

LONGEST_BREAK = timedelta(hours=1)
"""Longest pause that a provider may ask for: a wrong date must not stop all work."""

LOOK_AGAIN = timedelta(seconds=2)
"""Time that other jobs wait while one probes the provider."""

Verdict = Literal["admitted", "probe", "requests", "tokens", "breaker"]
"""`probe`: admitted to test whether the provider answers again. The last three name what is lacking."""


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Requests and tokens allowed per minute (None: unlimited), and the breaker's parameters.

    `failures`: consecutive refusals that open the breaker; `pause`: how long it stays open; `probe`: how long a probe
    may take before another is allowed.
    """

    requests: float | None
    tokens: float | None
    failures: int
    pause: timedelta
    probe: timedelta


@dataclass(frozen=True, slots=True)
class Level:
    """State of a provider at `filled_at`. Below zero: debt. `open_until`: no calls before; after it, one probe."""

    requests: float
    tokens: float
    filled_at: datetime
    failures: int = 0
    open_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """Requests and tokens that a job needs from the bucket."""

    requests: float
    tokens: float

    def without(self, other: Need) -> Need:
        """Subtract what was used; never below zero."""
        return Need(max(0.0, self.requests - other.requests), max(0.0, self.tokens - other.tokens))


@dataclass(frozen=True, slots=True)
class Admission:
    """Admission, or the time to wait until the bucket holds enough or a probe is allowed."""

    verdict: Verdict
    wait: timedelta = timedelta()

    @property
    def granted(self) -> bool:
        return self.verdict in {"admitted", "probe"}


def full_level(limits: ProviderLimits, now: datetime) -> Level:
    """Return the level of a provider that has not been called yet."""
    return Level(limits.requests or 0.0, limits.tokens or 0.0, now)


def refill(level: Level, limits: ProviderLimits, now: datetime) -> Level:
    """Return the bucket refilled up to now; a clock set back changes nothing."""
    seconds = max(0.0, (now - level.filled_at).total_seconds())
    return replace(
        level,
        requests=_refilled_amount(level.requests, limits.requests, seconds),
        tokens=_refilled_amount(level.tokens, limits.tokens, seconds),
        filled_at=max(now, level.filled_at),
    )


def admit(level: Level, limits: ProviderLimits, now: datetime, need: Need) -> tuple[Level, Admission]:
    """Take what is needed from the bucket, all or nothing; a need larger than the bucket is met by a full one."""
    level = refill(level, limits, now)
    level, answer = enter(level, limits, now)
    if answer.verdict == "breaker":
        return level, answer
    waits = {
        "requests": _wait(level.requests, limits.requests, need.requests),
        "tokens": _wait(level.tokens, limits.tokens, need.tokens),
    }
    scarce: Literal["requests", "tokens"] = "requests" if waits["requests"] >= waits["tokens"] else "tokens"
    # One that tries out the provider goes as soon as it may: an empty bucket must not keep the breaker open.
    if waits[scarce] and answer.verdict != "probe":
        return level, Admission(scarce, waits[scarce])
    return take(level, limits, need), answer


def enter(level: Level, limits: ProviderLimits, now: datetime) -> tuple[Level, Admission]:
    """Pass the breaker. Once it has been open long enough, one probe passes and the others wait for its result."""
    if level.open_until is None:
        return level, Admission("admitted")
    left = level.open_until - now
    if left > timedelta():
        return level, Admission("breaker", min(left, LOOK_AGAIN) if level.failures < limits.failures else left)
    # One refusal more opens it again; until then it can be seen that somebody tries.
    return replace(level, failures=limits.failures - 1, open_until=now + limits.probe), Admission("probe")


def take(level: Level, limits: ProviderLimits, need: Need) -> Level:
    """Debit without checking, into debt if necessary, because it has been used. Unlimited values are not counted."""
    return replace(
        level,
        requests=level.requests - need.requests if limits.requests else 0.0,
        tokens=level.tokens - need.tokens if limits.tokens else 0.0,
    )


def give_back(level: Level, limits: ProviderLimits, spare: Need) -> Level:
    """Return what was not needed; a bucket does not overflow."""
    return replace(
        level,
        requests=_refilled_amount(level.requests + spare.requests, limits.requests, 0),
        tokens=_refilled_amount(level.tokens + spare.tokens, limits.tokens, 0),
    )


def close_breaker(level: Level) -> Level:
    """Close the breaker: the provider answers again."""
    return replace(level, failures=0, open_until=None)


def count_refusal(level: Level, limits: ProviderLimits, now: datetime, after: timedelta | None = None) -> Level:
    """Count one more refusal; after several, or of a probe, open the breaker for at least `after`."""
    failures = level.failures + 1
    if failures < limits.failures:
        return replace(level, failures=failures)
    pause = max(limits.pause, min(after or timedelta(), LONGEST_BREAK))
    return replace(level, failures=failures, open_until=now + pause)


def release_probe(level: Level, now: datetime) -> Level:
    """Release an unused probe, so that the next job may probe."""
    return replace(level, open_until=now) if level.open_until is not None else level


def _refilled_amount(amount: float, limit: float | None, seconds: float) -> float:
    return min(limit, amount + limit * seconds / MINUTE) if limit else 0.0


def _wait(amount: float, limit: float | None, need: float) -> timedelta:
    """Return the time until there is enough, rounded up so that a retry succeeds; zero if there is."""
    if not limit or amount >= min(need, limit):
        return timedelta()
    return timedelta(seconds=(min(need, limit) - amount) * MINUTE / limit + 1e-3)

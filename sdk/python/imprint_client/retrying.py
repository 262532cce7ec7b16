"""Which requests are repeated, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

PASSING = frozenset({408, 429, 502, 503, 504})
"""Statuses that say nothing was done and a later request may succeed."""


SERVER_FAULT = 500
"""The first status of a fault of the service."""

KEYS = frozenset({401, 403})
"""Statuses of a key that may be corrected while events wait."""


def may_pass(status: int) -> bool:
    """Return whether the same request may succeed later, so that its events are kept."""
    return status in PASSING or status in KEYS or status >= SERVER_FAULT


@dataclass(frozen=True)
class Retries:
    """How often a request is repeated, and the bounds of the pauses between, in seconds."""

    attempts: int = 5
    base: float = 0.2
    longest: float = 30.0

    def pause(self, attempt: int, answer: httpx.Response | None) -> float:
        """Return the seconds before the next attempt: at least `Retry-After`, else exponential with full jitter."""
        spread = random.uniform(0, min(self.longest, self.base * 2**attempt))  # noqa: S311 - no secret
        asked = None if answer is None else retry_after(answer)
        return spread if asked is None else asked + min(spread, 1.0)


def retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds of `Retry-After`, given in seconds or as a date."""
    said = answer.headers.get("retry-after")
    if said is None:
        return None
    if said.strip().isdecimal():
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except (TypeError, ValueError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())

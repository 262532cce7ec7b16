"""OpenAI-compatible API errors mapped to Later and Never."""

from __future__ import annotations

from datetime import timedelta

import openai

from core.errors import Later, Never, RateLimited
from core.inference.retry_after import retry_after

RETRIABLE = frozenset({408, 409, 425, 429})
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500

PAUSE = timedelta(seconds=30)
"""Wait after a 429 that does not say how long."""

LOCKED = frozenset({401, 402, 403, 404})
"""A wrong key, an unpaid bill, an unknown model: every request fails until somebody corrects it."""


def failure(who: str, refusal: openai.APIError) -> Later | Never:
    """Map a refusal to RateLimited (429), Later (408, 409, 425, 5xx, a lost connection) or Never (any other)."""
    if isinstance(refusal, openai.APIConnectionError):
        return Later(f"{who} cannot be reached: {refusal.message}")
    if isinstance(refusal, openai.APIStatusError):
        detail = f"{who} answered {refusal.status_code}: {refusal.message[:300]}"
        if refusal.status_code == TOO_MANY_REQUESTS:
            return RateLimited(detail, after=retry_after(refusal.response.headers) or PAUSE)
        if refusal.status_code in RETRIABLE or refusal.status_code >= SERVER_ERROR:
            return Later(detail, after=retry_after(refusal.response.headers))
        return Never(detail)
    return Never(f"{who} sent an unreadable answer: {refusal.message[:300]}")


def is_general(refusal: openai.APIError) -> bool:
    """Return whether the refusal concerns the endpoint as a whole, so that any other question would be refused too."""
    if isinstance(refusal, openai.APIConnectionError):
        return True
    if not isinstance(refusal, openai.APIStatusError):
        return False
    return refusal.status_code in RETRIABLE | LOCKED or refusal.status_code >= SERVER_ERROR

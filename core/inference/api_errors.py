"""OpenAI-compatible API errors mapped to Later and Never."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

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


def read_body(who: str, content: bytes) -> Mapping[str, Any]:
    """Return the object in the body of an answer with status 200.

    Later: it is no JSON, as the page of a proxy, or an error that passes. Never: another error, or no object.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise Later(f"{who} sent something that is not JSON: {content[:100].decode('utf-8', 'replace')!r}") from None
    error = body.get("error") if isinstance(body, dict) else None
    if error:
        raise _error_of_body(who, error if isinstance(error, dict) else {"message": error})
    if not isinstance(body, dict):
        raise Never(f"{who} sent JSON that is no object.")
    return body


def _error_of_body(who: str, error: Mapping[str, Any]) -> Later | Never:
    detail = f"{who} answered 200 with an error: {str(error.get('message') or error)[:300]}"
    codes = [str(error.get(name)) for name in ("code", "status")]
    numbers = [int(code) for code in codes if code.isdecimal()]
    if TOO_MANY_REQUESTS in numbers:
        return RateLimited(detail, after=PAUSE)
    passes = any(number in RETRIABLE or number >= SERVER_ERROR for number in numbers)
    labels = " ".join(str(error.get(name)) for name in ("code", "status", "type"))
    return Later(detail) if passes or (not numbers and _PASSING.search(labels)) else Never(detail)


_PASSING: Final = re.compile(
    r"rate.?limit|overloaded|unavailable|server.?error|internal|timeout|capacity|exhausted", re.IGNORECASE
)
"""Types of errors after which the same request may succeed."""


def is_general(refusal: openai.APIError) -> bool:
    """Return whether the refusal concerns the endpoint as a whole, so that any other question would be refused too."""
    if isinstance(refusal, openai.APIConnectionError):
        return True
    if not isinstance(refusal, openai.APIStatusError):
        return False
    return refusal.status_code in RETRIABLE | LOCKED or refusal.status_code >= SERVER_ERROR

"""OpenAI-compatible API errors mapped to Later and Never."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import openai

from core.errors import Later, Never

RETRIABLE = frozenset({408, 409, 425, 429})
SERVER_ERROR = 500

LOCKED = frozenset({401, 402, 403, 404})
"""A wrong key, an unpaid bill, a model of another name: until somebody mends it, all that is asked fails so."""

LONGEST_PAUSE = timedelta(days=30)
"""Who asks for more patience than this has made a mistake, or is beyond every calendar."""


def failure(who: str, refusal: openai.APIError) -> Later | Never:
    """What to do about a refusal: Later on 408, 409, 425, 429, 5xx and a lost connection, Never on any other."""
    if isinstance(refusal, openai.APIConnectionError):
        return Later(f"{who} cannot be reached: {refusal.message}")
    if isinstance(refusal, openai.APIStatusError):
        detail = f"{who} answered {refusal.status_code}: {refusal.message[:300]}"
        if refusal.status_code in RETRIABLE or refusal.status_code >= SERVER_ERROR:
            return Later(detail, after=retry_after(refusal.response.headers))
        return Never(detail)
    return Never(f"{who} answered what cannot be read: {refusal.message[:300]}")


def is_general(refusal: openai.APIError) -> bool:
    """Whether any other question would have been refused as well: it is about the endpoint, and not about this one."""
    if isinstance(refusal, openai.APIConnectionError):
        return True
    if not isinstance(refusal, openai.APIStatusError):
        return False
    return refusal.status_code in RETRIABLE | LOCKED or refusal.status_code >= SERVER_ERROR


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """The pause that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); None if there is none."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        return timedelta(seconds=min(float(value), LONGEST_PAUSE.total_seconds()))
    try:
        until = parsedate_to_datetime(value)
        pause = (until if until.tzinfo else until.replace(tzinfo=UTC)) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return min(max(pause, timedelta()), LONGEST_PAUSE)

"""What the refusal of an OpenAI-compatible endpoint means for the work that needed it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import openai

from core.errors import Later, Never

RETRIABLE = frozenset({408, 409, 425, 429})
SERVER_ERROR = 500


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


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """The pause that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); None if there is none."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return timedelta(seconds=float(value))
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(until.astimezone(UTC) - datetime.now(UTC), timedelta())

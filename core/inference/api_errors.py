"""OpenAI-compatible API errors mapped to Later and Never."""

from __future__ import annotations

import openai

from core.errors import Later, Never
from core.inference.retry_after import retry_after

RETRIABLE = frozenset({408, 409, 425, 429})
SERVER_ERROR = 500

LOCKED = frozenset({401, 402, 403, 404})
"""A wrong key, an unpaid bill, a model of another name: until somebody mends it, all that is asked fails so."""


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

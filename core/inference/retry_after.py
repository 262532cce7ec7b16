"""The `Retry-After` header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_PAUSE: Final = timedelta(days=30)
"""A longer pause is taken for a mistake of the server; it may also lie beyond the calendar."""


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Return the pause that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); None without one."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        return timedelta(seconds=min(float(value), LONGEST_PAUSE.total_seconds()))
    try:
        until = parsedate_to_datetime(value)
        pause = (until if until.tzinfo else until.replace(tzinfo=UTC)) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return min(max(pause, timedelta()), LONGEST_PAUSE)

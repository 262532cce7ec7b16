"""The ledger's policy, read from the settings. Light to import: the clock needs no agent."""

from __future__ import annotations

from typing import Final

from core.config import Settings
from workers.dispatch.model import LedgerPolicy

RETRY_MAX_SECONDS: Final = 600.0
"""Longest pause between two attempts; with the defaults (2 s first, 8 attempts) the pauses stay below it."""


def policy_of(settings: Settings) -> LedgerPolicy:
    """Return leases, retries and limits as the settings have them."""
    return LedgerPolicy(
        lease=settings.lease_seconds,
        resend=settings.resend_seconds,
        retry_base=settings.retry_base_seconds,
        retry_max=RETRY_MAX_SECONDS,
        attempts=settings.attempts,
        running=settings.tenant_limits.running,
    )

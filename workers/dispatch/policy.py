"""The ledger's policy, read from the settings. Light to import: the clock needs no agent."""

from __future__ import annotations

from core.config import Settings
from workers.dispatch.model import Policy


def policy_of(settings: Settings) -> Policy:
    """Return leases, retries and limits as the settings have them."""
    return Policy(
        lease=settings.lease_seconds,
        resend=settings.resend_seconds,
        retry_base=settings.retry_base_seconds,
        retry_max=settings.retry_max_seconds,
        attempts=settings.attempts,
        running=settings.tenant_limits.running,
    )

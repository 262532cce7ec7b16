from __future__ import annotations

from core.config import Settings
from core.settings.limits import TenantLimits
from workers.dispatch.model import RETRY_MAX_SECONDS, LedgerPolicy


def test_the_policy_is_the_one_that_was_set(settings: Settings) -> None:
    policy = LedgerPolicy.of(settings)
    assert (policy.lease, policy.retry_base, policy.attempts) == (5, 0.1, 8)


def test_a_tenant_without_a_limit_of_its_own_runs_what_the_settings_allow(settings: Settings) -> None:
    wide = settings.model_copy(update={"tenant_limits": TenantLimits(running=3), "resend_seconds": 7})
    policy = LedgerPolicy.of(wide)
    assert (policy.running, policy.shares.running, policy.shares.resend) == (3, 3, 7)


def test_with_the_defaults_no_pause_is_cut_by_the_longest() -> None:
    """Otherwise the last attempts would come as fast as the ones before them."""
    policy = LedgerPolicy.of(Settings())
    assert policy.retry_base * 2 ** (policy.attempts - 2) <= RETRY_MAX_SECONDS

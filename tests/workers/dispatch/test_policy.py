from __future__ import annotations

from core.config import Settings
from workers.dispatch.policy import policy_of


def test_the_policy_is_the_one_that_was_set(settings: Settings) -> None:
    policy = policy_of(settings)
    assert (policy.lease, policy.retry_base, policy.attempts) == (5, 0.1, 8)

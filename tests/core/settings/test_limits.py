from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.settings.limits import LimitReached, QuotaReached, TenantLimits


def test_a_limit_is_a_whole_number_above_zero() -> None:
    assert TenantLimits(requests=1).requests == 1
    with pytest.raises(ValidationError):
        TenantLimits(requests=0)


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(ValidationError):
        TenantLimits.model_validate({"requestz": 1})


def test_a_limit_that_is_reached_says_its_name_its_value_and_who_raises_it() -> None:
    reached = LimitReached("settles", 32, 5)
    assert reached.retry_after_s == 5
    assert "`settles`" in reached.detail
    assert "32" in reached.detail
    assert "imprint tenant limits" in reached.detail


def test_a_quota_says_to_delete_something_rather_than_to_wait() -> None:
    assert "Delete some" in QuotaReached("documents", 10).detail
    assert "Retry-After" not in QuotaReached("documents", 10).detail

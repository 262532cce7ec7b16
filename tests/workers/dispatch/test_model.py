from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import Settings
from core.errors import Later
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.types import Event, Json
from tests.rules.samples import an_event
from tests.samples import TENANT
from tests.workers.dispatch.owing import (
    a_ledger,
    failing,
    owe,
    row_of,
)
from tests.works import run_one
from workers.dispatch.model import RETRY_MAX_SECONDS, LedgerPolicy, lists_others


@given(st.integers(1, 60), st.none() | st.integers(0, 10_000))
def test_a_pause_grows_and_stays_within_its_bounds(attempt: int, asked: int | None) -> None:
    policy = LedgerPolicy(lease=5, resend=10, retry_base=2, retry_max=600, attempts=8)
    pause = policy.pause(attempt, None if asked is None else timedelta(seconds=asked))
    ceiling = min(600, 2 * 2 ** (attempt - 1))
    assert pause >= ceiling / 2
    assert pause >= (asked or 0)
    assert pause <= max(ceiling, asked or 0)


def test_a_pause_that_no_calendar_holds_is_cut(app: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": failing(Later("busy", timedelta(days=900_000_000)))}), TENANT, one)
    assert row_of(app, one).status == "retrying"


ADA = an_event({"group_id": "crew"})
"""In session s1."""


@pytest.mark.parametrize(
    ("params", "gathered", "lists"),
    [
        ({}, [], False),
        ({"sessions": ["s1"]}, [], False),
        ({"sessions": ["s2"]}, [], True),
        ({"sessions": ["s1", "s2"]}, [], True),
        ({"sessions": []}, [], True),
        ({}, [ADA], False),
        ({}, [ADA, ADA], False),
        ({}, [ADA, an_event({"group_id": "club"})], True),
        ({}, [ADA, an_event({"group_id": "crew"}, user_id="bob")], True),
        ({}, [ADA, an_event({"group_id": "crew"}, session_id="s2")], True),
        ({}, [an_event(session_id=None, user_id=None)] * 2, True),
        ({}, [an_event(session_id=None, user_id=None)], False),
    ],
)
def test_a_dispatch_lists_others_if_anyone_else_is_named_in_it(
    params: Json, gathered: list[Event], *, lists: bool
) -> None:
    assert lists_others(params, ADA, gathered) is lists


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

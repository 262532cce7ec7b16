from __future__ import annotations

from uuid import UUID

import pytest

from api.ingress.in_flight import RETRY_SECONDS, InFlight
from core.settings.limits import LimitReached, TenantLimits
from core.tenancy.tenants import Caller

LIMITS = TenantLimits(requests=2, requests_per_key=2, settles=1, backtests=1, body_bytes=100)
ADA = Caller("acme", UUID(int=1), frozenset({"read"}), limits=LIMITS)


def test_a_tenant_has_no_more_requests_than_it_may_until_one_ends() -> None:
    flight = InFlight()
    flight.enter(ADA, "requests")
    flight.enter(ADA, "requests")
    with pytest.raises(LimitReached) as refused:
        flight.enter(ADA, "requests")
    assert refused.value.name == "requests"
    flight.leave(ADA, "requests")
    flight.enter(ADA, "requests")


def test_waiting_settles_have_a_limit_of_their_own() -> None:
    flight = InFlight()
    flight.enter(ADA, "settles")
    with pytest.raises(LimitReached) as refused:
        flight.enter(ADA, "settles")
    assert refused.value.retry_after_s == RETRY_SECONDS["settles"]
    flight.enter(ADA, "requests")
    flight.enter(ADA, "requests")


def test_a_refused_request_counts_nowhere() -> None:
    flight = InFlight()
    flight.enter(ADA, "backtests")
    with pytest.raises(LimitReached):
        flight.enter(ADA, "backtests")
    flight.enter(ADA, "requests")


def test_bytes_of_bodies_are_counted_while_they_are_held() -> None:
    flight = InFlight()
    flight.hold(ADA, 60)
    with pytest.raises(LimitReached):
        flight.hold(ADA, 60)
    flight.drop(ADA, 60)
    flight.hold(ADA, 100)


def test_pages_of_the_console_have_a_limit_of_their_own() -> None:
    flight, caller = InFlight(), Caller("acme", UUID(int=1), frozenset({"read"}), limits=TenantLimits(pages=1))
    flight.enter(caller, "pages")
    flight.enter(caller, "requests")
    with pytest.raises(LimitReached) as refused:
        flight.enter(caller, "pages")
    assert refused.value.name == "pages"
    flight.leave(caller, "pages")
    flight.enter(caller, "pages")


def test_an_import_counts_as_a_request_and_as_an_import() -> None:
    flight, caller = InFlight(), Caller("acme", UUID(int=1), frozenset({"publish"}), limits=TenantLimits(imports=1))
    flight.enter(caller, "imports")
    with pytest.raises(LimitReached) as refused:
        flight.enter(caller, "imports")
    assert refused.value.name == "imports"
    flight.leave(caller, "imports")
    flight.enter(caller, "imports")

from __future__ import annotations

import os
from contextlib import suppress
from uuid import UUID

import pytest

from api.ingress import shared_counts
from api.ingress.in_flight import InFlight
from api.ingress.shared_counts import PLACES, ProcessCounts, SharedCounts
from core.settings.limits import LimitReached, TenantLimits
from core.tenancy.tenants import Caller

ADA = Caller(
    "acme", UUID(int=1), frozenset({"read"}), limits=TenantLimits(requests=3, requests_per_key=3, body_bytes=9)
)


def test_the_numbers_of_other_processes_are_added_up() -> None:
    shared = SharedCounts(3)
    first, second, third = (ProcessCounts(shared, slot) for slot in range(3))
    first.note("a", 2)
    second.note("a", 3)
    second.note("b", 7)
    assert [one.of_others("a") for one in (first, second, third)] == [3, 2, 5]
    second.note("a", 0)
    assert (third.of_others("a"), third.of_others("b")) == (2, 7)


def test_the_numbers_of_a_process_that_has_ended_are_forgotten() -> None:
    shared = SharedCounts(2)
    first, second = ProcessCounts(shared, 0), ProcessCounts(shared, 1)
    first.note("a", 2)
    shared.clear(0)
    assert second.of_others("a") == 0


def test_names_beyond_the_places_are_left_out_until_one_is_free() -> None:
    shared = SharedCounts(2)
    first, second = ProcessCounts(shared, 0), ProcessCounts(shared, 1)
    for number in range(PLACES + 1):
        first.note(str(number), 1)
    assert second.of_others(str(PLACES)) == 0
    first.note("0", 0)
    first.note(str(PLACES), 4)
    assert second.of_others(str(PLACES)) == 4


def test_what_a_forked_process_notes_is_read_by_its_parent() -> None:
    shared = SharedCounts(2)
    if (child := os.fork()) == 0:
        ProcessCounts(shared, 1).note("a", 5)
        os._exit(0)
    os.waitpid(child, 0)
    assert ProcessCounts(shared, 0).of_others("a") == 5


def test_a_limit_holds_for_the_requests_and_bodies_of_all_processes() -> None:
    shared = SharedCounts(2)
    one, other = (InFlight(ProcessCounts(shared, slot)) for slot in range(2))
    one.enter(ADA, "requests")
    one.enter(ADA, "requests")
    other.enter(ADA, "requests")
    with pytest.raises(LimitReached):
        other.enter(ADA, "requests")
    one.leave(ADA, "requests")
    other.enter(ADA, "requests")
    one.hold(ADA, 5)
    with pytest.raises(LimitReached):
        other.hold(ADA, 5)
    other.hold(ADA, 4)


def test_processes_that_count_at_once_never_admit_one_too_many() -> None:
    limits = TenantLimits(streams=50, streams_per_key=50)
    caller = Caller("acme", UUID(int=1), frozenset({"read"}), limits=limits)
    for _ in range(5):
        shared, results = SharedCounts(4), os.pipe()
        children = [_admitting(shared, slot, caller, results[1]) for slot in range(4)]
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
        admitted = os.read(results[0], 4)
        assert 0 < sum(admitted) <= 50
        for end in results:
            os.close(end)


def _admitting(shared: SharedCounts, slot: int, caller: Caller, result: int) -> int:
    """Fork a process that asks for twice the limit, keeps what it gets, and writes how many those were."""
    if child := os.fork():
        return child
    flight, admitted = InFlight(ProcessCounts(shared, slot)), 0
    for _ in range(100):
        with suppress(LimitReached):
            flight.enter(caller, "streams")
            admitted += 1
    os.write(result, bytes([admitted]))
    os._exit(0)


def test_a_tenant_is_alone_until_another_sends_a_request_to_whichever_process() -> None:
    shared = SharedCounts(2)
    first, second = ProcessCounts(shared, 0), ProcessCounts(shared, 1)
    first.see("busy")
    assert not first.has_company("busy")
    first.see("quiet")
    first.see("busy")
    assert [one.has_company("busy") for one in (first, second)] == [True, True]
    shared.clear(0)
    first.see("busy")
    assert not first.has_company("busy")
    second.see("busy")
    assert not first.has_company("busy")
    assert first.has_company("quiet")
    second.see("quiet")
    assert first.has_company("busy")


def test_company_is_forgotten_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_counts, "COMPANY_SECONDS", 0.0)
    counts = shared_counts.alone()
    counts.see("quiet")
    assert not counts.has_company("busy")


def test_of_many_tenants_the_latest_are_remembered() -> None:
    counts = shared_counts.alone()
    for tenant in ("a", "b", "c", "a", "a"):
        counts.see(tenant)
    counts.see("a")
    assert counts.has_company("a"), "c came after b"

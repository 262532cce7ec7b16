"""Turns at the threads of the process: bounded by tenant, fair between tenants, lost by nobody."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from api.ingress import fair_share
from api.ingress.fair_share import FairTurns, LargeBodies
from core.errors import Later


def alone(_tenant_id: str) -> bool:
    return False


def run(work: object) -> None:
    asyncio.run(work)  # type: ignore[arg-type]


async def soon() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_tenant_never_has_all_turns() -> None:
    async def work() -> None:
        shared = FairTurns(8, alone)
        waiting = [asyncio.create_task(shared.take("busy")) for _ in range(20)]
        await soon()
        assert sum(task.done() for task in waiting) == 6
        await asyncio.wait_for(shared.take("quiet"), 1)
        for _ in range(14):
            shared.give_back("busy")
            await soon()
        assert all(task.done() for task in waiting)

    run(work())


@pytest.mark.parametrize(("pool", "turns"), [(2, 1), (3, 1), (8, 2), (32, 8)])
def test_beside_others_a_tenant_has_a_quarter_of_the_turns(pool: int, turns: int) -> None:
    async def work() -> None:
        company = {"busy"}
        shared = FairTurns(pool, company.__contains__)
        waiting = [asyncio.create_task(shared.take("busy")) for _ in range(40)]
        await soon()
        assert sum(task.done() for task in waiting) == turns
        company.clear()
        shared.give_back("busy")
        await soon()
        assert sum(task.done() for task in waiting) == max(pool - 2, 1) + 1
        for task in waiting:
            task.cancel()

    run(work())


def test_the_next_turn_goes_to_who_has_the_fewest() -> None:
    async def work() -> None:
        shared, order = FairTurns(4, alone), []

        async def ask(tenant: str) -> None:
            await shared.take(tenant)
            order.append(tenant)

        asked = [asyncio.create_task(ask(tenant)) for tenant in ["a"] * 6 + ["b"] * 3 + ["c"] * 3]
        await soon()
        assert Counter(order) == {"a": 2, "b": 1}
        shared.give_back("a")
        await soon()
        assert order[-1] == "c"
        for tenant in "abcabcabc":
            shared.give_back(tenant)
            await soon()
        assert all(task.done() for task in asked)

    run(work())


def test_who_goes_away_while_waiting_takes_no_turn_along() -> None:
    async def work() -> None:
        shared = FairTurns(3, alone)
        await shared.take("a")
        gone = asyncio.create_task(shared.take("a"))
        await soon()
        gone.cancel()
        await soon()
        shared.give_back("a")
        for _ in range(3):
            await asyncio.wait_for(shared.take("a"), 1)
            shared.give_back("a")

    run(work())


def test_a_turn_that_comes_as_its_waiter_goes_is_given_on() -> None:
    async def work() -> None:
        shared = FairTurns(3, alone)
        await shared.take("a")
        gone = asyncio.create_task(shared.take("a"))
        await soon()
        shared.give_back("a")  # Granted, but the waiter has not run since.
        gone.cancel()
        await soon()
        await asyncio.wait_for(shared.take("a"), 1)

    run(work())


def test_a_wait_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "WAIT_SECONDS", 0.01)

    async def work() -> None:
        shared = FairTurns(1, alone)
        await shared.take("a")
        with pytest.raises(Later):
            await shared.take("a")
        shared.give_back("a")
        await asyncio.wait_for(shared.take("b"), 1)

    run(work())


def test_large_requests_of_a_tenant_come_one_at_a_time_and_of_others_beside_it() -> None:
    async def work() -> None:
        large, done = LargeBodies(alone), list[str]()

        async def request(tenant: str) -> None:
            line = await large.take(tenant)
            done.append(tenant)
            await asyncio.sleep(0)
            large.give_back(tenant, line, 0.0)

        first = await large.take("busy")
        waiting = [asyncio.create_task(request("busy")) for _ in range(3)]
        await asyncio.wait_for(request("quiet"), 1)
        await soon()
        assert done == ["quiet"]
        large.give_back("busy", first, 0.0)
        await asyncio.wait_for(asyncio.gather(*waiting), 1)

    run(work())


def test_beside_another_tenant_a_large_request_is_followed_by_a_rest_as_long() -> None:
    async def work() -> None:
        company = set[str]()
        large, loop = LargeBodies(company.__contains__), asyncio.get_running_loop()
        large.give_back("busy", await large.take("busy"), 10.0)
        began = loop.time()
        line = await large.take("busy")
        assert loop.time() - began < 0.1, "alone there is nobody to rest for"
        company.add("busy")
        large.give_back("busy", line, 0.2)
        began = loop.time()
        await large.take("busy")
        assert 0.15 < loop.time() - began < 5

    run(work())


def test_who_waits_too_long_for_the_large_requests_before_it_is_told_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fair_share, "WAIT_SECONDS", 0.01)

    async def work() -> None:
        large = LargeBodies(alone)
        line = await large.take("busy")
        with pytest.raises(Later):
            await large.take("busy")
        large.give_back("busy", line, 0.0)
        await large.take("busy")

    run(work())

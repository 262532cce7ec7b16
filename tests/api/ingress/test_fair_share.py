"""Turns at the threads of the process: bounded by tenant, fair between tenants, lost by nobody."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from api.ingress import fair_share
from api.ingress.fair_share import Turns
from core.errors import Later


def run(work: object) -> None:
    asyncio.run(work)  # type: ignore[arg-type]


async def soon() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_tenant_never_has_all_turns() -> None:
    async def work() -> None:
        shared = Turns(8)
        waiting = [asyncio.create_task(shared.take("busy")) for _ in range(20)]
        await soon()
        assert sum(task.done() for task in waiting) == 6
        await asyncio.wait_for(shared.take("quiet"), 1)
        for _ in range(14):
            shared.give_back("busy")
            await soon()
        assert all(task.done() for task in waiting)

    run(work())


def test_the_next_turn_goes_to_who_has_the_fewest() -> None:
    async def work() -> None:
        shared, order = Turns(4), []

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
        shared = Turns(3)
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
        shared = Turns(3)
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
        shared = Turns(1)
        await shared.take("a")
        with pytest.raises(Later):
            await shared.take("a")
        shared.give_back("a")
        await asyncio.wait_for(shared.take("b"), 1)

    run(work())

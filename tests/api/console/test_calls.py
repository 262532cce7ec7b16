from __future__ import annotations

import asyncio

import pytest

from api.console import calls
from api.console.calls import ApiProblem
from tests.api.console.calling import ask
from tests.doors import Doors


def test_a_call_answers_what_the_route_answers_and_leaves_out_empty_parameters(door: Doors) -> None:
    found = ask(door, lambda api: api.get("/v1/memories", user_id="", category=None, limit=5))
    assert (found["items"], found["next"]) == ([], None)


def test_a_refusal_has_the_problem_details_of_the_route(door: Doors) -> None:
    with pytest.raises(ApiProblem) as refused:
        ask(door, lambda api: api.post("/v1/rules", {"name": "x"}))
    assert refused.value.status == 422
    assert refused.value.problem["errors"]
    with pytest.raises(ApiProblem) as unknown:
        ask(door, lambda api: api.get("/v1/memories"), key="imp_unknown")
    assert unknown.value.status == 401


def test_what_is_not_there_is_none_and_other_refusals_stay_refusals(door: Doors) -> None:
    assert ask(door, lambda api: api.find("/v1/events/nothing")) is None
    with pytest.raises(ApiProblem):
        ask(door, lambda api: api.find("/v1/memories/no-uuid"))


def test_several_calls_have_all_ended_when_one_of_them_is_refused(door: Doors) -> None:
    ended = []

    async def slow() -> None:
        await asyncio.sleep(0.05)
        ended.append(True)

    with pytest.raises(ApiProblem):
        ask(door, lambda api: calls.together(api.get("/v1/events/nothing"), slow()))
    assert ended


def test_a_page_with_many_calls_does_not_exhaust_the_tenant_s_limit() -> None:
    running = most = 0

    async def counted(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return number

    assert asyncio.run(calls.together(*(counted(number) for number in range(50)))) == list(range(50))
    assert most == calls.AT_ONCE

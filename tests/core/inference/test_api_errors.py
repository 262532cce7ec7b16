"""How refusals of a model's endpoint are taken: wait, try again, or give up."""

from __future__ import annotations

from datetime import timedelta

import httpx
import openai
import pytest

from core.errors import Later, Never, RateLimited
from core.inference import api_errors


def refusal(status: int, **headers: str) -> openai.APIStatusError:
    answer = httpx.Response(status, headers=headers, request=httpx.Request("POST", "http://127.0.0.1/v1"))
    return openai.APIStatusError("no", response=answer, body=None)


@pytest.mark.parametrize(("headers", "pause"), [({"Retry-After": "7"}, timedelta(seconds=7)), ({}, api_errors.PAUSE)])
def test_too_many_requests_is_a_wait_of_the_time_that_is_named(headers: dict[str, str], pause: timedelta) -> None:
    error = api_errors.failure("The model", refusal(429, **headers))
    assert isinstance(error, RateLimited)
    assert error.after == pause


@pytest.mark.parametrize("status", [408, 409, 425, 500, 503])
def test_a_fault_of_the_service_is_tried_again(status: int) -> None:
    error = api_errors.failure("The model", refusal(status))
    assert isinstance(error, Later)
    assert not isinstance(error, RateLimited)


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refused_request_is_given_up(status: int) -> None:
    assert isinstance(api_errors.failure("The model", refusal(status)), Never)

"""Embeddings over real HTTP, from endpoints that answer well, badly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from core.errors import Later, Never
from core.inference.embedders import BrokenVectors, CachedEmbedder
from core.inference.openai_embedder import OpenAIEmbedder
from tests.core.inference.vector_endpoint import Answer, endpoint, vectors


def refusing(status: int, headers: dict[str, str] | None = None, message: str = "refused") -> Callable[..., Answer]:
    return lambda _body: (status, headers or {}, {"error": {"message": message}})


def test_an_endpoint_answers_unit_vectors_in_the_order_asked() -> None:
    with endpoint(vectors) as (url, seen):
        rows = OpenAIEmbedder(url, "key", "m", 3).embed(["a", "bb", ""])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[1, 0] > rows[0, 0] == rows[2, 0]
    assert seen == [{"input": ["a", "bb", "-"], "model": "m", "dimensions": 3, "encoding_format": "float"}]


def test_many_texts_go_out_in_several_requests() -> None:
    with endpoint(vectors) as (url, seen):
        assert OpenAIEmbedder(url, "", "m", 3).embed(["x"] * 600).shape == (600, 3)
    assert [len(body["input"]) for body in seen] == [256, 256, 88]


def test_an_endpoint_that_refuses_the_dimension_is_asked_without_it() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return refusing(400, message="dimensions is not supported")(body) if "dimensions" in body else vectors(body)

    with endpoint(answer) as (url, seen):
        embedder = OpenAIEmbedder(url, "", "m", 3)
        embedder.embed(["a"])
        embedder.embed(["b"])
    assert ["dimensions" in body for body in seen] == [True, False, False]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_later_and_never_before_it_says(status: int) -> None:
    with endpoint(refusing(status, {"Retry-After": "7"})) as (url, seen), pytest.raises(Later) as raised:
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])
    assert raised.value.after == timedelta(seconds=7)
    assert len(seen) == 1


def test_an_endpoint_that_is_not_there_is_asked_later() -> None:
    with endpoint(vectors) as (url, _):
        pass
    with pytest.raises(Later, match="cannot be reached"):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_final(status: int) -> None:
    with endpoint(refusing(status)) as (url, _), pytest.raises(Never, match=str(status)):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


def test_vectors_of_another_length_are_refused_with_the_setting_to_change() -> None:
    with endpoint(lambda body: vectors(body, 5)) as (url, _), pytest.raises(Never, match="IMPRINT_EMBEDDING_DIMENSION"):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


BROKEN = [[None, 1.0, 2.0], ["1", 1.0, 2.0], [float("nan"), 1.0, 2.0], [1e300, 0.0, 0.0], [1.0], [], [0.0] * 3, None]


@pytest.mark.parametrize("vector", BROKEN)
def test_a_broken_vector_costs_only_itself(vector: object) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        status, headers, value = vectors(body)
        for item in value["data"]:
            if body["input"][item["index"]] == "bad":
                item["embedding"] = vector
        return status, headers, value

    with endpoint(answer) as (url, _), pytest.raises(BrokenVectors, match="1 of 3 vectors broken") as raised:
        OpenAIEmbedder(url, "", "m", 3).embed(["good", "bad", "better"])
    assert set(raised.value.good) == {"good", "better"}
    assert all(abs(np.linalg.norm(row) - 1) < 1e-6 for row in raised.value.good.values())
    assert set(raised.value.reasons) == {"bad"}


def test_a_vector_that_is_missing_costs_only_its_text() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        status, headers, value = vectors(body)
        return status, headers, {**value, "data": value["data"][1:]}

    with endpoint(answer) as (url, _), pytest.raises(BrokenVectors, match="no vector for a text") as raised:
        OpenAIEmbedder(url, "", "m", 3).embed(["one", "two"])
    assert set(raised.value.good) == {"one"}


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (b"<html>Bad gateway</html>", Later),
        (b"", Later),
        ({"error": {"message": "slow down", "code": 429}}, Later),
        ({"error": {"message": "busy", "type": "overloaded_error"}}, Later),
        ({"error": {"message": "limit", "type": "rate_limit_exceeded", "code": "429"}}, Later),
        ({"error": {"message": "no such model", "code": 404}}, Never),
        ({"error": {"message": "bad", "type": "invalid_request_error"}}, Never),
        ({"error": "bad"}, Never),
        ({"data": None}, Never),
        ({"object": "list"}, Never),
        ([], Never),
        ({"data": [7, None]}, Never),
    ],
)
def test_an_answer_without_vectors_is_a_failure_of_its_kind(body: object, failure: type[Exception]) -> None:
    with endpoint(lambda _: (200, {}, body)) as (url, _), pytest.raises(failure):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


def test_the_cache_keeps_the_good_vectors_of_an_answer() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        status, headers, value = vectors(body)
        for item in value["data"]:
            if body["input"][item["index"]] == "bad":
                item["embedding"] = None
        return status, headers, value

    with endpoint(answer) as (url, seen):
        cached = CachedEmbedder(OpenAIEmbedder(url, "", "m", 3))
        cached.embed(["a"])
        with pytest.raises(BrokenVectors) as raised:
            cached.embed(["a", "bad", "b"])
        cached.embed(["a", "b"])
    assert set(raised.value.good) == {"a", "b"}
    assert [body["input"] for body in seen] == [["a"], ["bad", "b"]]

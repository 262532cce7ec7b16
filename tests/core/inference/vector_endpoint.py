"""An endpoint of embeddings over real HTTP, which answers as the test tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.inference.embedders import HashEmbedder
from core.inference.openai_embedder import OpenAIEmbedder
from tests.servers import Handler, serving

Answer = tuple[int, dict[str, str], Any]


@contextmanager
def endpoint(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks HTTP; yields its address and the bodies it was sent."""
    seen: list[dict[str, Any]] = []

    class Answering(Handler):
        def do_POST(self) -> None:
            body = self.body()
            seen.append(body)
            status, headers, value = answer(body)
            self.answer(status, value if isinstance(value, bytes) else json.dumps(value).encode(), headers)

    with serving(Answering) as url:
        yield f"{url}/v1", seen


def vectors(body: dict[str, Any], dimension: int = 3) -> Answer:
    """Vectors that tell their text's length, in reverse order, not of length 1."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text))] + [2.0] * (dimension - 1)}
        for at, text in enumerate(body["input"])
    ]
    return (
        200,
        {},
        {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}},
    )


BROKEN: list[Any] = [[1.0], [float("nan")] * HashEmbedder().dimension, None]
"""Vectors that cannot be stored: too short, no numbers, none at all."""


@contextmanager
def breaking(vector: object, *texts: str) -> Iterator[OpenAIEmbedder]:
    """An embedder with an endpoint that answers this vector for these texts, and sound ones for all others."""
    inner = HashEmbedder()

    def answer(body: dict[str, Any]) -> Answer:
        made = [vector if text in texts else inner.embed([text])[0].tolist() for text in body["input"]]
        return 200, {}, {"object": "list", "data": [{"index": n, "embedding": one} for n, one in enumerate(made)]}

    with endpoint(answer) as (url, _):
        yield OpenAIEmbedder(url, "", inner.name, inner.dimension)

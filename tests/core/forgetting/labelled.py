"""Labelled requests to forget, and cosines by the embedding model of production."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from core.config import Settings
from core.forgetting import recognition, requests
from core.forgetting.requests import ForgetRequest
from core.inference import configured_embedder
from core.inference.embedders import Embedder


@cache
def embedder() -> Embedder:
    """The embedder of production: what is meant is found by meaning."""
    return configured_embedder.embedder(Settings(embedding="local"))


def cosines(named: Sequence[str], statements: Sequence[str]) -> list[list[float]]:
    rows: list[list[float]] = (embedder().embed_queries(named) @ embedder().embed(statements).T).tolist()
    return rows


def asking(message: str) -> Sequence[int]:
    """Return the sentences of a message that ask to forget, as production recognises them."""
    recognised = recognition.recognise(message, embedder().embed_queries)
    return () if recognised is None else recognised.sentences


def request_of(message: str) -> ForgetRequest | None:
    return requests.read(message, asking(message))

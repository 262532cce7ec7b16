"""Labelled requests to forget, and cosines by the embedding model of production."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from core.config import Settings
from core.forgetting import recognition, requests
from core.forgetting.requests import ForgetRequest
from core.inference import configured_embedder
from core.inference.embedders import Embedder

BARE = frozenset(
    "en-017 en-037 en-057 en-102 en-105 en-106 zh-005 zh-011 zh-019 zh-025 zh-047 zh-102 zh-109 zh-113 zh-114".split()
)
"""Labelled requests that name neither the memory nor what was said: nothing tells them from any other command."""


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

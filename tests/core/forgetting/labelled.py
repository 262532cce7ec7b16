"""Requests to forget as production reads them: with its embedding model and its reader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.config import Settings
from core.forgetting import recognition, requests
from core.forgetting.requests import ForgetRequest
from core.inference import configured_embedder
from core.inference.embedders import Embedder
from core.inference.local_reader import LocalReader


@cache
def embedder() -> Embedder:
    return configured_embedder.embedder(Settings(embedding="local"))


@cache
def reader() -> LocalReader:
    return LocalReader()


def cosines(named: Sequence[str], statements: Sequence[str]) -> NDArray[np.float32]:
    rows: NDArray[np.float32] = embedder().embed_queries(named) @ embedder().embed(statements).T
    return rows


def asking(message: str) -> Sequence[int]:
    """Return the sentences of a message that ask to forget, as production recognises them."""
    recognised = recognition.recognise(message, reader().asks)
    return () if recognised is None else recognised.sentences


def surely_asks(message: str) -> bool:
    """Return whether a message asks to forget for certain, so that it is carried out without anybody's approval."""
    recognised = recognition.recognise(message, reader().asks)
    return recognised is not None and recognised.sure


def request_of(message: str) -> ForgetRequest | None:
    return requests.read(message, asking(message))

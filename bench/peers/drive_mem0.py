"""mem0 without a language model: `infer=False`, pgvector, everything else as it comes.

What differs from its defaults, all in its favour: up to 16 connections instead of 5, the embedder in its own process
instead of behind HTTP, no telemetry.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from mem0 import Memory
from vectors import DIMENSION, Vectors
from wire import Json, serve


class Embedder:
    """mem0's own shape of an embedder."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - mem0 names it
        return self.vectors.embed([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:  # noqa: ARG002
        return self.vectors.embed(texts)


class Mem0:
    version = version("mem0ai")

    def __init__(self, settings: Json) -> None:
        key = {"api_key": "none"}  # neither client is ever asked
        self._history = Path(os.environ["MEM0_DIR"]) / "history.db"
        store = {
            "connection_string": settings["database"],
            "embedding_model_dims": DIMENSION,
            "maxconn": settings["clients"],
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "embedder": {"provider": "openai", "config": key},
                "llm": {"provider": "openai", "config": key},
            }
        )
        self._vectors = Vectors(settings["vectors"])
        self._memory.embedding_model = Embedder(self._vectors)
        self._turns: dict[str, str] = {}

    def ingest(self, user: str, turns: Sequence[Json]) -> Json:
        """A session a call, as its documentation adds messages."""
        for _, session in itertools.groupby(turns, key=lambda turn: turn["session"]):
            spoken = list(session)
            messages = [{"role": turn["role"], "content": turn["text"]} for turn in spoken]
            kept = self._memory.add(messages, user_id=user, infer=False)["results"]
            for turn, row in zip(spoken, kept, strict=True):
                self._turns[row["id"]] = turn["id"]
        return {}

    def search(self, user: str, question: str, limit: int) -> list[str]:
        rows = self._memory.search(question, top_k=limit, filters={"user_id": user})["results"]
        return [self._turns[row["id"]] for row in rows]

    def size(self) -> int:
        return self._history.stat().st_size

    def live(self, enabled: bool) -> None:
        self._vectors.live = enabled


if __name__ == "__main__":
    serve(Mem0)

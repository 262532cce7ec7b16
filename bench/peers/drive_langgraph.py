"""LangGraph's PostgresStore with a vector index, as its documentation sets it up, and a pool of connections."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib.metadata import version

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from vectors import DIMENSION, Vectors
from wire import Json, serve

BATCH = 200
"""Turns put in one call: as many as Imprint is sent in one request."""


class Store:
    version = version("langgraph-checkpoint-postgres")

    def __init__(self, settings: Json) -> None:
        self._vectors = Vectors(settings["vectors"])
        opened = PostgresStore.from_conn_string(
            settings["database"],
            pool_config={"min_size": 1, "max_size": settings["clients"]},
            index={"dims": DIMENSION, "embed": self._vectors.embed, "fields": ["text"]},
        )
        self._open = contextlib.ExitStack()
        self._store = self._open.enter_context(opened)
        self._store.setup()

    def ingest(self, user: str, turns: Sequence[Json]) -> Json:
        puts = [
            PutOp((user, "turns"), turn["id"], {"text": turn["text"], "session": turn["session"]}) for turn in turns
        ]
        for start in range(0, len(puts), BATCH):
            self._store.batch(puts[start : start + BATCH])
        return {}

    def search(self, user: str, question: str, limit: int) -> list[str]:
        return [item.key for item in self._store.search((user, "turns"), query=question, limit=limit)]

    def size(self) -> int:
        return 0

    def live(self, enabled: bool) -> None:
        self._vectors.live = enabled


if __name__ == "__main__":
    serve(Store)

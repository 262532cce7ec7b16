"""rank_bm25 as it comes: BM25Okapi over lower-cased words, in memory. What is new means a new index."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from rank_bm25 import BM25Okapi
from wire import Json, serve


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Bm25:
    version = version("rank-bm25")

    def __init__(self, _settings: Json) -> None:
        self._kept: dict[str, tuple[list[str], BM25Okapi]] = {}

    def ingest(self, user: str, turns: Sequence[Json]) -> Json:
        self._kept[user] = [turn["id"] for turn in turns], BM25Okapi([words(turn["text"]) for turn in turns])
        return {}

    def search(self, user: str, question: str, limit: int) -> list[str]:
        ids, index = self._kept[user]
        scores = index.get_scores(words(question))
        return [ids[position] for position in np.argsort(-scores, kind="stable")[:limit]]

    def size(self) -> int:
        """Nothing is on disk; as many bytes as the index would take there."""
        return len(pickle.dumps(self._kept))

    def live(self, enabled: bool) -> None:
        """It has no vectors."""


if __name__ == "__main__":
    serve(Bm25)

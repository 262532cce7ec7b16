"""The vectors of every text that the gate's conversations lead to, as the local model made them: no model is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from core.errors import Never
from core.inference.embedders import Embedder, Floats
from core.inference.local_models.catalog import DIMENSION, MODELS
from tests.retrieval.rows import COMMAND

FILE: Final = Path(__file__).parent / "vectors.npz"


class Recorded:
    """Looks vectors up by their text. `missing`: texts that were asked for and are not there."""

    name, dimension = MODELS["local"].name, DIMENSION

    def __init__(self, vectors: Mapping[int, Floats]) -> None:
        self._vectors = vectors
        self.missing: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text. Raises Never, with the way out, for one that was not recorded."""
        return self._read(texts, "text")

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the same for questions."""
        return self._read(texts, "question")

    def _read(self, texts: Sequence[str], kind: str) -> Floats:
        missing = [text for text in texts if key(text, kind) not in self._vectors]
        self.missing += missing
        if missing:
            raise Never(f"{FILE.name} has no vector of {missing[0][:80]!r}. Run `{COMMAND}`.")
        rows = [self._vectors[key(text, kind)] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), DIMENSION)


class Recording:
    """Embeds by a model, returns what will be read from the file, and stores it.

    Each text is embedded alone: beside others its vector might differ in the last bits, and the file with each run.
    """

    name, dimension = MODELS["local"].name, DIMENSION
    missing: Sequence[str] = ()

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self.vectors: dict[int, Floats] = {}

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text."""
        return self._made(texts, "text", self._model.embed)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the same for questions."""
        return self._made(texts, "question", self._model.embed_queries)

    def _made(self, texts: Sequence[str], kind: str, embed: Callable[[Sequence[str]], Floats]) -> Floats:
        for text in texts:
            if key(text, kind) not in self.vectors:
                self.vectors[key(text, kind)] = embed([text])[0].astype(np.float16).astype(np.float32)
        rows = [self.vectors[key(text, kind)] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), DIMENSION)


def key(text: str, kind: str) -> int:
    """Return what the vector of a text or a question is found by: the first eight bytes of its SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{kind}: {text}".encode()).digest()[:8], "big")


def load(path: Path) -> dict[int, Floats]:
    """What was recorded, by the keys of its texts."""
    with np.load(path) as file:
        return dict(zip(file["keys"].tolist(), file["vectors"].astype(np.float32), strict=True))


def save(vectors: Mapping[int, Floats], path: Path) -> None:
    """In the order of the keys, so that the same vectors are the same bytes."""
    keys = sorted(vectors)
    rows = np.array([vectors[one] for one in keys], dtype=np.float16)
    np.savez_compressed(path, keys=np.array(keys, dtype=np.uint64), vectors=rows)

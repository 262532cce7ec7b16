"""The one embedder of all peers: Imprint's own local model, in the peer's process, or the vectors it made before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models.catalog import DIMENSION, MODELS

__all__ = ["DIMENSION", "Vectors"]


class Vectors:
    """Rows of length 1 for texts, as lists, which is what both peers want."""

    def __init__(self, made: dict[str, Any]) -> None:
        """`made` names two files, `texts` (a JSON list) and `rows` (a NumPy matrix), and the `model`'s folder."""
        texts = json.loads(Path(made["texts"]).read_text(encoding="utf-8"))
        self._rows = dict(zip(texts, np.load(made["rows"]), strict=True))
        self._model = LocalEmbedder(MODELS["local"], Path(made["model"]))
        self._model.embed(["warm"])
        self.live = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Raises KeyError for a text that nobody made a vector of: no peer may embed anything else unseen."""
        if self.live:
            made: list[list[float]] = self._model.embed(texts).tolist()
            return made
        return [self._rows[text].tolist() for text in texts]

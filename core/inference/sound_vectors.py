"""Vectors of texts, whatever the model answers for some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import structlog

from core import logs
from core.inference.embedders import BrokenVectors, Embedder, Floats

log = structlog.get_logger()


def embed_sound(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Return one row for each text; zeros where the vector is broken, so that the text is found by its words alone."""
    try:
        return embedder.embed(texts)
    except BrokenVectors as broken:
        log.warning("embedding.broken", **logs.fault(broken))
        nothing = np.zeros(embedder.dimension, dtype=np.float32)
        return np.array([broken.good.get(text, nothing) for text in texts], dtype=np.float32)

"""Name and dimension of the embedding model that the settings select."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings

LOCAL: Final = "all-MiniLM-L6-v2"

HASH: Final = "hash"

DIMENSION: Final = 384
"""Floats in a vector of the local model, and of the one for tests unless it is given another number."""


def identity(settings: Settings) -> tuple[str, int]:
    """Return name and dimension as they are stored with the data; only an embedder of a plug-in is built for it."""
    match settings.embedding:
        case "local":
            return LOCAL, DIMENSION
        case "hash":
            return HASH, DIMENSION
        case "openai":
            return settings.embedding_model, settings.embedding_dimension
        case name:
            chosen = plugins.load(plugins.EMBEDDERS, name)(settings)
            return chosen.name, chosen.dimension

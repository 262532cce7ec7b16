"""Name and dimension of the embedding model that the settings select."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings

LOCAL: Final = "all-MiniLM-L6-v2"

HASH: Final = "hash"

DIMENSION: Final = 384
"""Dimension of the local model, and of the test embedder by default."""


def identity(settings: Settings) -> tuple[str, int]:
    """Return name and dimension as they are stored with the data; builds an embedder only for plug-ins."""
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

"""Name and dimension of the embedding model that the settings select."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings
from core.inference.local_models.catalog import DIMENSION, MODELS

HASH: Final = "hash"


def identity(settings: Settings) -> tuple[str, int]:
    """Return name and dimension as they are stored with the data; builds an embedder only for plug-ins."""
    if local := MODELS.get(settings.embedding):
        return local.name, local.dimension
    match settings.embedding:
        case "hash":
            return HASH, DIMENSION
        case "openai":
            return settings.embedding_model, settings.embedding_dimension
        case name:
            chosen = plugins.load(plugins.EMBEDDERS, name)(settings)
            return chosen.name, chosen.dimension

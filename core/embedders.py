"""Which embedder the settings ask for."""

from __future__ import annotations

from core.config import Settings
from core.embed import Embedder, HashEmbedder, LocalEmbedder, OpenAIEmbedder, local_model_path


def embedder(settings: Settings) -> Embedder:
    """The embedder of this installation; nothing is loaded before its first text."""
    match settings.embedding:
        case "local":
            return LocalEmbedder()
        case "hash":
            return HashEmbedder()
        case "openai":
            url = str(settings.embedding_base_url) if settings.embedding_base_url else None
            key = settings.embedding_api_key.get_secret_value()
            return OpenAIEmbedder(url, key, settings.embedding_model, settings.embedding_dimension)


def identity(settings: Settings) -> tuple[str, int]:
    """Name and dimension of the model, as stored with the data."""
    chosen = embedder(settings)
    return chosen.name, chosen.dimension


def require_model(settings: Settings) -> None:
    """Refuse to start where the local model is asked for and not installed; the way out is in the message."""
    if settings.embedding == "local":
        local_model_path()

"""The embedder that the settings select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core import deferred, plugins
from core.config import Settings
from core.errors import Never
from core.inference.embedders import Embedder, Floats, HashEmbedder, counted_batch
from core.inference.local_embedder import LocalEmbedder, local_model_path
from core.inference.local_models.catalog import MODELS

Open = Callable[[Settings], Embedder]
"""Builds an embedder from the settings; a package registers it under the entry points `imprint.embedders`."""


def embedder(settings: Settings) -> Embedder:
    """Return the embedder of this installation; nothing is loaded before its first text. Raises Misconfigured."""
    if local := MODELS.get(settings.embedding):
        return LocalEmbedder(local, idle_seconds=settings.embedding_idle_seconds)
    match settings.embedding:
        case "hash":
            return HashEmbedder()
        case "openai":
            url = str(settings.embedding_base_url) if settings.embedding_base_url else None
            key = settings.embedding_api_key.get_secret_value()
            remote = deferred.load("core.inference.openai_embedder:OpenAIEmbedder")
            chosen: Embedder = remote(url, key, settings.embedding_model, settings.embedding_dimension)
            return chosen
        case name:
            return _Foreign(name, plugins.load(plugins.EMBEDDERS, name)(settings))


class _Foreign:
    """A plug-in embedder, whose vectors are checked before they are stored."""

    def __init__(self, plugin: str, inner: Embedder) -> None:
        """`plugin`: its name among the entry points."""
        self.name, self.dimension = inner.name, inner.dimension
        self._plugin, self._inner = plugin, inner

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row of length 1 for each text. Never: the plug-in returned something else."""
        with counted_batch(len(texts)):
            rows = self._inner.embed(texts)
        return self._checked(rows, len(texts))

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the same for questions; a plug-in without this method embeds them as texts."""
        queries = getattr(self._inner, "embed_queries", self._inner.embed)
        with counted_batch(len(texts)):
            rows = queries(texts)
        return self._checked(rows, len(texts))

    def _checked(self, made: Any, count: int) -> Floats:
        rows: Floats = np.asarray(made, dtype=np.float32)
        shape = (count, self.dimension)
        if rows.shape != shape:
            raise Never(f"Embedder {self._plugin!r} returned vectors of shape {rows.shape} instead of {shape}.")
        lengths = np.linalg.norm(rows, axis=1)
        if not np.allclose(lengths[lengths > 0], 1, atol=1e-3) or not np.isfinite(rows).all():
            raise Never(f"Embedder {self._plugin!r} returned vectors whose length is not 1.")
        return rows


def require_model(settings: Settings) -> None:
    """Raise Misconfigured where the configured embedder has no plug-in, or the local model is not installed."""
    if local := MODELS.get(settings.embedding):
        local_model_path(local)
    elif settings.embedding not in plugins.OWN[plugins.EMBEDDERS]:
        plugins.load(plugins.EMBEDDERS, settings.embedding)

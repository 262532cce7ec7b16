"""The embedding models that an installation offers, and one embedder for each of them in a process."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.config import Settings
from core.errors import Invalid, Misconfigured, Problem
from core.inference import local_embedder
from core.inference.configured_embedder import embedder
from core.inference.embedders import CachedEmbedder, Embedder
from core.inference.embedding_model import identity
from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models.catalog import DEFAULT, MODELS
from core.storage.vector_spaces import EmbeddingModel


class InstalledEmbedders:
    """The embedder of the installation, and those of tenants with another local model, built when first needed.

    There are no more than models on this machine; each is loaded by its first text, so that a process in which no
    tenant uses a model does not have its weights in memory.
    """

    def __init__(
        self, settings: Settings, vectors: Embedder | None = None, wrap: Callable[[Embedder], Embedder] | None = None
    ) -> None:
        """`vectors` replaces the embedder of the settings; `wrap` is applied to each local model."""
        self._wrap = wrap or (lambda inner: inner)
        self._idle_seconds = settings.embedding_idle_seconds
        own = vectors or embedder(settings)
        self.default = CachedEmbedder(self._wrap(own) if settings.embedding in MODELS else own)
        self._others: dict[str, CachedEmbedder] = {}
        self._lock = threading.Lock()

    def of(self, model: EmbeddingModel | None) -> CachedEmbedder:
        """Return the embedder of a model; None: that of the installation. Misconfigured: it is not offered."""
        if model is None or model == (self.default.name, self.default.dimension):
            return self.default
        same_length = (candidate for candidate in MODELS.values() if candidate.dimension == model.dimension)
        local = next(
            (candidate for candidate in same_length if model.name in {candidate.name, *candidate.earlier}), None
        )
        if local is None:
            raise Misconfigured(
                f"A tenant has vectors by {model}, which this process cannot make: set IMPRINT_EMBEDDING to that model."
            )
        if local.name == self.default.name:
            return self.default
        with self._lock:
            if local.name not in self._others:
                inner = LocalEmbedder(local, idle_seconds=self._idle_seconds)
                self._others[local.name] = CachedEmbedder(self._wrap(inner))
            return self._others[local.name]


def offered(settings: Settings) -> dict[str, EmbeddingModel]:
    """Return the models that a tenant may choose, by name: those installed on this machine, and the configured one."""
    own = settings.embedding
    names = [name for name, local in MODELS.items() if name != DEFAULT and local_embedder.is_installed(local)]
    models = {name: EmbeddingModel(MODELS[name].name, MODELS[name].dimension) for name in names}
    return models if own == DEFAULT else {own: EmbeddingModel(*identity(settings)), **models}


def chosen(settings: Settings, name: str) -> EmbeddingModel:
    """Return the offered model of this name. Invalid: it is not offered; says why, and what is."""
    models = offered(settings)
    if name in models:
        return models[name]
    if name == DEFAULT:
        return EmbeddingModel(*identity(settings.model_copy(update={"embedding": DEFAULT})))
    if name in MODELS:
        fault = f"its weights are not installed: the operator runs `imprint model install {name}` on each machine"
    else:
        fault = "a model that is neither on this machine nor set in IMPRINT_EMBEDDING cannot be chosen by one tenant"
    raise Invalid(
        [Problem("/model", f"{name!r:.100} is not offered ({fault}); choose from {', '.join(sorted(models))}")]
    )


def name_of(settings: Settings, model: EmbeddingModel) -> str:
    """Return the name by which a model is chosen; its own name if it is not offered any more."""
    return next((name for name, candidate in offered(settings).items() if candidate == model), model.name)

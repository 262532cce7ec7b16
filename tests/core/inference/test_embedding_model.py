"""The model's identity, which is read without building an embedder."""

from __future__ import annotations

import pytest

from core.config import Settings
from core.inference import configured_embedder, embedding_model


@pytest.mark.parametrize("embedding", ["local", "english", "multilingual", "hash", "openai"])
def test_the_identity_is_that_of_the_embedder_itself(settings: Settings, embedding: str) -> None:
    chosen = settings.model_copy(update={"embedding": embedding})
    built = configured_embedder.embedder(chosen)
    assert embedding_model.identity(chosen) == (built.name, built.dimension)

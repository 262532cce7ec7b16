from __future__ import annotations

import numpy as np
import pytest

from core import plugins
from core.errors import Misconfigured, Never
from core.inference import configured_embedder, embedding_model
from core.inference.embedders import HashEmbedder
from tests.core.packages import Publish, with_embedding

EMBEDDER = """
import numpy as np
from core.inference.embedders import HashEmbedder

class Short(HashEmbedder):
    def __init__(self, settings):
        super().__init__(16)
    def embed(self, texts):
        return self.spoilt(super().embed(texts))
    def spoilt(self, rows):
        return rows

class Wide(Short):
    def spoilt(self, rows):
        return np.hstack([rows, rows])

class Fewer(Short):
    def spoilt(self, rows):
        return rows[1:]

class Long(Short):
    def spoilt(self, rows):
        return rows * 3

class Unknown(Short):
    def spoilt(self, rows):
        return rows * np.nan
"""


def test_an_embedder_of_a_package_is_chosen_by_its_name(publish: Publish) -> None:
    publish("vectors", plugins.EMBEDDERS, "short = vectors:Short", code=EMBEDDER)
    chosen = with_embedding("short")
    assert embedding_model.identity(chosen) == ("hash", 16)
    np.testing.assert_array_equal(
        configured_embedder.embedder(chosen).embed(["a", "b"]), HashEmbedder(16).embed(["a", "b"])
    )
    assert configured_embedder.embedder(chosen).embed([]).shape == (0, 16)


@pytest.mark.parametrize("kind", ["Wide", "Fewer", "Long", "Unknown"])
def test_vectors_that_would_spoil_the_store_are_refused(publish: Publish, kind: str, unique: str) -> None:
    publish(f"v{unique}", plugins.EMBEDDERS, f"short = v{unique}:{kind}", code=EMBEDDER)
    with pytest.raises(Never, match="Embedder 'short' returned vectors"):
        configured_embedder.embedder(with_embedding("short")).embed(["one text", "two texts"])


def test_an_embedder_that_nobody_brings_is_refused() -> None:
    with pytest.raises(Misconfigured, match="No package here brings embedders 'mystery'"):
        configured_embedder.embedder(with_embedding("mystery"))

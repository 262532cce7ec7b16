from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Invalid, Misconfigured
from core.inference import installed_embedders, local_embedder
from core.inference.installed_embedders import InstalledEmbedders
from core.inference.local_models.catalog import ENGLISH, MULTILINGUAL
from core.storage.vector_spaces import EmbeddingModel

MODEL = EmbeddingModel(ENGLISH.name, ENGLISH.dimension)


def test_each_model_has_one_embedder_which_names_it() -> None:
    embedders = InstalledEmbedders(Settings(embedding="hash"))
    assert embedders.of(None) is embedders.of(EmbeddingModel("hash", 384)) is embedders.default
    assert embedders.of(MODEL) is embedders.of(MODEL)
    assert embedders.of(MODEL).name == ENGLISH.name


def test_a_tenant_keeps_the_vectors_that_a_model_made_under_an_earlier_name() -> None:
    [earlier] = MULTILINGUAL.earlier
    model = EmbeddingModel(earlier, MULTILINGUAL.dimension)
    assert InstalledEmbedders(Settings(embedding="hash")).of(model).name == MULTILINGUAL.name
    local = InstalledEmbedders(Settings(embedding="local"))
    assert local.of(model) is local.default
    assert installed_embedders.chosen(Settings(embedding="local"), "multilingual") != model


def test_a_model_of_another_installation_is_not_replaced_by_a_similar_one() -> None:
    with pytest.raises(Misconfigured, match=r"another \(384\)"):
        InstalledEmbedders(Settings(embedding="hash")).of(EmbeddingModel("another", 384))


def test_a_model_without_weights_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "is_installed", lambda model: model is not ENGLISH)
    settings = Settings(embedding="hash")
    assert set(installed_embedders.offered(settings)) == {"hash", "multilingual"}
    with pytest.raises(Invalid, match="imprint model install english"):
        installed_embedders.chosen(settings, "english")

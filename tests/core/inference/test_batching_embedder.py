from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.baton import REQUESTS
from core.errors import Never
from core.inference.batching_embedder import BATCH_TEXTS, SHORT, BatchingEmbedder
from core.inference.embedders import Embedder, Floats, HashEmbedder
from tests.patience import PATIENCE_SECONDS, wait_until

"""That a test waits at the most for what is bound to come."""

ALONE = HashEmbedder(32)


class Watched(HashEmbedder):
    """Notes what came in one pass; a pass that begins while it is shut waits until it is opened."""

    def __init__(self) -> None:
        super().__init__(ALONE.dimension)
        self.passes: list[list[str]] = []
        self.open = threading.Event()
        self.open.set()

    def embed(self, texts: Sequence[str]) -> Floats:
        self.passes.append(list(texts))
        assert self.open.wait(PATIENCE_SECONDS)
        if "refused" in texts:
            raise Never("This text is refused.")
        return super().embed(texts)


class Crowd:
    """Threads that ask one after another, where one pass runs at a time."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.model = Watched()
        self.embedder = BatchingEmbedder(self.model, 1)
        self._pool = pool

    def busy(self) -> Future[Floats]:
        """A pass that runs until the model is opened."""
        self.model.open.clear()
        asked = self._pool.submit(self.embedder.embed_queries, ["first"])
        wait_until(lambda: self.model.passes[-1:] == [["first"]])
        return asked

    def waits(self, text: str) -> Future[Floats]:
        """One who waits for the next pass."""
        there = len(self.embedder._waiting)
        asked = self._pool.submit(self.embedder.embed_queries, [text])
        wait_until(lambda: len(self.embedder._waiting) > there)
        return asked


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    with ThreadPoolExecutor(40) as pool:
        one = Crowd(pool)
        yield one
        one.model.open.set()


def same(asked: Future[Floats], text: str) -> bool:
    return np.array_equal(asked.result(PATIENCE_SECONDS), ALONE.embed([text]))


def test_what_came_meanwhile_goes_through_together_and_each_gets_its_own(crowd: Crowd) -> None:
    first = crowd.busy()
    asked = {text: crowd.waits(text) for text in ("tea", "coffee", "milk", "茶")}
    crowd.model.open.set()
    assert all(same(one, text) for text, one in {"first": first, **asked}.items())
    assert crowd.model.passes == [["first"], ["tea", "coffee", "milk", "茶"]]


def test_two_who_ask_the_same_both_get_it(crowd: Crowd) -> None:
    crowd.busy()
    both = [crowd.waits("tea"), crowd.waits("tea")]
    crowd.model.open.set()
    assert all(same(one, "tea") for one in both)


def test_a_pass_has_no_more_than_its_share_and_takes_who_came_first(crowd: Crowd) -> None:
    crowd.busy()
    texts = [f"text {n}" for n in range(2 * BATCH_TEXTS + 3)]
    asked = [crowd.waits(text) for text in texts]
    crowd.model.open.set()
    assert all(same(one, text) for one, text in zip(asked, texts, strict=True))
    _, *passes = crowd.model.passes
    assert [text for one in passes for text in one] == texts
    assert [len(one) for one in passes] == [BATCH_TEXTS, BATCH_TEXTS, 3]


def test_one_alone_waits_for_nobody(crowd: Crowd) -> None:
    for text in ("tea", "coffee"):
        assert np.array_equal(crowd.embedder.embed_queries([text]), ALONE.embed([text]))
    assert crowd.model.passes == [["tea"], ["coffee"]]


def test_a_text_that_is_refused_spoils_no_others(crowd: Crowd) -> None:
    crowd.busy()
    texts = ("tea", "refused", "coffee")
    asked = {text: crowd.waits(text) for text in texts}
    crowd.model.open.set()
    assert same(asked["tea"], "tea")
    assert same(asked["coffee"], "coffee")
    with pytest.raises(Never, match="refused"):
        asked["refused"].result(PATIENCE_SECONDS)


def test_after_a_refusal_the_next_one_gets_a_pass(crowd: Crowd) -> None:
    for _ in range(3):
        with pytest.raises(Never, match="refused"):
            crowd.embedder.embed_queries(["refused"])
    waiting = crowd.busy(), crowd.waits("tea")
    crowd.model.open.set()
    assert same(waiting[1], "tea")


@pytest.mark.parametrize("texts", [["x" * (SHORT + 1)], ["tea", "coffee"], []])
def test_what_is_no_question_goes_by_itself(crowd: Crowd, texts: list[str]) -> None:
    first = crowd.busy()
    by_itself = threading.Thread(target=crowd.embedder.embed_queries, args=(texts,))
    by_itself.start()
    wait_until(lambda: len(crowd.model.passes) == 2)
    assert crowd.model.passes[1] == texts
    assert not first.done()
    crowd.model.open.set()
    by_itself.join(PATIENCE_SECONDS)
    assert np.array_equal(crowd.embedder.embed_queries(texts), ALONE.embed(texts))


def test_as_many_passes_run_at_once_as_there_may_be() -> None:
    together = threading.Barrier(3)

    class Meeting(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Floats:
            together.wait(PATIENCE_SECONDS)  # Breaks unless three are in here at the same time.
            return super().embed(texts)

    embedder: Embedder = BatchingEmbedder(Meeting(ALONE.dimension), 3)
    with ThreadPoolExecutor(3) as pool:
        asked = {text: pool.submit(embedder.embed_queries, [text]) for text in ("tea", "coffee", "milk")}
        assert all(same(one, text) for text, one in asked.items())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.text(max_size=6), min_size=1, max_size=5), min_size=1, max_size=12), st.integers(1, 3))
def test_whoever_asks_what_and_when_gets_what_they_would_alone(said: list[list[str]], passes: int) -> None:
    embedder = BatchingEmbedder(ALONE, passes)

    def ask(texts: list[str]) -> list[Floats]:
        return [embedder.embed_queries([text]) for text in texts]

    with ThreadPoolExecutor(len(said)) as pool:
        for texts, rows in zip(said, pool.map(ask, said, timeout=PATIENCE_SECONDS), strict=True):
            assert np.array_equal(np.concatenate(rows), ALONE.embed(texts))
    assert embedder._free == passes
    assert not embedder._waiting


def test_long_texts_are_embedded_one_at_a_time_and_those_of_another_tenant_next(crowd: Crowd) -> None:
    def ask(tenant_id: str, text: str) -> Floats:
        with REQUESTS.carried(tenant_id), REQUESTS.passed_on():
            return crowd.embedder.embed_queries([text])

    def texts() -> list[str]:
        return [text.strip() for one in crowd.model.passes for text in one]

    crowd.model.open.clear()
    asked = [crowd._pool.submit(ask, "noisy", "noisy" + " " * SHORT)]
    wait_until(lambda: texts() == ["noisy"])
    asked += [crowd._pool.submit(ask, "noisy", f"noisy {n}" + " " * SHORT) for n in range(3)]
    wait_until(lambda: len(crowd.embedder._long._lines["noisy"].starting) == 3)
    asked.append(crowd._pool.submit(ask, "quiet", "quiet" + " " * SHORT))
    wait_until(lambda: "quiet" in crowd.embedder._long._lines)
    assert texts() == ["noisy"]
    crowd.model.open.set()
    for one in asked:
        one.result(PATIENCE_SECONDS)
    assert texts()[:2] == ["noisy", "quiet"]
    assert len(texts()) == 5

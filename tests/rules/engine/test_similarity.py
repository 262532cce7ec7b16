from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from core.inference.embedders import Floats, HashEmbedder
from rules.engine import similarity
from rules.engine.ruleset import Ruleset
from rules.engine.similarity import MEANT_CHARACTERS, Meanings, Unknown
from tests.rules.samples import a_leaf, a_rule, an_event


class Counting(HashEmbedder):
    """Embeds words by their hash, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.asked.append(list(texts))
        return super().embed(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def meanings(embedder: Counting) -> Meanings:
    return Meanings(embedder)


def test_the_similarity_is_the_cosine_of_two_texts(meanings: Meanings) -> None:
    meanings.warm(["I moved to Lisbon", "moved to Lisbon", "something else"])
    assert meanings.similarity("I moved to Lisbon", "I moved to Lisbon") == pytest.approx(1.0)
    assert meanings.similarity("I moved to Lisbon", "moved to Lisbon") == pytest.approx(3 / (2 * 3**0.5))
    assert meanings.similarity("I moved to Lisbon", "something else") == pytest.approx(0.0)


def test_a_batch_is_embedded_in_one_call_and_no_text_twice(meanings: Meanings, embedder: Counting) -> None:
    meanings.warm(["one", "two", "one"])
    meanings.warm({"two", "three"})
    meanings.warm(["one", "two", "three"])
    meanings.warm([])
    assert [sorted(asked) for asked in embedder.asked] == [["one", "two"], ["three"]]


def test_what_was_not_embedded_is_unknown_and_says_the_way_out(meanings: Meanings, embedder: Counting) -> None:
    meanings.warm(["known"])
    with pytest.raises(Unknown, match=r"Meanings\.warm"):
        meanings.similarity("known", "unknown")
    assert len(embedder.asked) == 1


def test_the_longest_unused_is_forgotten(embedder: Counting) -> None:
    meanings = Meanings(embedder, capacity=2)
    meanings.warm(["one", "two"])
    meanings.warm(["one"])
    meanings.warm(["three"])
    meanings.warm(["one", "three"])
    assert embedder.asked == [["one", "two"], ["three"]]
    with pytest.raises(Unknown):
        meanings.similarity("one", "two")


def test_a_batch_larger_than_the_memory_is_kept_as_long_as_it_is_needed(embedder: Counting) -> None:
    meanings = Meanings(embedder, capacity=2)
    meanings.warm(["one", "two", "three", "four"])
    assert meanings.similarity("one", "four") == pytest.approx(0.0)
    meanings.warm(["five", "six"])
    with pytest.raises(Unknown):
        meanings.similarity("one", "four")


def test_only_the_beginning_of_a_long_text_is_read(meanings: Meanings, embedder: Counting) -> None:
    beginning = "word " * (MEANT_CHARACTERS // 5)
    meanings.warm([beginning + "end", beginning])
    assert embedder.asked == [[beginning]]
    assert meanings.similarity(beginning + "another end", beginning) == pytest.approx(1.0)


def test_half_a_surrogate_pair_is_embedded_as_a_question_mark(meanings: Meanings, embedder: Counting) -> None:
    meanings.warm(["a \ud800 b"])
    assert embedder.asked == [["a ? b"]]
    assert meanings.similarity("a \ud800 b", "a ? b") == pytest.approx(1.0)


def test_an_embedder_that_fails_leaves_what_was_known(meanings: Meanings, monkeypatch: pytest.MonkeyPatch) -> None:
    meanings.warm(["known"])

    def broken(_texts: Sequence[str]) -> Floats:
        raise RuntimeError

    monkeypatch.setattr(meanings._embedder, "embed", broken)
    with pytest.raises(RuntimeError):
        meanings.warm(["new"])
    assert meanings.similarity("known", "known") == pytest.approx(1.0)


def test_threads_share_what_is_known(embedder: Counting) -> None:
    meanings, failures = Meanings(embedder), []

    def work(name: int) -> None:
        try:
            for place in range(200):
                text = f"text {(place + name) % 50}"
                meanings.warm([text, "meaning"])
                meanings.similarity(text, "meaning")
        except Unknown as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_rule_meets_what_is_near_enough_to_what_it_means(meanings: Meanings) -> None:
    leaf = a_leaf("means", "moved to Lisbon", threshold=0.8)
    ruleset = Ruleset([(a_rule("moved", conditions=leaf), 1)])
    events = [an_event({"x": text}) for text in ("I moved to Lisbon", "I like Lisbon")]
    meanings.warm(text for event in events for text in ruleset.texts(event))
    met = [[verdict.name for verdict in ruleset.decide(e, similarity=meanings.similarity)] for e in events]
    assert met == [["moved"], []]


def test_the_memory_is_large_enough_for_a_batch() -> None:
    assert similarity.CAPACITY >= 20 * 500

"""Results in the order of how certain they are to answer a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from core.answering import reranking
from core.inference.embedders import HashEmbedder
from core.memory.as_of import Moment
from core.search.filters import Filters
from core.search.question import Question, SearchResult
from core.search.recipes import RECIPES
from core.search.units import FoundUnit
from tests.core.answering.results import NOW, result


class Fixed(HashEmbedder):
    """An embedder to which texts with a word are near, and all others far."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self.read: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return np.array([[1.0, 0.0]])

    def embed(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return np.array([[1.0, 0.0] if self._word in text else [0.0, 1.0] for text in texts])


def rerank(word: str, query: str, *results: SearchResult) -> tuple[list[str], Fixed]:
    embedder = Fixed(word)
    reranked = reranking.rerank(embedder, Question(query, "ada"), results)
    return [each.result.message.content for each in reranked if each.result.message], embedder


def near(content: str, **fields: Any) -> SearchResult:
    """A result of one part whose cosine is high if it names Porto."""
    return result(content, cosine=0.9 if "Porto" in content or "Rome" in content else 0.0, **fields)


def test_what_does_not_answer_is_left_out() -> None:
    moved, dog = near("I moved to Porto."), near("I have a dog.")
    assert rerank("Porto", "Where do I live?", dog, moved)[0] == ["I moved to Porto."]
    assert rerank("Porto", "Where do I live?", dog)[0] == []


def test_a_long_message_is_as_certain_as_its_best_part() -> None:
    long = result("We walked along the river to the old mill and back. " * 9 + "I moved to Porto.", cosine=0.0)
    assert len(rerank("Porto", "Where do I live?", near("I have a dog."), long)[0]) == 1
    assert rerank("Rome", "Where do I live?", long)[0] == []


def test_an_assistant_is_read_if_the_query_may_ask_for_its_words() -> None:
    replied = near("Try Casa Porto.", role="assistant")
    assert rerank("Porto", "Where shall I eat?", replied)[0] == []
    assert rerank("Porto", "Which restaurant did you recommend to me?", replied)[0] == ["Try Casa Porto."]


def test_what_is_not_read_stands_behind() -> None:
    unit = SearchResult(near("").ranked, [], unit=cast(FoundUnit, object()))
    reranked = reranking.rerank(Fixed("Porto"), Question("Where?", "ada"), [unit, near("To Porto.")])
    assert [each.certainty is None for each in reranked] == [False, True]


def test_long_messages_take_the_place_of_no_other_result() -> None:
    long = result("We walked along the river to the old mill and back. " * 40, cosine=0.0)
    assert rerank("x", "Where do I live?", *[long] * 15, near("I moved to Porto."))[0] == ["I moved to Porto."]


def test_what_is_superseded_now_may_answer_a_question_about_then() -> None:
    over = near("I lived in Rome.", retired=True, outdated=True)
    now, then = Question("Where?", "ada"), Question("Where?", "ada", filters=Filters(moment=Moment(as_of=NOW)))
    assert [len(reranking.rerank(Fixed("Rome"), question, [over])) for question in (now, then)] == [0, 1]


def test_only_parts_of_long_messages_are_embedded() -> None:
    long = result("We walked along the river to the old mill and back. " * 12, cosine=0.0)
    _, embedder = rerank("x", "Where?", near("I moved to Porto."), long)
    assert len(embedder.read) > 1
    assert not any("Porto" in text for text in embedder.read)


def test_more_is_searched_than_is_returned() -> None:
    question = Question("q", "ada", limit=5, recipe=RECIPES["precise"])
    wider = reranking.wider(question)
    assert (wider.limit, wider.recipe.share, wider.recipe.distinct) == (reranking.READ, 0.0, True)

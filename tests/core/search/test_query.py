from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event as hooks
from sqlalchemy import text

from core.config import Settings
from core.documents import documents, preparation
from core.documents.preparation import SentDocument
from core.events.publishing import Author
from core.index import search_index
from core.index.bm25 import READ
from core.inference.embedders import HashEmbedder, Symmetric
from core.memory import writer
from core.memory.changes import Owner
from core.search import query
from core.search.question import Question
from core.storage.db import Database
from core.types import Category
from tests.core.memory.writing import an_add
from tests.core.search.searching import EMBEDDER, contents, remember, search
from tests.factories import a_candidate
from tests.questions import question as a_question
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.works import Works


class Blind(Symmetric):
    """An embedder that knows no words, so that only the lexical arm can find anything."""

    name, dimension = "hash", EMBEDDER.dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.zeros((len(texts), self.dimension), dtype=np.float32)


def shelve(app: Database, settings: Settings, content: str, **fields: Any) -> None:
    """A document of the whole tenant, or of whom the fields name."""
    draft = preparation.prepare(SentDocument(content, **fields), settings)
    with app.tenant(TENANT) as tx:
        documents.save(tx, TENANT, draft, Author("test"))


def statements_of(app: Database, **asked: Any) -> list[str]:
    """What a search for tea sends to the database."""
    sent: list[str] = []

    def note(_c: Any, _u: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    hooks.listen(app.engine, "before_cursor_execute", note)
    search(app, "tea", **asked)
    hooks.remove(app.engine, "before_cursor_execute", note)
    return sent


def test_a_message_is_found_by_its_vector_once_it_has_one(app: Database, works: Works) -> None:
    accept(app, said("The cat sleeps."), said("A ship sails."), said("Bread is baked."))
    works.settle(flush=False)
    (best, *_) = search(app, "ship sails", method="vector", include=frozenset({"messages"}))
    assert best.message is not None
    assert best.message.content == "A ship sails."
    assert best.ranked.hit.lexical == 0
    assert best.ranked.hit.cosine > 0.5


def test_words_alone_find_without_any_vector(app: Database, works: Works) -> None:
    accept(app, said("The cat sleeps."), said("A ship sails."), said("Bread is baked."))
    works.settle(flush=False)
    answer = query.search(app, TENANT, Question("ship", "ada", method="keyword"), Blind())
    assert contents(answer.results)[0] == "A ship sails."


def test_a_question_finds_what_was_said_under_another_name(app: Database, works: Works) -> None:
    accept(app, said("My mother Evelyn turned seventy.", speaker="Ada"), said("Evelyn is allergic to nuts."))
    accept(app, *(said(f"My neighbour is allergic to work of kind {n}.") for n in range(5)), ended())
    works.settle()
    (best, *_) = search(app, "What is my mother allergic to?", include=frozenset({"messages"}))
    assert best.message is not None
    assert best.message.content == "Evelyn is allergic to nuts."


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("included", ["memories", "messages", "documents", "units"])
def test_by_words_alone_a_word_that_is_nowhere_finds_nothing(
    app: Database, settings: Settings, works: Works, included: str, settled: bool
) -> None:
    accept(app, said("I moved to Lisbon in May."), said("I like strong tea.", session="s2"), ended(message_count=3))
    remember(app, "Ada plays chess.")
    shelve(app, settings, "Harbours are open at night.")
    if settled:
        works.settle()
    assert not search(app, "xylophone", method="keyword", include=frozenset({included}))


def test_by_words_alone_only_what_has_one_is_found(app: Database, works: Works) -> None:
    accept(app, said("I moved to Lisbon in May."), said("I like strong tea.", session="s2"))
    works.settle(flush=False)
    assert contents(search(app, "tea", method="keyword")) == ["I like strong tea."]


def test_chinese_is_found_by_words_before_and_after_indexing(app: Database, works: Works) -> None:
    accept(app, said("我上个月搬到了里斯本。"), said("今天天气很好。"), said("我们去吃饭吧。"))
    assert contents(search(app, "里斯本", method="keyword"))[0] == "我上个月搬到了里斯本。"
    works.settle(flush=False)
    assert contents(search(app, "她什么时候搬到里斯本?", method="keyword"))[0] == "我上个月搬到了里斯本。"


def test_one_users_words_are_not_shown_to_another(app: Database, works: Works) -> None:
    accept(app, said("My pin is 4711.", user="ada"), said("I like tea.", user="bob", session="s2"))
    assert contents(search(app, "pin 4711", "bob")) == ["I like tea."]
    works.settle()
    assert "4711" not in str(contents(search(app, "pin 4711", "bob")))
    assert search(app, "pin 4711", "carol") == []


def test_a_user_sees_only_what_they_said_themselves_in_a_shared_session(app: Database) -> None:
    accept(app, said("My pin is 4711.", user="ada"), said("Mine is 8080.", user="bob"))
    assert contents(search(app, "pin", "bob")) == ["Mine is 8080."]


def test_a_group_finds_what_all_of_it_said(app: Database, works: Works) -> None:
    accept(
        app,
        said("The party is on Friday.", group_id="friends"),
        said("I bring the cake to the party.", user="bob", group_id="friends"),
        said("My party at home.", user="bob", session="s2"),
    )
    expected = {"The party is on Friday.", "I bring the cake to the party."}
    assert set(contents(search(app, "party", None, group_id="friends"))) == expected
    works.settle(flush=False)
    assert set(contents(search(app, "party", None, group_id="friends"))) == expected


def test_a_limit_is_kept_and_the_total_says_how_many_there_were(app: Database) -> None:
    accept_all(app, [said(f"tea number {n}") for n in range(30)])
    answer = query.search(app, TENANT, Question("tea", "ada", limit=7), EMBEDDER)
    assert (len(answer.results), answer.total) == (7, 30)


def test_a_question_without_words_is_answered_with_what_there_is(app: Database, works: Works) -> None:
    accept(app, said("tea"))
    for words in ("", "   ", "???", "\u200b"):
        assert contents(search(app, words)) == ["tea"]
    works.settle(flush=False)
    assert contents(search(app, "")) == ["tea"]


def test_words_that_try_to_be_sql_or_vectors_are_words(app: Database) -> None:
    accept(app, said("tea"))
    for words in ("'); DROP TABLE messages; --", "[1,2,3]", "{1:1}/5", "%s %(x)s :user", "\\"):
        assert contents(search(app, words)) == ["tea"]


def test_an_episode_is_found_where_it_is_asked_for_and_stands_in_nobodys_way(app: Database) -> None:
    episode = an_add(a_candidate("Ada spoke about Lisbon with Bob.", category=Category.EPISODE))
    fact = an_add(a_candidate("Ada lives in Lisbon.", 1))
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, Owner("ada"), [episode, fact], Author("test"))

    def found(**asked: Any) -> list[str]:
        answer = query.search(app, TENANT, a_question("Lisbon", **asked), HashEmbedder())
        return [result.memory.category for result in answer.results if result.memory is not None]

    assert found() == ["fact"]
    assert set(found(categories=["fact", "episode"])) == {"fact", "episode"}


def test_memories_messages_and_documents_are_found_together(app: Database, settings: Settings) -> None:
    accept(app, said("Is tea on the menu?", message_id="m1", id="e1"))
    remember(app, "Ada likes tea.")
    shelve(app, settings, "Green tea is served at eight.")
    found = search(app, "tea")
    assert {f.ranked.hit.type for f in found} == {"memory", "message", "document"}
    assert contents(search(app, "tea", include=frozenset({"documents"}))) == ["Green tea is served at eight."]
    assert {f.ranked.hit.type for f in search(app, "tea", include=frozenset({"messages", "memories"}))} == {
        "memory",
        "message",
    }


def test_documents_change_nothing_about_how_the_rest_is_found(app: Database, settings: Settings, works: Works) -> None:
    accept_all(app, [said(f"I drink tea number {n} at dawn.", message_id=f"m{n}", id=f"e{n}") for n in range(20)])
    works.settle(flush=False)
    accept(app, said("Tea is not indexed yet.", message_id="m99"))
    remember(app, "Ada likes tea.")
    rest = {"include": frozenset({"messages", "memories"}), "limit": 100}
    for method in ("hybrid", "keyword", "vector"):
        before = search(app, "tea at dawn", method=method, **rest)
        for n in range(3):
            shelve(app, settings, f"# Tea\n\nTea is served at dawn {n}.\n\n# Dawn\n\nDawn.", user_id="ada", title="Tea")
        assert search(app, "tea at dawn", method=method, **rest) == before
        mixed = search(app, "tea at dawn", method=method, limit=100)
        assert [one for one in mixed if one.passage is None] == before
        assert (len(mixed) > len(before)) == (method != "vector")  # The passages have no vectors yet.


def test_a_document_on_the_matter_is_found_among_much_talk_of_other_things(
    app: Database, settings: Settings, works: Works
) -> None:
    accept_all(app, [said(f"I went to the market on day {n} and bought apples there.") for n in range(60)])
    works.settle(flush=False)
    shelve(app, settings, "# Expenses\n\nA refund takes nine days.\n\n# Parking\n\nParking is free.")
    shelve(app, settings, "Apples are fruit. " * 300, title="Apples")
    assert contents(search(app, "How long does a refund take?"))[0] == "# Expenses\n\nA refund takes nine days."
    assert "Apples are fruit." not in str(contents(search(app, "How long does a refund take?", limit=5)))
    best = search(app, "Which day was it at the market?", limit=10)
    assert len(best) == 10
    assert "document" not in {f.ranked.hit.type for f in best}


def test_who_has_no_documents_is_not_asked_for_any(app: Database) -> None:
    accept(app, said("tea"))
    search(app, "tea")  # From here on the user's rows are at hand.
    without = frozenset({"messages", "memories"})
    assert len(statements_of(app)) == len(statements_of(app, include=without))
    assert not any("i.type = 'document'" in sent for sent in statements_of(app))


def test_a_least_similarity_holds_for_passages_too(app: Database, settings: Settings, works: Works) -> None:
    shelve(app, settings, "# A\n\nA ship sails.\n\n# B\n\nBread is baked.", title="x")
    assert search(app, "A ship sails", min_similarity=0.5) == []
    with app.tenant(TENANT) as tx:
        (name,) = tx.execute(text("SELECT id::text FROM documents")).scalars()
        rows = search_index.rows_to_embed(tx, [name], "salt")
        search_index.put_vectors(tx, rows, EMBEDDER.embed([row.text for row in rows]))
    assert contents(search(app, "A ship sails", min_similarity=0.5)) == ["# A\n\nA ship sails."]


def test_of_a_long_query_the_beginning_is_embedded(app: Database) -> None:
    class Noting(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
            embedded.extend(texts)
            return super().embed(texts)

    embedded: list[str] = []
    add = remember(app, "Ada plays the cello.")
    answer = query.search(app, TENANT, a_question("cello " * 1_500, "ada"), Noting())
    assert [len(text) for text in embedded] == [READ]
    assert [result.ranked.hit.key for result in answer.results] == [str(add.id)]


def test_a_message_without_words_is_no_result_before_and_after_it_is_indexed(app: Database, works: Works) -> None:
    accept(app, said("Green tea.", message_id="m1"), said("", message_id="m2", role="assistant"))
    accept(app, said(" \n", message_id="m3", role="assistant"))
    for _ in range(2):
        assert contents(search(app, "green tea")) == ["Green tea."]
        works.settle(flush=False)

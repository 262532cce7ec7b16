from __future__ import annotations

from sqlalchemy import event as hooks

from core.inference.embedders import HashEmbedder
from core.search import query
from core.search.question import Question
from core.storage.db import Database
from tests.core.search.searching import contents, remember, search
from tests.samples import TENANT, accept, said
from tests.works import Works


def test_a_message_is_found_by_its_words_before_anything_was_indexed(app: Database) -> None:
    accept(app, said("I moved to Lisbon in May."), said("The weather is fine."), said("Let us eat."))
    assert contents(search(app, "Lisbon"))[0] == "I moved to Lisbon in May."


def test_it_is_found_as_well_once_it_is_indexed_and_only_once(app: Database, works: Works) -> None:
    accept(app, said("I moved to Lisbon in May."), said("The weather is fine."), said("Let us eat."))
    works.settle(flush=False)
    accept(app, said("Lisbon has hills."))
    found = contents(search(app, "Lisbon"))
    assert set(found[:2]) == {"I moved to Lisbon in May.", "Lisbon has hills."}
    assert len(found) == len(set(found)) == 4


def test_a_message_that_is_indexed_while_the_question_is_answered_is_found_once(app: Database, works: Works) -> None:
    accept(app, said("I moved to Lisbon in May."))
    statements = 0

    def index_meanwhile(*_: object) -> None:
        nonlocal statements
        statements += 1
        if statements == 1:
            works.settle(flush=False)

    for place in range(1, 6):
        accept(app, said(f"Lisbon again {place}"))
        statements = 1 - place
        hooks.listen(app.engine, "after_cursor_execute", index_meanwhile)
        found = contents(search(app, "Lisbon"))
        hooks.remove(app.engine, "after_cursor_execute", index_meanwhile)
        assert len(found) == place + 1
        assert len(set(found)) == len(found)


def test_rows_at_hand_with_vectors_of_another_length_are_read_anew(app: Database) -> None:
    remember(app, "Ada drinks tea.")
    for dimension in (384, 64, 384):
        answer = query.search(app, TENANT, Question("tea", "ada"), HashEmbedder(dimension))
        assert contents(answer.results) == ["Ada drinks tea."]

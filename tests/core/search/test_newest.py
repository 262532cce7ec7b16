from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.search.query import search
from core.search.question import Question
from core.storage.db import Database
from tests.core.search.searching import EMBEDDER, contents
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.works import Works

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DELHI, AGRA = "The capital of Ruritania is Strelsau.", "The capital of Ruritania is Zenda."
ASKED = "What is the capital of Ruritania?"


@pytest.mark.parametrize("order", [(DELHI, AGRA), (AGRA, DELHI)])
def test_the_newest_comes_first_and_the_other_stays(app: Database, works: Works, order: tuple[str, str]) -> None:
    accept_all(app, [said(one, time=(NOON + timedelta(minutes=n)).isoformat()) for n, one in enumerate(order)])
    works.settle()
    found = search(app, TENANT, Question(ASKED, "ada"), EMBEDDER).results
    contents = [one.message.content for one in found if one.message]
    assert contents[:2] == [order[1], order[0]]


def test_a_question_about_the_earlier_value_finds_it_first(app: Database, works: Works) -> None:
    accept_all(app, [said(one, time=(NOON + timedelta(minutes=n)).isoformat()) for n, one in enumerate((DELHI, AGRA))])
    works.settle()
    found = search(app, TENANT, Question("Is Strelsau the capital of Ruritania?", "ada"), EMBEDDER).results
    assert next(one.message.content for one in found if one.message) == DELHI


@pytest.mark.parametrize("limit", [1, 2])
def test_a_message_that_is_raised_onto_the_page_is_shown_whole(app: Database, works: Works, limit: int) -> None:
    order = (DELHI, AGRA, "The weather of Ruritania is mild.")
    accept_all(app, [said(one, time=(NOON + timedelta(minutes=n)).isoformat()) for n, one in enumerate(order)])
    works.settle()
    found = search(app, TENANT, Question(ASKED, "ada", limit=limit), EMBEDDER).results
    # What the reader takes for lasting comes as a memory that quotes its message.
    assert [fact in text for fact, text in zip((AGRA, DELHI), contents(found), strict=False)] == [True] * limit
    assert all(one.sources for one in found)


def test_the_current_value_comes_before_a_message_of_which_another_fact_stays(app: Database, works: Works) -> None:
    early = "I live in Lisbon and I am allergic to peanuts."
    accept(app, said(early), ended())
    works.settle()
    accept(app, said("I moved to Porto.", session="s2", time="2026-11-25T12:00:00+00:00"), ended("s2"))
    works.settle()
    results = contents(search(app, TENANT, Question("Where do I live?", "ada"), EMBEDDER).results)
    assert [one for one in results if "Lisbon" in one] == [early]
    assert results.index("ada moved to Porto.") < results.index(early)

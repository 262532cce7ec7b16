from __future__ import annotations

from typing import Any

import pytest

from core.extraction import candidates
from core.language import dates
from core.language.en.language import GRAMMAR
from core.types import Candidate, Category, Evidence, Kind, Message, Topic
from tests.factories import NOON

MESSAGE = Message("s1", "m1", 1, "e1", "ada", "user", "Whatever was said.", NOON, "Ada")


def drawn(words: str, **fields: Any) -> Candidate:
    """The candidate that is built of words, with the dates that stand in them."""
    found = dates.find(words, NOON, GRAMMAR.dates)
    given = {"quote": MESSAGE.content, "corrects": False, **fields}
    return candidates.without_slot(words, words, "Ada", MESSAGE, found, GRAMMAR, **given)


@pytest.mark.parametrize(
    ("words", "category", "kind"),
    [
        ("The umbrella is in the hall.", Category.FACT, Kind.SEMANTIC),
        ("I love green tea.", Category.PREFERENCE, Kind.SEMANTIC),
        ("I visited my aunt on 3 June 2026.", Category.EVENT, Kind.EPISODIC),
        ("I joined the choir on 3 June 2027.", Category.PLAN, Kind.SEMANTIC),
        ("The concert is on 3 June 2027.", Category.PLAN, Kind.SEMANTIC),
        ("I love the concert on 3 June 2027.", Category.PREFERENCE, Kind.SEMANTIC),
    ],
)
def test_words_say_the_category_and_a_day_ahead_makes_a_plan_of_what_would_be_a_fact_or_an_event(
    words: str, category: Category, kind: Kind
) -> None:
    found = drawn(words)
    assert (found.category, found.kind) == (category, kind)


def test_one_of_several_days_that_lies_behind_makes_no_plan() -> None:
    assert drawn("The fair is from 3 June 2026 to 5 June 2027.").category is Category.FACT


def test_the_first_date_is_when_it_happened_and_without_one_it_is_when_it_was_said() -> None:
    dated = drawn("The concert is on 3 June 2027.")
    assert (dated.occurred_at.date().isoformat(), dated.structured) == ("2027-06-03", {"date_precision": "day"})
    undated = drawn("The umbrella is in the hall.")
    assert (undated.occurred_at, undated.structured) == (NOON, {})


def test_what_is_given_stands_above_what_the_words_say() -> None:
    found = drawn("I love green tea.", category=Category.INSTRUCTION, importance=0.9, confidence=0.8, corrects=True)
    assert (found.category, found.importance, found.confidence) == (Category.INSTRUCTION, 0.9, 0.8)
    assert found.corrects


def test_without_a_cue_importance_is_the_default_and_the_topic_is_none_of_the_themes() -> None:
    found = drawn("The umbrella is in the hall.")
    assert (found.importance, found.topic) == (candidates.IMPORTANCE, Topic.OTHER)
    assert drawn("My salary went up.").topic is Topic.FINANCE


def test_the_evidence_quotes_the_message_and_not_the_statement() -> None:
    assert drawn("I love green tea.").evidence == (Evidence("s1", "m1", "e1", "Whatever was said."),)


def test_without_any_date_nothing_is_ahead() -> None:
    later = dates.find("on 3 June 2027", NOON, GRAMMAR.dates)
    assert not candidates.is_ahead([], MESSAGE)
    assert candidates.is_ahead(later, MESSAGE)

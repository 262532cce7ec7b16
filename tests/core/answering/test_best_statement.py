"""The statement that answers a question, chosen by nearness."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.answering import best_statement
from core.answering.best_statement import BestStatement
from core.answering.statements import Statement
from core.inference.embedders import HashEmbedder
from core.inference.local_embedder import LocalEmbedder
from core.search.question import Question, SearchResult
from tests.core.answering.results import NOW, ranked


def statement(text: str, cosine: float, days: int = 0, *, outdated: bool = False) -> Statement:
    return Statement(text, SearchResult(ranked(cosine), []), NOW + timedelta(days=days), outdated=outdated)


def choose(*statements: Statement, least: float = 0.0) -> BestStatement:
    best = best_statement.choose(HashEmbedder(), Question("Where does Ada live?", "ada"), statements, least)
    assert best is not None
    return best


def test_the_nearest_is_chosen_and_its_certainty_rises_with_its_cosine() -> None:
    chosen = choose(statement("b", 0.3, 9), statement("a", 0.7))
    assert chosen.statement.text == "a"
    assert chosen.certainty > 0.5 > choose(statement("b", 0.3)).certainty


def test_of_two_that_answer_about_as_well_the_later_one_is_chosen() -> None:
    assert choose(statement("old", 0.7), statement("new", 0.695, 30)).statement.text == "new"
    assert choose(statement("old", 0.7), statement("new", 0.4, 30)).statement.text == "old"


def test_a_later_statement_below_the_certainty_that_is_asked_for_takes_no_ones_place() -> None:
    old, new = statement("old", 0.502), statement("new", 0.498, 30)
    assert choose(old, new).statement.text == "new"
    assert choose(old, new, least=0.5).statement.text == "old"


def test_if_none_is_certain_enough_the_most_certain_is_returned() -> None:
    chosen = choose(statement("a", 0.4), statement("b", 0.3), least=0.9)
    assert (chosen.statement.text, chosen.certainty < 0.9) == ("a", True)


def test_a_message_of_which_a_part_is_outdated_stands_behind_one_that_holds() -> None:
    partly = statement("partly", 0.7, 30, outdated=True)
    assert choose(partly, statement("whole", 0.699)).statement.text == "whole"


def test_without_statements_there_is_none() -> None:
    assert best_statement.choose(HashEmbedder(), Question("Where?", "ada"), [], 0.0) is None


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does Ada live?", "Ada lives in Porto.", "We had soup in the garden."),
        ("What is my sister allergic to?", "My sister can't eat peanuts.", "The train was late again."),
        ("李雷在哪里上班？", "李雷上个月跳槽去了字节跳动。", "今天下雨了。"),
        ("Wie heißt Annas Hund?", "Unser Dackel heißt Bruno.", "Das Wetter ist schön."),
    ],
)
def test_a_part_of_a_message_is_read_by_itself(question: str, answer: str, other: str) -> None:
    both = SearchResult(ranked(0.5), [])
    told = [Statement(text, both, NOW, "Ada") for text in (other, answer)]
    best = best_statement.choose(LocalEmbedder(), Question(question, "ada"), told, 0.0)
    assert best is not None
    assert best.statement.text == answer

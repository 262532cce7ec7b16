from __future__ import annotations

from functools import partial

import pytest

from core.language.terms import _segmenter, terms
from core.reflection import recurrence, themes
from tests.core.reflection.said import each, said
from tests.spent import spent


def test_two_themes_of_the_same_statements_are_one() -> None:
    assert said(each(["Ada went camping in the forest."] * 5)) == ["Ada, often: camping"]


def test_a_theme_that_is_known_keeps_its_place() -> None:
    both = each(["Ada went camping in the forest."] * 5)
    (one,) = recurrence.recurrences(both, "Ada", known_themes={"forest"})
    assert one.theme == "forest"


@pytest.mark.parametrize(
    "said",
    [
        "Ada loves thé.",
        "Ada had a cup of thé with Bob.",
        "Ada haves a dog.",
        "Ada haved lunch.",
        "Ada is in thể dục.",
    ],
)
def test_a_word_of_which_no_term_is_left_is_no_theme(said: str) -> None:
    assert all(one.stem for one in themes.mentions(said, "Ada", themes.name_words("Ada")))


def test_a_long_statement_without_spaces_costs_no_more_than_its_length() -> None:
    short, long = ("我们今天去公园跑步然后吃饭聊天" * times for times in (66, 660))
    people = themes.name_words("小明")
    for work in (partial(themes.mentions, subject="小明", people=people), themes.denied_stems):
        assert spent(partial(work, long)) < 40 * max(spent(partial(work, short)), 0.003)


def test_many_different_words_cost_what_reading_them_costs() -> None:
    words = [word for word, count in _segmenter().FREQ.items() if count and 2 <= len(word) <= 4][::11]
    said = "".join(words)[:10_000]
    assert spent(lambda: themes.mentions(said, "小明", themes.name_words("小明"))) < 12 * max(
        spent(lambda: terms(said)), 0.01
    )

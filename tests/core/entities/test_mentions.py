from __future__ import annotations

import pytest

from core.entities import mentions
from core.entities.mentions import WORDINGS
from core.entities.resolution import Directory
from tests.core.entities.introducing import heard, same


def named(directory: Directory, text: str) -> list[tuple[str, str]]:
    return [(text[m.start : m.end], m.entity.name) for m in mentions.of(directory, text)]


def test_a_text_mentions_people_by_names_and_roles() -> None:
    directory = heard("Evelyn, my mother, paints.", "My boss is Graham Miller.")
    text = "My mum met Graham Miller, and Evelyn liked Graham."
    assert named(directory, text) == [
        ("My mum", "Evelyn"),
        ("Graham Miller", "Graham Miller"),
        ("Evelyn", "Evelyn"),
        ("Graham", "Graham Miller"),
    ]


@pytest.mark.parametrize("text", ["Evelynsburg is a town.", "What a bear!", "I may come.", ""])
def test_a_name_within_another_word_or_in_small_letters_is_none(text: str) -> None:
    directory = heard("Evelyn, my mother, paints.", "We have a dog called Bear.", "My sister May is ill.")
    assert named(directory, text) == []


def test_who_writes_all_in_small_letters_means_names() -> None:
    assert named(heard("Evelyn, my mother, paints."), "where does evelyn live") == [("evelyn", "Evelyn")]


def test_an_introduction_in_the_text_itself_tells_who_is_meant() -> None:
    directory = heard("My brother Tom is a cook.", "My boss Tom is strict.")
    (mention,) = [m for m in mentions.of(directory, "My brother Tom is ill.") if m.form == "Tom"]
    assert "/brother" in mention.entity.spans


def test_wordings_name_the_same_person_otherwise() -> None:
    directory = heard("Evelyn, my mother, paints.")
    assert mentions.wordings(directory, "Where does my mother live?") == ["Where does Evelyn live?"]
    assert mentions.wordings(directory, "Where does Evelyn live?") == ["Where does my mother live?"]
    assert mentions.wordings(heard("我妹妹叫晓雯。"), "晓雯住哪儿？") == ["我妹住哪儿？"]
    assert mentions.wordings(directory, "Where do I live?") == []


def test_there_are_a_few_wordings_at_most() -> None:
    directory = heard("Evelyn, my mother, paints.", decisions=tuple(same("Evelyn", f"Eve{n}") for n in "abcdefgh"))
    assert len(mentions.wordings(directory, "Where does my mother live?")) == WORDINGS


@pytest.mark.parametrize(
    ("form", "beside", "written"),
    [
        ("/mother", "", "my mother"),
        ("Graham/mother", "", "Graham's mother"),
        ("~husband/sister", "", "my husband's sister"),
        ("/mother", "他住哪儿？", "我妈"),
        ("Evelyn", "", "Evelyn"),
        ("/unheard of", "", "my unheard of"),
    ],
)
def test_a_form_is_written_in_the_language_of_its_text(form: str, beside: str, written: str) -> None:
    assert mentions.written(form, beside) == written

from __future__ import annotations

import time

import pytest

from core.language import introductions
from core.language.introductions import NAME_CHARACTERS, contradict, form_of, links, role_mentions, told_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Nora moved to Lyon.", [("Nora", "/sister")]),
        ("I told my boss, Graham Miller, that it is fine.", [("Graham Miller", "/boss")]),
        ("Evelyn, my mother, is coming on Friday.", [("Evelyn", "/mother")]),
        ("Kim's my sister and she hates coffee.", [("Kim", "/sister")]),
        ("My boss is Graham Miller and he wants the report.", [("Graham Miller", "/boss")]),
        ("My mother's name is Evelyn.", [("Evelyn", "/mother")]),
        ("Graham's mother Evelyn visits us.", [("Evelyn", "Graham/mother")]),
        ("My husband's sister Ada lives in Rome.", [("Ada", "~husband/sister")]),
        ("We have a dog called Bear.", [("Bear", "/dog")]),
        ("My brother Ben broke his arm, everybody calls him Bear.", [("Ben", "/brother"), ("Bear", "/brother")]),
        ("Everybody calls Graham Bear.", [("Graham", "Bear"), ("Graham Bear",)]),
        ("I met Beatrice Okafor.", [("Beatrice Okafor",)]),
        ("Mrs Okafor has retired.", [("Mrs Okafor",)]),
        ("我室友郭凯又把我酸奶喝了。", [("郭凯", "/flatmate")]),
        ("我妹妹叫晓雯。", [("晓雯", "/younger sister")]),
        ("章一鸣是我室友。", [("章一鸣", "/flatmate")]),
        ("Mein Bruder Matthias ist Imker und wohnt bei uns.", [("Matthias", "/brother")]),
        ("Silke, meine Schwester, kommt am Freitag zu uns.", [("Silke", "/sister")]),
    ],
)
def test_an_introduction_gives_a_name_and_a_role_to_one_person(text: str, expected: list[tuple[str, ...]]) -> None:
    assert links(text) == expected


def test_a_role_is_that_of_whoever_speaks() -> None:
    assert links("My sister Nora moved.", "Ada") == [("Nora", "Ada/sister")]
    assert links("Tom's sister Nora moved.", "Ada") == [("Nora", "Tom/sister")]


@pytest.mark.parametrize(
    "text",
    [
        "My boss is German and strict.",
        "My wife is Portuguese.",
        "I was in Rome with my sister and Ada.",
        "When I told my mum Graham was ill she cried.",
        "My sister called.",
        "My work wife brought cake.",
        "我妈说今天不来。",
        "Meine Mutter kommt am Freitag.",
        "Mi hermana Nora vive en Lyon.",
        "Hey Jonas! Since Sunday it rains.",
        "",
    ],
)
def test_other_talk_of_people_introduces_nobody(text: str) -> None:
    assert [link for link in links(text) if len(link) > 1] == []


def test_a_text_has_a_bounded_number_of_introductions() -> None:
    text = " ".join(f"My sister Nora{chr(97 + n)} came." for n in range(26))
    assert len(links(text)) == introductions.MOST
    assert links("a" * introductions.READ + " My sister Nora came.") == []


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("my mother", "/mother"),
        ("Mum", "/mother"),
        ("our neighbour", "/neighbour"),
        ("Tom's wife", "Tom/wife"),
        ("我表姐", "/cousin"),
        ("老妈", "/mother"),
        ("meine Frau", "/wife"),
        ("Evelyn", "Evelyn"),
        ("  Graham   Miller ", "Graham Miller"),
        ("my mother in Rome", "my mother in Rome"),
        ("a/b", "a b"),
        ("/elder sister", "/elder sister"),
        ("章一鸣/mother", "章一鸣/mother"),
    ],
)
def test_a_name_or_role_as_people_write_it_has_a_form(written: str, form: str) -> None:
    assert form_of(written) == form


@pytest.mark.parametrize(
    "text",
    [
        "A" * 1600 + " they call him Bear" * 126,
        "A" * 4000,
        "A'" * 2000,
        "Und das ist nicht " + "Aa-" * 1300,
        "my sister " * 400,
        "我妈妈" * 1300,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.monotonic()
    links(text)
    role_mentions(text)
    assert time.monotonic() - began < 2


def test_a_form_is_short() -> None:
    assert len(form_of("x" * 500)) == NAME_CHARACTERS


def test_mentions_have_their_place() -> None:
    (mention,) = role_mentions("I met my mother.")
    assert (mention.form, "I met my mother."[mention.start : mention.end]) == ("/mother", "my mother")


@pytest.mark.parametrize(
    ("also", "expected"),
    [
        (["my mother", "Eve"], [("Evelyn", "/mother", "Eve")]),
        (["Evelyn"], []),
        ([], []),
        ("Eve", []),
        ([7, None], []),
        (None, []),
    ],
)
def test_a_memory_may_tell_other_names_of_its_subject(also: object, expected: list[tuple[str, ...]]) -> None:
    assert told_of("Evelyn", {"also": also}) == expected


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("Tom Asher", "Tom Ridley", True),
        ("Tom Asher", "Mr Ridley", True),
        ("Daniel Pelling", "Benjamin Pelling", True),
        ("Mr Asher", "Tom Asher", False),
        ("Tom", "Tom Ridley", False),
        ("Judith", "Dr Amory", False),
        ("罗佳怡", "何佳怡", True),
        ("罗佳怡", "罗总", False),
        ("Thomas Kurz", "Herr Rieger", True),
    ],
)
def test_names_contradict_each_other_by_their_form(name: str, other: str, expected: bool) -> None:
    assert contradict(name, other) is contradict(other, name) is expected

"""First person to third."""

from __future__ import annotations

import pytest

from core.language.en import plain, third_person


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I'm vegetarian and have a dog", "Ada is vegetarian and has a dog"),
        ("I live in Porto and work as a nurse", "Ada lives in Porto and works as a nurse"),
        ("My wife and I live in Porto", "Ada and Ada's wife live in Porto"),
        ("Me and my family went camping", "Ada and Ada's family went camping"),
        ("We went camping with my kids", "Ada went camping with Ada's kids"),
        ("We painted it ourselves", "Ada painted it"),
        ("I've been into dancing since I was a kid", "Ada has been into dancing since Ada was a kid"),
        ("I study hard and watch films", "Ada studies hard and watches films"),
        ("I want to swim and run", "Ada wants to swim and run"),
        ("I don't smoke", "Ada does not smoke"),
        ("My sister gave me a cake", "Ada's sister gave Ada a cake"),
        ("My sister lives in Oslo and I sing", "Ada's sister lives in Oslo and Ada sings"),
        ("I loved The Last of Us", "Ada loved The Last of Us"),
        ('I read "My Brilliant Friend" last week', 'Ada read "My Brilliant Friend" last week'),
        ("I told you about my store", "Ada told Jon about Ada's store"),
    ],
)
def test_a_sentence_is_told_of_its_speaker(text: str, told: str) -> None:
    assert third_person.third_person(plain.plain(text), "Ada", "Jon") == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("World War I interests me.", "World War I interests Ada."),
        ("I have type I diabetes.", "Ada has type I diabetes."),
        ("My gate is I34.", "Ada's gate is I34."),
        ("My code word is I-7.", "Ada's code word is I-7."),
        ("The shed is at Gate IV, not at Gate I like before.", "The shed is at Gate IV, not at Gate I like before."),
        ("I passed Calculus I and I am proud", "Ada passed Calculus I and Ada is proud"),
        ("I live in the US and read US Weekly", "Ada lives in the US and reads US Weekly"),
        ("I work in a coal mine", "Ada works in a coal mine"),
        ("The house is mine", "The house is Ada's"),
        ('I said "I am here" to my mother', 'Ada said "I am here" to Ada\'s mother'),
        ("I love ‘My Fair Lady’ and sing it", "Ada loves ‘My Fair Lady’ and sings it"),
        ("I, on the other hand, like it", "Ada, on the other hand, likes it"),
        ("On Sundays I go bouldering", "On Sundays Ada goes bouldering"),
        ("I wake up at six, make coffee and walk the dog", "Ada wakes up at six, makes coffee and walks the dog"),
        ("I am not online and never have been.", "Ada is not online and never has been."),
        ("We moved to Mechelen in April", "Ada moved to Mechelen in April"),
        ("I live by myself", "Ada lives alone"),
    ],
)
def test_no_word_is_rewritten_that_is_not_the_speaker(text: str, told: str) -> None:
    assert third_person.third_person(text, "Ada") == told


@pytest.mark.parametrize(
    "text",
    [
        "We met in 2010.",
        "We are a family of five.",
        "All of us like it.",
        "I taught myself Python.",
        "Henry I was a king I admire.",
        'He told me, "I like it.',
    ],
)
def test_a_sentence_is_quoted_where_the_speaker_cannot_be_told(text: str) -> None:
    told = third_person.third_person(text, "Ada")
    assert told.startswith("Ada said: “")
    assert text.rstrip(".").replace('"', "'") in told


@pytest.mark.parametrize(
    ("noun", "shown"),
    [
        ("product engineer", "a product engineer"),
        ("artist", "an artist"),
        ("university teacher", "a university teacher"),
        ("two cats", "two cats"),
        ("CEO", "CEO"),
    ],
)
def test_a_noun_takes_the_article_that_fits(noun: str, shown: str) -> None:
    assert third_person.with_article(noun) == shown

"""First person to third."""

from __future__ import annotations

import pytest

from core.extract import english, rewrite


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I'm vegetarian and have a dog", "Ada is vegetarian and has a dog"),
        ("I live in Porto and work as a nurse", "Ada lives in Porto and works as a nurse"),
        ("My wife and I live in Porto", "Ada and their wife live in Porto"),
        ("Me and my family went camping", "Ada and their family went camping"),
        ("We went camping with my kids", "Ada went camping with their kids"),
        ("We painted it ourselves", "Ada and others painted it themselves"),
        ("I've been into dancing since I was a kid", "Ada has been into dancing since they were a kid"),
        ("I study hard and watch films", "Ada studies hard and watches films"),
        ("I want to swim and run", "Ada wants to swim and run"),
        ("I don't smoke", "Ada does not smoke"),
        ("My sister gave me a cake", "Ada's sister gave Ada a cake"),
        ("My sister lives in Oslo and I sing", "Ada's sister lives in Oslo and Ada sings"),
        ("Been training hard and gonna win", "Ada has been training hard and they are going to win"),
        ("It's shown me a lot", "It has shown Ada a lot"),
        ("I loved The Last of Us", "Ada loved The Last of Us"),
        ('I read "My Brilliant Friend" last week', 'Ada read "My Brilliant Friend" last week'),
        ("I told you about my store", "Ada told Jon about their store"),
        ("What can I say, I love turtles", "Ada loves turtles"),
    ],
)
def test_a_sentence_is_told_of_its_speaker(text: str, told: str) -> None:
    plain = english.cleaned(text, frozenset({"Jon"}))
    assert rewrite.third_person(plain, "Ada", "Jon") == told


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Thanks, Jon! Gonna continue my studies", "I am going to continue my studies"),
        ("Lost my job yesterday", "I lost my job yesterday"),
        ("Been working on a novel", "I have been working on a novel"),
        ("Learning German has been tough", "Learning German has been tough"),
        ("Love and acceptance matter to me", "Love and acceptance matter to me"),
        ("It reminds me why I love painting", "I love painting"),
        ("By the way, I can't swim, haha", "I cannot swim"),
        ("Gonna be a big change", "Going to be a big change"),
        ("Gonna be a dad", "I am going to be a dad"),
        ("Took me ages", "Took me ages"),
        ("Since we last spoke, I quit", "I quit"),
        ("I should rest, shouldn't I.", "I should rest"),
    ],
)
def test_chat_english_becomes_plain(text: str, plain: str) -> None:
    assert english.cleaned(text, frozenset({"Jon"})) == plain


def test_who_we_are_is_taken_from_the_message() -> None:
    told = rewrite.third_person("We hiked all day", "Ada", None, "I was out with my kids. We hiked all day")
    assert told == "Ada and their kids hiked all day"


def test_chinese_names_the_speaker() -> None:
    assert rewrite.third_person_zh("我妈妈和我住在成都", "小明") == "小明的妈妈和小明住在成都"
    assert rewrite.third_person_zh("其实，我不吃肉", "小明") == "小明不吃肉"
    assert rewrite.third_person_zh("我们老板喜欢喝茶", "小明") == "小明的老板喜欢喝茶"


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
    assert rewrite.with_article(noun) == shown

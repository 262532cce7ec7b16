from __future__ import annotations

import pytest

from core.extraction import salience
from core.extraction.salience import Setting


@pytest.mark.parametrize("plain", ["I moved to Porto in May", "My sister teaches chemistry", "I broke my left arm"])
def test_what_can_be_understood_alone_is_a_statement(plain: str) -> None:
    assert salience.is_statement(plain)


@pytest.mark.parametrize("plain", ["Thanks", "My god", "I hope so too", "I am glad to hear that"])
def test_courtesies_and_fragments_are_none(plain: str) -> None:
    assert not salience.is_statement(plain)


def test_chinese_must_speak_of_oneself() -> None:
    assert salience.is_statement("我在苏州的一家医院上班")
    assert not salience.is_statement("天气很好啊今天")
    assert not salience.is_statement("我好")


def test_a_turn_of_life_weighs_more_than_something_vague() -> None:
    assert salience.weigh("My grandmother died") > salience.weigh("My tea got cold")
    assert salience.weigh("I got married in Porto") > salience.weigh("I like everything and stuff")


def test_a_message_is_worth_more_where_it_is_dated_new_and_an_answer() -> None:
    plain = Setting("I run by the river", 5, answers=False, dated=False, novelty=0.0)
    better = Setting("I run by the river", 5, answers=True, dated=True, novelty=1.0)
    said = ["I run by the river"]
    assert salience.message_weight(said, better) > salience.message_weight(said, plain)
    assert salience.message_weight(said, plain) > salience.message_weight(
        said, Setting("Shall I run? Bye", 5, False, False, 0.0)
    )

from __future__ import annotations

from core.forgetting import nearest, requests
from core.forgetting.extent import ForgetScope
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import Turn

TALK = [
    Turn(0, 0, "ada", "Ada", "user", "The boiler man comes on Monday. We rowed about the inheritance."),
    Turn(1, 1, "ada", "Ada", "assistant", "Inheritance, understood."),
    Turn(2, 2, "ben", "Ben", "user", "I bring the cake."),
    Turn(3, 3, "ada", "Ada", "user", "Please delete the quarrel from your memory."),
]


def request(text: str = TALK[-1].text) -> ForgetRequest:
    found = requests.read(text)
    assert found is not None
    return found


def said() -> list[str]:
    return [one.span.text for one in nearest.sentences(request(), TALK[-1], TALK)]


def test_only_sentences_of_the_asker_are_compared() -> None:
    assert said() == ["The boiler man comes on Monday.", "We rowed about the inheritance."]


def test_nothing_is_guessed_for_a_request_that_names_somebody_else_who_spoke() -> None:
    assert nearest.sentences(request("Please delete Ben's quarrel from your memory."), TALK[-1], TALK) == []


def test_the_nearest_sentence_is_meant_with_what_the_assistant_repeated() -> None:
    passages = nearest.sentences(request(), TALK[-1], TALK)
    found = nearest.choose(passages, [0.1, 0.4], TALK)
    assert found.scope is ForgetScope.SIMILAR
    assert {key: [TALK[key].text[a:b] for a, b in spots] for key, spots in found.places.items()} == {
        0: ["We rowed about the inheritance."],
        1: ["Inheritance, understood."],
    }


def test_sentences_that_are_equally_near_are_both_held() -> None:
    passages = [*nearest.sentences(request(), TALK[-1], TALK), *nearest.sentences(request(), TALK[-1], TALK)[:1]]
    assert len(nearest.choose(passages, [0.41, 0.4, 0.0], TALK).places[0]) == 2


def test_nothing_is_near_where_all_is_equally_far() -> None:
    passages = nearest.sentences(request(), TALK[-1], TALK)
    assert nearest.choose(passages, [0.1, 0.1], TALK).is_empty
    assert nearest.choose(passages, [0.4, 0.39], TALK).is_empty


def test_a_sentence_that_has_changed_since_is_not_touched() -> None:
    assert nearest.at([(0, 0, 5)], TALK).is_empty

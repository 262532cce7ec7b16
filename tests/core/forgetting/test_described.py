from __future__ import annotations

import pytest

from core.forgetting import described, matching
from core.forgetting.extent import ForgetScope
from core.forgetting.talk import MEMORY, Turn
from tests.core.forgetting.labelled import cosines, reader, request_of
from tests.misread import ERRS


def meant(memories: list[str], message: str) -> tuple[ForgetScope | None, list[str]]:
    """How a request is carried out, and the memories that it means."""
    turns = [Turn(number, -1, "ada", None, MEMORY, text) for number, text in enumerate(memories)]
    asking = Turn("asking", len(turns), "ada", None, "user", message)
    request = request_of(message)
    if request is None:
        return None, []
    found = matching.find(request, asking, turns)
    if found.is_empty:
        found = matching.by_meaning(request, asking, turns, cosines, reader().meant)
    return found.scope, [turn.text for turn in turns if turn.key in found.places]


@pytest.mark.parametrize(
    ("memories", "message", "right"),
    [
        (["My door code is 7719.", "My bike lock code is 3380."], "Forget the code of my bike lock.", [1]),
        pytest.param(
            ["My sister works as a nurse.", "I work as a welder."],
            "Forget what I told you about my job.",
            [1],
            marks=ERRS,
        ),
        (["I weigh 92 kilos.", "My dog weighs 30 kilos."], "Please stop remembering how much I weigh.", [0]),
        (["I take sertraline.", "I take ibuprofen."], "Could you erase from your memory that I take sertraline?", [0]),
        pytest.param(
            ["I live at 3 Elm Street.", "I'm moving to 9 Oak Lane."], "You can forget my old address.", [0], marks=ERRS
        ),
        (
            ["My ex Paul still has my keys.", "My brother Paul is a pilot."],
            "Please erase what you know about my ex.",
            [0],
        ),
        (
            ["Our wifi password is sun88.", "The alarm PIN is 9035.", "My locker code is 1230."],
            "Delete my wifi password and the alarm PIN from what you remember.",
            [0, 1],
        ),
        (["我在银行上班。", "我妹妹在医院上班。"], "把我妹妹的工作从你的记忆里删掉吧", [1]),
        (["我的银行卡密码是662810。", "我的门禁密码是9021。"], "不要再保存我的门禁密码。", [1]),
    ],
)
def test_what_is_named_is_meant_and_nothing_like_it(memories: list[str], message: str, right: list[int]) -> None:
    scope, found = meant(memories, message)
    assert scope in {ForgetScope.FACT, ForgetScope.ALL_ABOUT}
    assert found == [memories[index] for index in right]


@pytest.mark.parametrize(
    ("memories", "message"),
    [
        (["My library card number is 20994."], "Please forget my credit card number."),
        pytest.param(
            ["My blood pressure is high.", "I donate blood twice a year."],
            "Don't keep my blood type in your notes about me.",
            marks=ERRS,
        ),
        (["My sister lives in Rome.", "I live in Turin."], "Forget my brother's address."),
        (["我用的是招商银行的卡。", "我的图书证号是88213。"], "把我的信用卡号从你的记忆里清掉"),
    ],
)
def test_where_it_is_not_there_nothing_like_it_is_meant(memories: list[str], message: str) -> None:
    scope, found = meant(memories, message)
    assert scope is ForgetScope.SIMILAR or found == []


def test_what_is_not_clearly_meant_is_held() -> None:
    scope, found = meant(["We quarrelled about money in May."], "Please delete the fight from your memory.")
    assert scope is ForgetScope.SIMILAR or found == []


def test_what_the_request_says_stays_is_not_meant() -> None:
    memories = ["I had knee surgery.", "I was diagnosed with diabetes.", "My mom has asthma."]
    message = "What you know about my health, all of it: wipe it please. My mom's asthma can stay."
    assert memories[2] not in meant(memories, message)[1]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Please delete my door code from your memory.", ["my door code"]),
        ("Forget what I told you about my divorce.", ["what my divorce"]),
        ("请从你的记忆里删掉我家门锁的密码", ["我家门锁的密码"]),
    ],
)
def test_a_description_is_a_request_without_the_words_of_asking(message: str, named: list[str]) -> None:
    request = request_of(message)
    assert request is not None
    assert [description.text for description in described.descriptions(request)] == named

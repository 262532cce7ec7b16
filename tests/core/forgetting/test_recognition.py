from __future__ import annotations

import numpy as np
import pytest

from core.forgetting import recognition
from tests.core.forgetting.labelled import asking, reader
from tests.misread import ERRS


@pytest.mark.parametrize(
    "message",
    [
        "Please delete my PIN from memory.",
        "Forget that I used to smoke.",
        "Forget my old phone number.",
        "Can you unlearn where I work?",
        "Everything you remember about my ex, please remove it.",
        "Delete what I shared about my panic attacks.",
        "The address I gave you last week can be deleted.",
        "Take the bit about my debts out of your notes.",
        "I'd rather you didn't hang on to my salary.",
        "Stop keeping track of my weight.",
        "I shouldn't have told you about the affair. Please wipe that.",
        "Let's pretend I never mentioned the lawsuit to you.",
        "My blood type shouldn't be in your memory.",
        "把我说过的地址忘掉吧。",
        "从你的记忆里删掉我的体重。",
        "我欠债的事，别再记着了。",
        "不要再保存我的银行卡号了。",
        "我离职的事你就当没听我说过。",
        "我跟你讲过前男友的事吧?那些都忘了",
    ],
)
def test_who_names_the_memory_or_what_it_was_told_asks(message: str) -> None:
    assert asking(message)


@pytest.mark.parametrize(
    "message",
    [
        "Delete the peanuts from the shopping list.",
        "Remove Mia from the group chat.",
        "Drop the Postgres container.",
        "Delete the event on 3 May.",
        "Erase the whiteboard.",
        "Drop the rule about emojis in emails to Contoso.",
        pytest.param("Delete everything about the merger from the memo.", marks=ERRS),
        "Remove the line I mentioned from the draft.",
        "Delete the photos I sent you from the shared folder.",
        "Forget the onions, use leeks.",
        "Forget my earlier order, I'll have the soup instead.",
        "把花生从购物清单里删掉",
        "我跟你说，把花生从清单里删掉",
        "清空购物车",
    ],
)
def test_commands_about_other_things_do_not_ask(message: str) -> None:
    recognised = recognition.recognise(message, reader().asks)
    assert recognised is None or not recognised.sure


@pytest.mark.parametrize(
    "message",
    [
        "He deleted what I told him.",
        "Don't forget what I told you about my allergy.",
        "How do I delete what you know about me?",
        "Did you delete what I told you to delete?",
        "I forgot what I told you about my trip.",
        "Forget it, let's order pizza.",
        "Don't keep me waiting.",
        "I told you I don't want onions. Remove them.",
        pytest.param("I told you the draft was too long. Delete it.", marks=ERRS),
        "Write a message to Tom: please forget what I told you about the money.",
        'She said: "Forget everything I told you."',
        "怎么让他忘掉我说过的话？",
        "我忘了跟你说，我下周去大理。",
        "他说过的话我都忘了",
        "别忘了我跟你说过的过敏的事",
        "算了，当我没说，换个话题",
        "谁也别再记着了",
    ],
)
def test_reports_questions_refusals_idioms_and_texts_do_not_ask(message: str) -> None:
    recognised = recognition.recognise(message, reader().asks)
    assert recognised is None or not recognised.sure


@pytest.mark.parametrize(
    "message",
    [
        "With my wasp allergy I'm not climbing up there.",
        "The stopcock is behind the washing machine, in case I can't find it again.",
        "Oh, and the tablets I told you about are different ones now.",
        "Nothing gets stored in that cellar, ever.",
        "Ich fahr keinen Lift, ich hab Platzangst, das vergess ich nie.",
        "Die Pässe liegen in der Blechdose im Flur, falls ich mal frage.",
        "Ya sabes, pescado sí, pero carne no.",
        "Je suis infirmière de nuit, mais ça, tu le sais déjà.",
        "名刺が出てきましたが、誰なのかまったく思い出せません。",
        "户口本在床头柜里，你替我记着，我老忘。",
        "万一哪天我忘了，你讲给我听。",
    ],
)
def test_what_people_tell_of_themselves_does_not_ask(message: str) -> None:
    assert recognition.recognise(message, reader().asks) is None


def test_the_sentence_that_asks_is_named() -> None:
    assert asking("I have a new phone. Please forget my old number. What is the weather like?") == [1]


def test_without_the_reader_the_words_decide() -> None:
    assert recognition.recognise("Please delete what I told you about my divorce from your memory.") is not None
    assert recognition.recognise("I live in Porto.") is None


@pytest.mark.parametrize(
    ("log_odds", "expected"), [(recognition.LIKELY - 1, None), (recognition.LIKELY + 0.1, False), (9.0, True)]
)
def test_what_the_reader_says_decides_between_nothing_approval_and_acting(
    log_odds: float, expected: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "by_words", lambda _text: 0.0)
    recognised = recognition.recognise("Our tiles are blue.", lambda texts: np.full(len(texts), log_odds, np.float32))
    assert (None if recognised is None else recognised.sure) is expected


def test_a_long_message_is_read_to_a_bound() -> None:
    message = "Forget it. " * 2_000
    assert len(recognition.windows(message, recognition.pieces(message))) == recognition.WINDOWS


def test_of_a_long_message_a_sentence_is_read_with_its_neighbours() -> None:
    before, request, after = "It rained all day. " * 30, "Please forget my salary.", " We had soup. " * 30
    message = f"{before}{request}{after}"
    spans = recognition.pieces(message)
    (window,) = [one for one in recognition.windows(message, spans) if one.text == request]
    assert recognition.stretch(message, spans, window) == (
        "It rained all day. It rained all day. Please forget my salary. We had soup.  We had soup."
    )
    assert recognition.stretch(request, recognition.pieces(request), window) == request

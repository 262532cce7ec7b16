from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from core.extraction import rule_extractor, self_corrections
from core.inference.local_reader import LocalReader
from core.types import Message
from tests.factories import NOON
from tests.misread import ERRS


def messages_of(*contents: str, roles: Sequence[str] = ()) -> list[Message]:
    return [
        Message("s1", f"m{n}", n, f"e{n}", "ada", role, content, NOON + timedelta(minutes=n))
        for n, (content, role) in enumerate(zip(contents, roles or ["user"] * len(contents), strict=True), 1)
    ]


@cache
def reader() -> LocalReader:
    return LocalReader()


def corrected(*contents: str, roles: Sequence[str] = ()) -> list[str]:
    return [message.content for message in self_corrections.apply(messages_of(*contents, roles=roles), reader())[0]]


@pytest.mark.parametrize(
    ("statement", "correction", "right"),
    [
        ("I moved to Porto.", "Sorry, not Porto, Leeds.", "I moved to Leeds."),
        ("I moved to Porto.", "Oops, I said Porto but it is Leeds.", "I moved to Leeds."),
        ("I moved to Porto.", "No, not Porto. Leeds.", "I moved to Leeds."),
        ("I moved to Porto.", "It's Leeds, not Porto.", "I moved to Leeds."),
        ("I moved to Porto.", "Typo: Leeds", "I moved to Leeds."),
        ("I moved to Porto.", "I meant Leeds.", "I moved to Leeds."),
        ("I moved to Porto.", "make that Leeds", "I moved to Leeds."),
        ("I moved to Porto.", "Porto I mean Leeds, sorry", "I moved to Leeds."),
        ("My train leaves at 18:20.", "scratch that, 18:50", "My train leaves at 18:50."),
        ("I paid 340 for the bike.", "*430", "I paid 430 for the bike."),
        ("I bought a Bosch dishwasher.", "Actually it's a Beko.", "I bought a Beko dishwasher."),
        ("I booked a table for six.", "Sorry, a table for eight.", "I booked a table for eight."),
        ("I ordered the boots in a size 5.", "Size 6 rather.", "I ordered the boots in a size 6."),
        ("My exam is on 14 August.", "Hang on, the 16th.", "My exam is on 16th August."),
        ("我在京东上班。", "说错了，美团。", "我在美团上班。"),
        ("我下周去厦门出差。", "不对，是福州。", "我下周去福州出差。"),
        ("我的猫叫毛毛。", "不是毛毛，是团团。", "我的猫叫团团。"),
        ("我住在杭州。", "不对，是宁波，不是杭州。", "我住在宁波。"),
        ("我的车位是137号。", "打错了，173号", "我的车位是173号。"),
    ],
)
def test_a_short_correction_puts_the_statement_before_right(statement: str, correction: str, right: str) -> None:
    assert corrected(statement, correction) == [right]


@ERRS
def test_a_correction_of_a_correction_holds() -> None:
    assert corrected("I interviewed at Ocado.", "Wait, it was Deliveroo.", "Gah, no. Gousto!") == [
        "I interviewed at Gousto."
    ]


def test_what_else_is_said_stays() -> None:
    assert corrected("I moved to Porto. I have a cat.", "No wait, Leeds. It rains here.") == [
        "I have a cat",
        "I moved to Leeds. It rains here.",
    ]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("I work at Contoso—no wait, Fabrikam.", "I work at Fabrikam."),
        ("I live in Porto, sorry, Leeds, near the river.", "I live in Leeds, near the river."),
        ("我住在杭州，不对，宁波。", "我住在宁波。"),
    ],
)
def test_a_value_is_corrected_within_its_own_sentence(written: str, right: str) -> None:
    assert corrected(written) == [right]


@pytest.mark.parametrize(
    ("statement", "later"),
    [
        ("I moved to Whitby.", "Not Scarborough, thank goodness."),
        ("My dog is called Waffles.", "Sorry, I should have said, I've got a cat too, Pickle."),
        ("I work at Tesco.", "Actually I also do Saturdays at a garden centre."),
        ("I take 10 mg of lisinopril.", "Oh, and 40 mg of simvastatin at night, I meant to mention that."),
        ("I moved to Porto.", "No, Leeds is nice as well."),
        ("I work with Anna.", "Sorry, Tom, I was late."),
        ("I take sugar in my tea.", "No sugar today."),
        ("I take two sugars.", "No, thanks."),
        ("我老家在洛阳。", "不是开封的，好多人都猜错。"),
        ("我大儿子叫小宇。", "哦对了，小儿子叫小航。"),
    ],
)
def test_what_only_looks_like_a_correction_changes_nothing(statement: str, later: str) -> None:
    assert corrected(statement, later) == [statement, later]


def test_an_answer_to_a_question_corrects_only_what_it_names() -> None:
    roles = ["user", "assistant", "user"]
    said = ["I met Ann at work.", "Was it Kim's idea?", "No, Bob's."]
    assert corrected(*said, roles=roles) == said


@ERRS
def test_a_correction_of_a_question_corrects_the_statement_before_it() -> None:
    roles = ["user", "assistant", "user"]
    assert corrected("I met Ann.", "Ann from work?", "Sorry, not Ann, Bob.", roles=roles)[-1] == "I met Bob."


def test_the_corrected_statement_fills_the_slot_and_cites_both_messages() -> None:
    (candidate,) = rule_extractor.extract(
        messages_of("I work at Contoso.", "Sorry, not Contoso, Fabrikam."), reader=reader()
    )
    assert (candidate.attribute, candidate.value) == ("work.employer", "Fabrikam")
    assert [(one.message_id, one.quote) for one in candidate.evidence] == [
        ("m1", "I work at Contoso."),
        ("m2", "Sorry, not Contoso, Fabrikam."),
    ]


def test_without_a_reader_nothing_is_corrected() -> None:
    said = messages_of("I moved to Porto.", "Sorry, not Porto, Leeds.")
    assert self_corrections.apply(said, None) == (said, {})


@dataclass
class Pointing:
    """A reader that says the same of every message, and counts how often it is asked."""

    log_odds: float
    pointed: tuple[str, str, float]
    asked: int = 0

    def slips(self, statements: Sequence[str], _reply: str, _message: str) -> NDArray[np.float32]:
        self.asked += 1
        return np.full(len(statements), self.log_odds, dtype=np.float32)

    def values(self, _statement: str, _reply: str, _message: str) -> tuple[str, str, float]:
        return self.pointed


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((5.0, "Porto", "Leeds"), ["I moved to Leeds."]),
        ((-20.0, "Porto", "Leeds"), None),
        ((5.0, "Porto.", "Leeds,"), ["I moved to Leeds."]),
        ((5.0, "Lisbon", "Leeds"), None),
        ((5.0, "Porto", "York"), None),
        ((5.0, "Porto", "Porto"), None),
        ((5.0, "Porto", "PORTO"), None),
        ((5.0, "", "Leeds"), None),
    ],
    ids=[
        "right",
        "unsure",
        "with signs",
        "not in the statement",
        "not in the message",
        "the same",
        "the same in capitals",
        "nothing",
    ],
)
def test_what_the_reader_points_at_has_to_stand_in_both_texts(
    answer: tuple[float, str, str], says: list[str] | None
) -> None:
    said = messages_of("I moved to Porto.", "Sorry, Leeds, not Porto, PORTO.")
    read = [message.content for message in self_corrections.apply(said, Pointing(answer[0], (*answer[1:3], 0.9)))[0]]
    assert read == (says or [message.content for message in said])


def test_long_messages_are_not_shown_to_the_reader() -> None:
    pointing = Pointing(9.0, ("Porto", "Leeds", 0.9))
    said = messages_of("I moved to Porto.", "Sorry, Leeds, not Porto. " + "It rains. " * 60)
    assert self_corrections.apply(said, pointing)[0] == said
    assert pointing.asked == 0


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("Sorry, not Porto, Leeds.", True),
        ("*430", True),
        ("说错了，美团。", True),
        ("We walked along the river with the dogs all afternoon, and my brother cooked for everybody.", False),
        ("昨天晚上我们一家人在外面吃了火锅，孩子们玩得特别开心，回来都快十点了。", False),
    ],
)
def test_a_quick_look_at_the_words_decides_what_is_shown(text: str, *, may: bool) -> None:
    assert (self_corrections.by_words(text) >= self_corrections.WORDS_LIKELY) is may


def test_pointers_that_are_unsure_are_not_believed() -> None:
    said = messages_of("I moved to Porto.", "Sorry, Leeds, not Porto.")
    assert self_corrections.apply(said, Pointing(9.0, ("Porto", "Leeds", 0.3)))[0] == said


PLAIN = [
    "I live in Lisbon.",
    "My name is Ada.",
    "I am allergic to peanuts.",
    "I have a cat called Tom.",
    "I work at Contoso.",
    "I like green tea.",
    "My PIN is 4471.",
    "We're flying to Rome on Friday.",
    "I weigh 82 kilos.",
    "I start at nine.",
    "我住在上海。",
    "我叫小林。",
    "我对花生过敏。",
    "我在银行上班。",
]


@pytest.mark.parametrize("later", PLAIN)
def test_plain_statements_one_after_the_other_correct_nothing(later: str) -> None:
    for earlier in PLAIN:
        assert corrected(earlier, later) == [earlier, later]


@pytest.mark.parametrize(
    "form",
    [
        "ronuvohinelik {0}",
        "ticket {0}",
        "My locker number {} holds the badge QX000{}Z, please remember it.",
        "qxvbn {} {}",
        "Ticket {} is for row {}.",
        "我的第{}号柜子放着{}号钥匙。",
        "Invoice {}: {} euros",
    ],
)
def test_of_many_things_that_are_told_alike_all_stay(form: str) -> None:
    said = [form.format(n, n + 3) for n in range(1, 9)]
    assert corrected(*said) == said

from __future__ import annotations

import pytest

from core.extraction import short_answers
from core.extraction.english import questions


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("When do you practise?", "Mondays and Fridays.", "I practise on Mondays and Fridays."),
        ("When does your train leave?", "6:40 in the evening.", "My train leaves at 6:40 in the evening."),
        ("Great! When is the recital?", "12 June.", "The recital is on 12 June."),
        ("How long have you been a baker?", "Since 2009.", "I have been a baker since 2009."),
        ("Where's the studio?", "The mill on Canal Road.", "The studio is at the mill on Canal Road."),
        ("Where does your son study?", "Utrecht.", "My son studies in Utrecht."),
        ("Who do you play for?", "The Harbour Rovers.", "I play for the Harbour Rovers."),
        ("What does he do?", "Roofer.", "He is a roofer."),
        ("How many shifts do you work?", "Five.", "I work five shifts."),
        ("Can you ski?", "No, never tried.", "I cannot ski."),
        ("Do you smoke?", "Nope.", "I do not smoke."),
        ("Have you ever been to Peru?", "No.", "I have never been to Peru."),
        ("Do you take classes?", "Yes, every other Tuesday.", "I take classes every other Tuesday."),
        ("Any pets?", "Two goats, Bo and Pip.", "I have two goats, Bo and Pip."),
        ("Do you have other siblings?", "No, just the one brother.", "I only have one brother."),
        ("Target weight?", "68 kilos.", "My target weight is 68 kilos."),
    ],
)
def test_a_question_and_its_short_answer_make_a_statement(question: str, answer: str, statement: str) -> None:
    read = short_answers.read(question, answer)
    assert read is not None
    assert read.statement == statement


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How are you?", "Tired."),
        ("How was work?", "Long."),
        ("What happened?", "The cat broke a vase."),
        ("What do you need?", "A plan."),
        ("What would you like to know?", "The weather in Rome."),
        ("How can I help?", "Two ideas for dinner."),
        ("When do you want me to remind you?", "At five."),
        ("Where do you want to start?", "At the top."),
    ],
)
def test_small_talk_and_offers_of_help_make_none(question: str, answer: str) -> None:
    assert questions.stated(question, questions.Reply(yes=False, no=False, rest=answer.rstrip("."))) is None

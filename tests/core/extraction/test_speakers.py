from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction import speakers
from core.types import Message

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


def message(text: str, position: int = 1, role: str = "user", speaker: str | None = None) -> Message:
    return Message("s", f"m{position}", position, f"e{position}", "ada", role, text, NOON, speaker)


@pytest.mark.parametrize(
    ("role", "speaker", "person"),
    [
        ("user", None, "ada"),
        ("user", "Ada", "Ada"),
        ("assistant", None, None),
        ("assistant", "Assistant", None),
        ("assistant", "Bob", "Bob"),
        ("tool", "Bob", None),
        ("system", None, None),
    ],
)
def test_people_speak_and_assistants_and_tools_do_not(role: str, speaker: str | None, person: str | None) -> None:
    assert speakers.speaker_of(message("x", role=role, speaker=speaker)) == person


def test_a_name_that_says_nothing_of_itself_is_an_assistant() -> None:
    helpful = [message("Here is the list.", n, "assistant", "Kit") for n in range(1, 4)]
    assert {m.speaker for m in speakers.with_assistants(helpful)} == {None}
    person = [message("I live in Oslo.", 1, "assistant", "Kit")]
    assert speakers.with_assistants(person)[0].speaker == "Kit"


def test_the_question_of_somebody_else_stands_before_an_answer() -> None:
    asked = message("Nice! Where do you live?", 1, "assistant")
    (answer,) = speakers.heard([asked, message("Lisbon. And you?", 2)])
    assert (answer.question, answer.answers, answer.sentences) == ("Where do you live?", True, ("Lisbon.", "And you?"))
    (again,) = speakers.heard([message("Shall I?", 1, "tool"), message("Lisbon.", 2)])
    assert again.question == ""


def test_what_was_said_in_a_game_has_no_sentences() -> None:
    played = list(speakers.heard([message("Let's play a role-play!"), message("I am the king of France.", 2)]))
    assert [heard.sentences for heard in played] == [(), ()]


def test_of_a_long_message_the_first_and_the_last_paragraph_are_the_authors_own() -> None:
    pasted = message("\n\n".join(["Please check this:", "word " * 500, "Thanks!"]))
    assert speakers.own_words(pasted) == "Please check this:\nThanks!"


def test_the_last_question_counts_and_a_quoted_one_does_not() -> None:
    assert speakers.question_in("Hungry? What shall I cook?") == "What shall I cook?"
    assert speakers.question_in('How do you say "Where is it?"') is None
    assert speakers.question_in("No.") is None

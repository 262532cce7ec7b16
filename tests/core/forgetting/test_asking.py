from __future__ import annotations

import pytest

from core.forgetting import asking


@pytest.mark.parametrize(
    "sentence", ["please delete my pin from memory.", "你把那个地址忘掉吧。", "you needn't keep that."]
)
def test_commands_and_wishes_ask(sentence: str) -> None:
    assert asking.asks(sentence, sentence)


@pytest.mark.parametrize("sentence", ["he deleted my number.", "don't delete it.", "how do i delete a file?"])
def test_reports_refusals_and_questions_do_not_ask(sentence: str) -> None:
    assert not asking.asks(sentence, sentence)


def test_a_command_about_a_device_asks_only_where_it_names_the_memory() -> None:
    sentence = "please delete the photos on my phone."
    assert not asking.asks(sentence, sentence)
    assert asking.asks(sentence, f"{sentence} wipe it from your memory.")


def test_quoted_requests_are_blanked_and_quoted_values_stay() -> None:
    said = 'she said "delete all my notes" and the word is "harbour lane".'
    bare = asking.without_quotations(said)
    assert len(bare) == len(said)
    assert "delete" not in bare
    assert "harbour lane" in bare


def test_what_is_not_yet_deleted_is_not_declared() -> None:
    assert asking.declares("logged: the code 4471 is deleted.")
    assert not asking.declares("the code 4471 will be deleted later.")

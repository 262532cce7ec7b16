from __future__ import annotations

from core.context.sections import TITLES, SectionName, SectionPiece


def test_every_section_but_the_prompt_and_the_conversation_has_a_title_of_its_own() -> None:
    assert set(SectionName) - set(TITLES) == {SectionName.SYSTEM_PROMPT, SectionName.RECENT}
    assert len(set(TITLES.values())) == len(TITLES)


def test_the_words_of_a_piece_are_what_was_said_without_what_stands_around_it() -> None:
    assert SectionPiece("memory:1", "- 3 May: Ada has a cat.", {}, content="Ada has a cat.").words == "Ada has a cat."
    assert SectionPiece("memory:1", "Ada has a cat.", {}).words == "Ada has a cat."

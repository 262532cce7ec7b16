from __future__ import annotations

from core.context.budget import Budget, split_limit
from core.context.packing import TITLE_TOKENS, Packer
from core.context.sections import SectionName, SectionPiece


class Words:
    """Counts words."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def a_desk() -> Packer:
    return Packer(Words(), split_limit(2000, Budget()), "tea", 10)


def pieces(*texts: str) -> list[SectionPiece]:
    return [SectionPiece(f"memory:{n}", text, {}) for n, text in enumerate(texts)]


def test_a_shorter_piece_may_fit_behind_one_that_does_not() -> None:
    section = a_desk().first(SectionName.MEMORIES, TITLE_TOKENS + 6, pieces("one two", "a b c d e f g h", "three"))
    assert [piece.key for piece in section.pieces] == ["memory:0", "memory:2"]
    assert [(left.key, left.why) for left in section.left_out] == [("memory:1", "no room")]


def test_a_section_takes_no_more_than_it_may() -> None:
    section = a_desk().section(SectionName.MEMORIES, 8, pieces("one two three", "four five six", "seven eight nine"))
    assert 0 < section.tokens <= 8
    assert len(section.pieces) + len(section.left_out) == 3


def test_without_pieces_a_section_costs_nothing() -> None:
    section = a_desk().first(SectionName.MEMORIES, 100, [])
    assert (section.text, section.tokens, list(section.pieces)) == ("", 0, [])

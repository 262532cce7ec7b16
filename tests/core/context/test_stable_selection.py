from __future__ import annotations

from uuid import UUID

from core.context.reader import Material
from core.context.retrievers import Found as Outside
from core.context.sections import Part
from core.context.stable_selection import Held
from tests.core.context.inputs import found, keys, memory, read, said, shown, talk


def test_in_a_session_it_is_shown_for_the_question_and_not_held() -> None:
    sheet = shown(read(outside=[("wiki", Outside("Tea.", "tea", 0.9))], material=Material((), talk(said(1, "Tea?")))))
    assert keys(sheet, Part.FOCUS) == ["outside:wiki:tea"]
    assert sheet.chosen == Held(1, [], [])


def test_what_was_held_stays_in_its_order_though_another_question_finds_other_things() -> None:
    rows = {UUID(int=n): memory(n, f"Ada likes tea number {n}.") for n in (3, 1)}
    seen = read(
        material=Material((), talk(said(1, "Tea?"))),
        held=Held(1, list(rows), []),
        standing=rows,
        results=[found(memory(7, "Ada plays chess."))],
    )
    sheet = shown(seen)
    assert keys(sheet, Part.MEMORIES) == [f"memory:{UUID(int=n)}" for n in (3, 1)]
    assert keys(sheet, Part.FOCUS) == [f"memory:{UUID(int=7)}"]

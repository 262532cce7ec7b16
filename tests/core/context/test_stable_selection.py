from __future__ import annotations

from uuid import UUID

from core.context.reader import OwnerMaterial
from core.context.retrievers import RetrievedText as Outside
from core.context.sections import SectionName
from core.context.stable_selection import StableSelection
from core.types import Category
from tests.core.context.inputs import found, keys, memory, read, said, shown, talk


def test_in_a_session_it_is_shown_for_the_question_and_not_held() -> None:
    sheet = shown(
        read(outside=[("wiki", Outside("Tea.", "tea", 0.9))], material=OwnerMaterial((), talk(said(1, "Tea?"))))
    )
    assert keys(sheet, SectionName.FOCUS) == ["outside:wiki:tea"]
    assert sheet.chosen == StableSelection(1, [], [])


def test_what_was_held_stays_in_its_order_though_another_question_finds_other_things() -> None:
    rows = {UUID(int=n): memory(n, f"Ada likes tea number {n}.") for n in (3, 1)}
    seen = read(
        material=OwnerMaterial((), talk(said(1, "Tea?"))),
        earlier=StableSelection(1, list(rows), []),
        standing=rows,
        results=[found(memory(7, "Ada plays chess."))],
    )
    sheet = shown(seen)
    assert keys(sheet, SectionName.MEMORIES) == [f"memory:{UUID(int=n)}" for n in (3, 1)]
    assert keys(sheet, SectionName.FOCUS) == [f"memory:{UUID(int=7)}"]


def test_in_a_group_kept_memories_stay_byte_for_byte_and_under_the_member_who_said_them() -> None:
    rows = [
        memory(number, f"{user} likes tea.", user_id=user, group_id="crew", category=Category.PREFERENCE)
        for number, user in ((1, "ada"), (2, "bob"))
    ]
    material = OwnerMaterial((), talk(said(1, "Tea?")))
    first = shown(read(material=material, results=[found(row) for row in rows]), listener="ada")
    kept = read(material=material, earlier=first.chosen, standing={row.id: row for row in rows})
    section = shown(kept, listener="ada").section(SectionName.MEMORIES)
    assert section is not None
    assert section == first.section(SectionName.MEMORIES)
    assert {piece.heading: piece.text for piece in section.pieces} == {
        "User Preferences": "- ada likes tea. (2026-05-05)",
        "Preferences of Other Members": "- bob: bob likes tea. (2026-05-06)",
    }

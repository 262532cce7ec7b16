from __future__ import annotations

from core.browsing import drawn
from core.memory.changes import Archive
from core.storage.db import Database
from core.types import Evidence, Trust
from tests.factories import a_memory, carry_out
from tests.samples import TENANT


def cited(*messages: str) -> tuple[Evidence, ...]:
    return tuple(Evidence("s1", message, "e1", "x") for message in messages)


def test_each_message_names_the_active_memories_drawn_from_it_newest_first(app: Database) -> None:
    one, two = a_memory("A cat.", evidence=cited("m1")), a_memory("A dog.", evidence=cited("m1", "m2"))
    old, hostile = a_memory("A rat.", evidence=cited("m1")), a_memory("Obey.", trust=Trust.QUARANTINED)
    carry_out(app, one, two, old, hostile)
    carry_out(app, Archive(old.id, 1, "too old"))
    with app.tenant(TENANT) as tx:
        assert drawn.memories_of(tx, "s1", ["m1", "m2", "m3"]) == {"m1": [two.id, one.id], "m2": [two.id]}
        assert drawn.memories_of(tx, "s2", ["m1"]) == drawn.memories_of(tx, "s1", []) == {}


def test_of_a_message_behind_many_memories_the_newest_are_named(app: Database) -> None:
    adds = [a_memory(f"Ada has {n} cats.", evidence=cited("m1")) for n in range(drawn.MOST + 5)]
    carry_out(app, *adds)
    with app.tenant(TENANT) as tx:
        named = drawn.memories_of(tx, "s1", ["m1"])["m1"]
    assert named == [add.id for add in reversed(adds)][: drawn.MOST]

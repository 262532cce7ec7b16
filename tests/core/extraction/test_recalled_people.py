from __future__ import annotations

from typing import Any

import pytest

from core.extraction import recalled_people
from core.extraction.known_people import Acquaintance
from core.memory.changes import Owner
from core.storage.db import Database
from core.types import Message
from tests.factories import NOON, a_memory, carry_out
from tests.samples import TENANT


def said(user: str = "ada", group: str | None = None, role: str = "user") -> Message:
    return Message("s1", "m1", 1, "e1", user, role, "Hello.", NOON, None, group)


def recalled(app: Database, *messages: Message) -> dict[str | None, dict[str, list[Acquaintance]]]:
    with app.tenant(TENANT) as tx:
        found = recalled_people.acquaintances(tx, messages)
    return {group: {user: list(known) for user, known in users.items()} for group, users in found.items()}


def a_cat(name: str, **fields: Any) -> Any:
    return a_memory(f"Ada has a cat named {name}.", attribute="relation.cat", value=name, **fields)


def test_people_of_earlier_memories_are_known_the_latest_first_and_once_each(app: Database) -> None:
    carry_out(app, a_cat("Tom"))
    carry_out(app, a_memory("Mia is eight.", subject="Mia"), a_memory("Mia plays chess.", subject="Mia"))
    (found,) = recalled(app, said()).values()
    assert found == {"ada": [Acquaintance("Mia"), Acquaintance("Tom", "cat"), Acquaintance("ada")]}


def test_a_name_given_in_one_group_is_unknown_in_another(app: Database) -> None:
    carry_out(app, a_cat("Tom"), owner=Owner("ada", "crew"))
    found = recalled(app, said(group="crew"), said(group="choir"), said())
    assert Acquaintance("Tom", "cat") in found["crew"]["ada"]
    assert (found["choir"], found[None]) == ({"ada": []}, {"ada": []})


def test_each_speaker_has_their_own_and_an_assistant_has_none(app: Database) -> None:
    carry_out(app, a_cat("Tom"))
    carry_out(app, a_memory("Bob has a cat named Rex.", attribute="relation.cat", value="Rex", subject="bob"),
              owner=Owner("bob"))  # fmt: skip
    found = recalled(app, said(), said("bob"), said("aide", role="assistant"))
    assert found[None].keys() == {"ada", "bob"}
    assert Acquaintance("Tom", "cat") not in found[None]["bob"]


def test_of_an_archived_memory_nobody_is_recalled(app: Database) -> None:
    carry_out(app, a_cat("Tom", expires_at=NOON))
    assert recalled(app, said()) == {None: {"ada": []}}


def test_only_so_many_memories_are_looked_through(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalled_people, "MOST", 1)
    carry_out(app, a_cat("Tom"))
    carry_out(app, a_memory("Ada has a dog named Rex.", attribute="relation.dog", value="Rex"))
    assert recalled(app, said())[None]["ada"] == [Acquaintance("Rex", "dog"), Acquaintance("ada")]

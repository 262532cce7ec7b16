"""`imprint memory decisions`, `undo` and `related`."""

from __future__ import annotations

from core.memory.changes import Confirm, Link
from core.storage.db import Database
from core.types import Relation
from tests.commands import Imprint
from tests.core.changing import Bench, an_add
from tests.factories import a_candidate


def test_a_verdict_is_listed_and_taken_back(imprint: Imprint, app: Database) -> None:
    ada, cat = Bench(app), an_add("Ada has a cat.")
    assert "Nothing was decided." in imprint("memory", "decisions").err
    ada.apply(cat)
    confirmed = Confirm(ada.known(cat.id), a_candidate("Ada has a cat!", 1), "the same")
    ada.apply(confirmed)
    shown = imprint("memory", "decisions", "--user", "ada", "--kind", "confirm", "--json").json["items"]
    assert [one["change_id"] for one in shown] == [str(confirmed.change_id)]
    assert "confirm" in imprint("memory", "decisions").out
    assert imprint("memory", "decisions", "--memory", str(cat.id)[-8:]).out.startswith(str(confirmed.change_id)[-8:])
    undone = imprint("memory", "undo", "--change", str(confirmed.change_id)[-8:], "--reason", "no")
    assert (undone.code, f"{str(cat.id)[-8:]} active, v3" in undone.out) == (0, True)
    assert "undone" in imprint("memory", "decisions").out
    assert imprint("memory", "undo", "--change", str(confirmed.change_id)).code == 1


def test_the_latest_change_of_a_memory_is_taken_back(imprint: Imprint, app: Database) -> None:
    ada, cat = Bench(app), an_add("Ada has a cat.")
    ada.apply(cat)
    done = imprint("memory", "undo", str(cat.id)[-8:], "--json").json
    assert done["undoes"] == str(cat.change_id)
    assert ada.row(cat.id).trust == "rejected"
    assert imprint("memory", "undo").code == 2
    assert imprint("memory", "undo", str(cat.id), "--change", str(cat.change_id)).code == 2


def test_what_is_related_is_shown_with_the_way(imprint: Imprint, app: Database) -> None:
    ada, one, other = Bench(app), an_add("Ada has a cat."), an_add("Ada has a black cat.", 1)
    ada.apply(one, other)
    assert "Nothing is related to it." in imprint("memory", "related", str(one.id)).err
    ada.apply(Link(other.id, Relation.REFINES, one.id))
    shown = imprint("memory", "related", str(one.id)[-8:]).out
    assert shown.split(maxsplit=2)[:2] == [str(other.id)[-8:], "0.80"]
    assert "refines it  Ada has a black cat." in shown
    (item,) = imprint("memory", "related", str(other.id), "--json").json["items"]
    assert item["id"] == str(one.id)

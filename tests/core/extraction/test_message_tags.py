from __future__ import annotations

from core.extraction import message_tags
from core.storage.db import Database
from core.types import Evidence
from tests.factories import a_candidate
from tests.samples import TENANT, accept, said


def test_tags_of_messages_are_read_without_repeats_up_to_the_bound(app: Database) -> None:
    many = [f"t{n}" for n in range(message_tags.MOST + 5)]
    accept(app, said("a", message_id="m1", tags=["x", "y", "x"]), said("b", message_id="m2", tags=many), said("c"))
    with app.tenant(TENANT) as tx:
        found = message_tags.of_messages(tx, "s1", ["m1", "m2", "m3"])
        assert message_tags.of_messages(tx, "s1", ["m3"]) == message_tags.of_messages(tx, "s1", []) == {}
    assert found == {"m1": ["x", "y"], "m2": many[: message_tags.MOST]}


def test_a_statement_takes_the_tags_of_all_messages_that_it_cites_behind_its_own() -> None:
    both = (Evidence("s1", "m1", "e1", "x"), Evidence("s1", "m2", "e2", "x"))
    candidate = a_candidate("Ada has a cat.", evidence=both, tags=("pets", "a"))
    (one,) = message_tags.tagged([candidate], {"m1": ["a", "b"], "m2": ["b", "c"], "m3": ["d"]})
    assert one.tags == ("pets", "a", "b", "c")
    assert message_tags.tagged([candidate], {}) == [candidate]


def test_a_statement_never_gets_more_tags_than_the_bound() -> None:
    own = tuple(f"own{n}" for n in range(message_tags.MOST))
    for tags in ((), own[:-1], own):
        candidate = a_candidate("Ada has a cat.", 1, tags=tags)
        (one,) = message_tags.tagged([candidate], {"m1": [f"t{n}" for n in range(message_tags.MOST)]})
        assert len(one.tags) == message_tags.MOST
        assert one.tags[: len(tags)] == tags

from __future__ import annotations

import pytest

from core.consolidation import importance_floor, pipeline
from core.consolidation.pipeline import Consolidation
from core.inference.embedders import HashEmbedder
from core.memory.changes import Add, Confirm, Dispute, Ignore, Joined, Link, Owner
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.tenancy import extraction
from core.tenancy.extraction import ExtractionChoice
from core.types import Candidate, Relation, Trust
from tests.factories import ADA, NOON, a_candidate, a_memory, carry_out
from tests.samples import TENANT


def known(add: Add) -> KnownMemory:
    return KnownMemory(add.id, 1, add.candidate.content, "ada", None, None, NOON)


def test_an_unimportant_addition_is_ignored_with_the_reason() -> None:
    minor, major = a_memory("Ada hums.", importance=0.3), a_memory("Ada has a cat.", importance=0.6)
    ignored, kept = importance_floor.leave_out([minor, major], 0.6)
    assert kept is major
    assert isinstance(ignored, Ignore)
    assert (ignored.candidate, ignored.change_id) == (minor.candidate, minor.change_id)
    assert ignored.reason == "Its importance, 0.3, is below what this tenant keeps: 0.6."


def test_what_changes_something_known_or_is_referred_to_is_kept() -> None:
    old, one = a_memory("Old.", importance=0.1), a_memory("New.", importance=0.1)
    ends = Add(a_candidate("Ended.", importance=0.1), "because", supersedes=known(old))
    for change in (
        Dispute(known(one), known(old), "no"),
        Link(one.id, Relation.SUPERSEDES, old.id),
        Joined(one.id, one.candidate, "same"),
    ):
        assert importance_floor.leave_out([one, change], 0.9) == [one, change]
    confirm = Confirm(known(old), one.candidate, "again")
    assert importance_floor.leave_out([ends, confirm], 0.9) == [ends, confirm]
    for fields in ({"trust": Trust.QUARANTINED}, {"pinned": True}):
        add = a_memory("Kept.", importance=0.1, **fields)
        assert importance_floor.leave_out([add], 0.9) == [add]


@pytest.mark.parametrize(("explicit", "kinds"), [(False, ["Ignore", "Confirm"]), (True, ["Add", "Confirm"])])
def test_the_tenants_floor_holds_for_what_is_extracted_and_not_for_what_is_asked_for(
    app: Database, explicit: bool, kinds: list[str]
) -> None:
    carry_out(app, a_memory("Ada has a cat."))
    with app.tenant(TENANT) as tx:
        extraction.put(tx, TENANT, ExtractionChoice(0.6))
    said: list[Candidate] = [
        a_candidate("Ada hums in the bath tub.", 1, importance=0.5), a_candidate("Ada has a cat.", 2, importance=0.5),
    ]  # fmt: skip
    owner: Owner = ADA
    changes = pipeline.consolidate(Consolidation(app, HashEmbedder()), TENANT, owner, said, explicit=explicit)
    assert [type(change).__name__ for change in changes] == kinds


def test_a_doubt_keeps_no_addition_that_matters_too_little_and_goes_with_it() -> None:
    minor, major = a_memory("Ada hums.", importance=0.3), a_memory("Ada has a cat.", importance=0.6)
    doubt, other = (Link(add.id, Relation.MAY_SUPERSEDE, a_memory("Ada sings.").id) for add in (minor, major))
    ignored, *kept = importance_floor.leave_out([minor, major, doubt, other], 0.6)
    assert isinstance(ignored, Ignore)
    assert kept == [major, other]

"""What verdicts keep, and what becomes of each when it is undone."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import text

from core.consolidation import dedup_sweep
from core.consolidation.judge import Thresholds
from core.errors import Conflict, Invalid
from core.memory import verdicts
from core.memory.changes import Add, Confirm, Dispute, Edit, Ignore, Merge
from core.memory.verdicts import VerdictFilter
from core.storage.db import Database
from core.types import Evidence
from tests.core.changing import NOON, PERSON, Bench, a_candidate, absorbed, an_add, two
from tests.samples import TENANT


@pytest.fixture
def ada(app: Database) -> Bench:
    return Bench(app)


def test_a_candidate_is_read_as_it_was_written() -> None:
    said = a_candidate("Ada has a cat.", 1, tags=("pets",), structured={"pet": ["cat"]}, valid_from=NOON, pinned=True)
    assert verdicts.candidate_of(json.loads(json.dumps(verdicts.candidate_json(said)))) == said


def verdict(app: Database, change_id: UUID) -> tuple[str, UUID | None]:
    with app.tenant(TENANT) as tx:
        row = verdicts.find_one(tx, change_id)
    return row.kind, row.undone_by


def test_an_undo_says_by_which_change_it_was_undone_and_stands_again(ada: Bench, app: Database) -> None:
    _, _, change = absorbed(ada)
    first = ada.undo(change.change_id)
    with pytest.raises(Conflict, match=str(first.change_id)):
        ada.undo(change.change_id)
    second = ada.undo(first.change_id)
    assert verdict(app, change.change_id) == ("merge", None)
    assert verdict(app, first.change_id) == ("undo", second.change_id)
    third = ada.undo(second.change_id)
    assert verdict(app, change.change_id) == ("merge", first.change_id)
    assert verdict(app, second.change_id) == ("undo", third.change_id)
    with pytest.raises(Conflict, match="undone already"):
        ada.undo(change.change_id)


def test_evidence_that_another_standing_change_cites_stays(ada: Bench) -> None:
    cat = an_add("Ada has a cat.")
    ada.apply(cat)
    said = a_candidate("I do.", evidence=tuple(Evidence("s2", f"m{n}", "e9", "I do") for n in (7, 8)))
    one = Confirm(ada.known(cat.id), said, "again")
    ada.apply(one)
    other = Confirm(ada.known(cat.id), replace(said, evidence=said.evidence[:1]), "and again")
    ada.apply(other)
    ada.undo(one.change_id)
    assert ada.quotes(cat.id) == ["m0", "m7"]
    ada.undo(other.change_id)
    assert ada.quotes(cat.id) == ["m0"]


def test_evidence_of_a_memory_that_was_absorbed_stays_though_a_confirmation_of_it_goes(ada: Bench) -> None:
    less, more = two(ada)
    again = Confirm(ada.known(less.id), a_candidate("I do.", evidence=more.candidate.evidence), "again")
    ada.apply(again)
    ada.apply(Merge(ada.known(less.id), a_candidate("x", evidence=()), "one", absorbs=ada.known(more.id)))
    ada.undo(again.change_id)
    assert ada.quotes(less.id) == ["m0", "m1"]


def test_of_two_confirmations_at_once_each_gives_back_its_own_evidence(ada: Bench) -> None:
    cat = an_add("Ada has a cat.")
    ada.apply(cat)
    known = ada.known(cat.id)
    both = [Confirm(known, a_candidate("I do.", day), "again") for day in (1, 2)]
    ada.apply(*both)
    ada.undo(both[1].change_id)
    assert ada.quotes(cat.id) == ["m0", "m1"]
    ada.undo(both[0].change_id)
    assert (ada.quotes(cat.id), ada.row(cat.id).trust) == (["m0"], "candidate")


def disputed(ada: Bench, *, at_once: bool) -> tuple[list[Add], list[Dispute]]:
    """Two memories that each contradict a third."""
    adds = [an_add(content, day) for day, content in enumerate(("Ada eats meat.", "No meat.", "Meat? Never."))]
    ada.apply(*adds)
    first = Dispute(ada.known(adds[1].id), ada.known(adds[0].id), "denied")
    if not at_once:
        ada.apply(first)
    second = Dispute(ada.known(adds[2].id), ada.known(adds[0].id), "denied too")
    ada.apply(*([first, second] if at_once else [second]))
    return adds, [first, second]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_memory_is_disputed_as_long_as_something_contradicts_it(
    ada: Bench, order: tuple[int, int], *, at_once: bool
) -> None:
    adds, disputes = disputed(ada, at_once=at_once)
    after = ada.picture()

    def trust() -> list[str]:
        return [ada.row(a.id).trust for a in adds]

    back = [ada.undo(disputes[order[0]].change_id)]
    one_left = trust()
    assert (one_left[0], sorted(one_left[1:])) == ("disputed", ["candidate", "disputed"])
    back.append(ada.undo(disputes[order[1]].change_id))
    assert trust() == ["candidate"] * 3
    for one in back:
        ada.undo(one.change_id)
    assert trust() == ["disputed"] * 3
    assert ada.picture() == after


def test_what_a_person_has_called_disputed_stays_so(ada: Bench) -> None:
    one, other = an_add("Ada eats meat."), an_add("Ada does not eat meat.", 1)
    ada.apply(one, other)
    ada.apply(Edit(one.id, 1, {"trust": "disputed"}, "unsure"))
    dispute = Dispute(ada.known(other.id), ada.known(one.id), "denied")
    ada.apply(dispute)
    ada.undo(dispute.change_id)
    assert [ada.row(a.id).trust for a in (one, other)] == ["disputed", "candidate"]


def test_what_was_ignored_is_added_after_all_and_believed(ada: Bench, app: Database) -> None:
    ignored = Ignore(a_candidate("Ada waves."), "says nothing")
    ada.apply(ignored)
    undone = ada.undo(ignored.change_id, reason="it does")
    (row,) = ada.rows("active")
    assert (row.content, row.trust, list(undone.memory_ids)) == ("Ada waves.", "confirmed", [row.id])
    assert (ada.quotes(row.id), verdict(app, ignored.change_id)) == (["m0"], ("ignore", undone.change_id))
    again = ada.undo(undone.change_id)
    assert (ada.rows("active"), verdict(app, ignored.change_id)) == ([], ("ignore", None))
    ada.undo(again.change_id)
    assert [r.id for r in ada.rows("active")] == [row.id]


def test_what_a_confirmation_took_in_can_be_kept_as_a_memory_of_its_own(ada: Bench) -> None:
    cat = an_add("Ada has a cat.")
    ada.apply(cat)
    confirmed = Confirm(ada.known(cat.id), a_candidate("Ada has a black cat.", 1), "much the same")
    ada.apply(confirmed)
    ada.undo(confirmed.change_id, keep=True)
    assert [(r.content, ada.quotes(r.id)) for r in ada.rows("active")] == [
        ("Ada has a cat.", ["m0"]),
        ("Ada has a black cat.", ["m1"]),
    ]


def test_nothing_can_be_kept_of_what_took_nothing_in(ada: Bench) -> None:
    cat = an_add("Ada has a cat.")
    ada.apply(cat)
    with pytest.raises(Invalid, match="/keep"):
        ada.undo(cat.change_id, keep=True)


def sweep(app: Database) -> int:
    found = dedup_sweep.sweep(app, TENANT, "ada", Thresholds(near=0.5))
    with app.tenant(TENANT) as tx:
        return int(found.write(tx, PERSON).get("merged", 0))


def forget_marks(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM sweeps"))


def test_a_sweep_does_not_merge_again_what_someone_has_taken_apart(ada: Bench, app: Database) -> None:
    two(ada)
    assert sweep(app) == 1
    with app.tenant(TENANT) as tx:
        (merged,) = verdicts.find(tx, VerdictFilter(user_id="ada", kind="merge"))
    apart = ada.undo(merged.id)
    forget_marks(app)
    assert sweep(app) == 0
    ada.undo(apart.change_id)
    ada.undo(merged.id)
    forget_marks(app)
    assert sweep(app) == 0


def test_a_sweep_leaves_apart_what_was_kept_of_a_confirmation(ada: Bench, app: Database) -> None:
    less = an_add("Ada likes coffee.")
    ada.apply(less)
    confirmed = Confirm(ada.known(less.id), a_candidate("Ada likes coffee, black.", 1), "much the same")
    ada.apply(confirmed)
    ada.undo(confirmed.change_id, keep=True)
    assert sweep(app) == 0

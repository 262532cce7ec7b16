from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from core.config import Settings
from core.errors import Conflict
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Change, Confirm, Merge, Owner
from core.storage import db
from core.storage.db import Database
from core.types import Candidate, Evidence
from tests.core.memory.writing import an_add, carry_out, emitted, known, lives_in, rows, the_cause
from tests.factories import ADA, EMBEDDER, NOON, a_candidate
from tests.samples import TENANT, accept, event


def said(*evidence: Evidence) -> Candidate:
    return a_candidate("I do.", evidence=evidence)


def test_what_matters_is_announced_twice(app: Database) -> None:
    add = an_add(a_candidate("Ada is allergic to nuts.", importance=0.8))
    carry_out(app, [add, an_add(a_candidate("Ada has a cat.", 1, importance=0.79))])
    assert [kind for kind, _ in emitted(app)] == ["memory.created", "memory.write.important", "memory.created"]


def test_the_events_stand_in_the_chain_of_their_cause(app: Database) -> None:
    carry_out(app, [an_add(a_candidate("Ada has a cat."))])
    with app.tenant(TENANT) as tx:
        (created,) = log.followers(tx, log.get(tx, "cause"))
    assert (created.hop, created.user_id, created.payload["content"]) == (1, "ada", "Ada has a cat.")


def test_a_confirmation_adds_evidence_and_confidence_and_no_memory(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat."))
    carry_out(app, [add])
    with app.tenant(TENANT) as tx:
        cat = known(tx, add.id)
    again = [Evidence("s2", "m1", "e2", "I have a cat"), Evidence("s2", "m2", "e3", "my cat")]
    assert carry_out(app, [Confirm(cat, said(*again[:1]), "again"), Confirm(cat, said(*again[1:]), "again")]) == {
        "confirmed": 2
    }
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, add.id)
        assert [v.change for v in memories.history(tx, add.id)] == ["add", "confirm"]
        assert len(memories.evidence(tx, [add.id])[add.id]) == 3
    assert (row.version, row.trust) == (2, "confirmed")
    assert row.confidence == pytest.approx(0.85)
    assert [kind for kind, _ in emitted(app)] == ["memory.created", "memory.updated"]


def test_nothing_to_change_changes_nothing(app: Database) -> None:
    accept(app, event())
    before = rows(app)
    assert carry_out(app, []) == {}
    assert rows(app) == {**before, "events": before["events"] + 1}


def test_a_statement_that_came_in_meanwhile_is_a_conflict(app: Database) -> None:
    carry_out(app, [an_add(a_candidate("Ada has a cat."))])
    before = rows(app)
    with pytest.raises(Conflict):
        carry_out(app, [an_add(a_candidate("Ada has a dog.", 2)), an_add(a_candidate("ada has a CAT", 3))])
    assert rows(app) == before


def test_a_slot_that_was_filled_meanwhile_is_a_conflict(app: Database) -> None:
    carry_out(app, [an_add(lives_in("Lisbon", 0))])
    with pytest.raises(Conflict):
        carry_out(app, [an_add(lives_in("Porto", 1))])


def test_the_same_slot_of_another_user_is_none_of_its_business(app: Database) -> None:
    carry_out(app, [an_add(lives_in("Lisbon", 0))])
    carry_out(app, [an_add(lives_in("Lisbon", 0))], Owner("bob"))
    assert rows(app)["memories"] == 2


@pytest.mark.parametrize("kind", ["supersede", "confirm"])
def test_what_was_judged_on_an_old_version_is_a_conflict_and_leaves_nothing(app: Database, kind: str) -> None:
    lisbon = an_add(lives_in("Lisbon", 0))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        seen = known(tx, lisbon.id)
    carry_out(app, [Confirm(seen, said(Evidence("s9", "m9", "e9", "yes")), "meanwhile")])
    before = rows(app)
    stale: Change = (
        an_add(lives_in("Porto", 3), supersedes=seen) if kind == "supersede" else Confirm(seen, said(), "stale")
    )
    with pytest.raises(Conflict):
        carry_out(app, [an_add(a_candidate("Ada has a cat.", 7)), stale])
    assert rows(app) == before


def test_a_crash_behind_the_changes_leaves_nothing(app: Database) -> None:
    author = Author("tester", Cause(the_cause(app)))
    before = rows(app)
    with pytest.raises(RuntimeError, match="crash"), app.tenant(TENANT) as tx:  # noqa: PT012 - the crash comes last
        writer.apply(tx, TENANT, ADA, [an_add(a_candidate("Ada has a cat.", importance=1.0))], author)
        raise RuntimeError("crash")
    assert rows(app) == before


def test_many_writers_of_one_slot_leave_one_value_active(settings: Settings) -> None:
    app = db.connect(db.app_url(settings), 6)
    cause = the_cause(app)

    def write(turn: int) -> str:
        author = Author("tester", Cause(cause))
        with app.tenant(TENANT) as tx:
            try:
                writer.apply(tx, TENANT, ADA, [an_add(lives_in(f"City{turn}", turn))], author)
            except Conflict:
                tx.rollback()
                return "conflict"
        return "kept"

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(write, range(12)))
    assert outcomes.count("kept") == 1
    with app.tenant(TENANT) as tx:
        assert memories.count(tx, "ada") == 1
    app.close()


def test_a_merge_by_which_a_memory_comes_to_matter_is_announced_once(app: Database) -> None:
    add = an_add(a_candidate("Ada is allergic.", importance=0.5))
    carry_out(app, [add])
    for day in (1, 2):
        more = a_candidate("Ada is allergic to nuts.", day, importance=0.9)
        with app.tenant(TENANT) as tx:
            met = known(tx, add.id)
        carry_out(app, [Merge(met, more, "says more", EMBEDDER.embed([more.content])[0])])
    assert [kind for kind, _ in emitted(app)].count("memory.write.important") == 1


def test_a_confirmation_keeps_the_higher_importance_and_announces_it_once(app: Database) -> None:
    add = an_add(a_candidate("Ada is allergic.", importance=0.5))
    carry_out(app, [add])
    for day, importance in enumerate((0.9, 0.3, 0.95), 1):
        with app.tenant(TENANT) as tx:
            met = known(tx, add.id)
        again = [a_candidate("Ada is allergic.", day, importance=one) for one in (0.1, importance)]
        carry_out(app, [Confirm(met, one, "again") for one in again])
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, add.id)
    assert (row.importance, row.said_at) == (0.95, NOON + timedelta(days=3))
    assert [kind for kind, _ in emitted(app)].count("memory.write.important") == 1


def test_a_confirmation_adds_the_tags_of_what_was_said_again_up_to_the_bound(app: Database) -> None:
    add = an_add(a_candidate("Ada is allergic.", tags=("health",)))
    carry_out(app, [add])
    for day, tags in enumerate((("diet", "health"), tuple(f"t{n}" for n in range(writer.MOST_TAGS))), 1):
        with app.tenant(TENANT) as tx:
            met = known(tx, add.id)
        carry_out(app, [Confirm(met, a_candidate("Ada is allergic.", day, tags=tags), "again")])
        with app.tenant(TENANT) as tx:
            row = memories.get(tx, add.id)
        if day == 1:
            assert row.tags == ["health", "diet"]
    assert row.tags[:2] == ["health", "diet"]
    assert len(row.tags) == len(set(row.tags)) == writer.MOST_TAGS

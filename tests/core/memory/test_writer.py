from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Conflict
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.memory import memories, writer
from core.memory.changes import Add, Change, Confirm, Link, Merge, Owner
from core.memory.identity import KnownMemory
from core.storage import db
from core.storage.db import Database, Tx
from core.types import Candidate, Category, Event, Evidence, Relation, Topic
from tests.samples import TENANT, accept, event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ADA = Owner("ada")
EMBEDDER = HashEmbedder()
WRITTEN = "memories memory_versions evidence relations search_index events".split()


def a_candidate(content: str, day: int = 0, **fields: Any) -> Candidate:
    quote = Evidence("s1", f"m{day}", "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOON + timedelta(days=day))
    return replace(plain, **fields)


def lives_in(city: str, day: int, **fields: Any) -> Candidate:
    return a_candidate(f"Ada lives in {city}.", day, attribute="home.city", value=city, **fields)


def said(*evidence: Evidence) -> Candidate:
    return a_candidate("I do.", evidence=evidence)


def an_add(candidate: Candidate, **fields: Any) -> Add:
    return Add(candidate, "because", EMBEDDER.embed([candidate.content])[0], **fields)


def known(tx: Tx, memory_id: UUID) -> KnownMemory:
    row = memories.get(tx, memory_id)
    return KnownMemory(row.id, row.version, row.content, row.subject, row.attribute, row.value, row.occurred_at)


def the_cause(app: Database) -> Event:
    accept(app, event(id="cause"))
    with app.tenant(TENANT) as tx:
        return log.get(tx, "cause")


def carry_out(app: Database, wanted: list[Change], owner: Owner = ADA) -> dict[str, int]:
    author = Author("tester", Cause(the_cause(app)), "a_rule", 3)
    with app.tenant(TENANT) as tx:
        return writer.apply(tx, TENANT, owner, wanted, author)


def emitted(app: Database) -> list[tuple[str, str | None]]:
    with app.tenant(TENANT) as tx:
        return [(e.event_type, e.subject) for e in log.since(tx, 0, 100) if e.source == log.SOURCE]


def rows(app: Database) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        return {name: tx.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in WRITTEN}


def test_an_addition_leaves_memory_version_evidence_index_and_event(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat.", tags=("pets", "home"), structured={"pet": ["cat"]}))
    assert carry_out(app, [add]) == {"added": 1}
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, add.id)
        (version,) = memories.history(tx, add.id)
        cited = memories.evidence(tx, [add.id])[add.id]
        indexed = tx.execute(text("SELECT * FROM search_index WHERE ref = :id"), {"id": str(add.id)}).one()
    assert (row.status, row.trust, row.version, row.user_id) == ("active", "candidate", 1, "ada")
    assert (row.tags, row.structured) == (["pets", "home"], {"pet": ["cat"]})
    assert (version.change, version.reason, version.version) == ("add", "because", 1)
    assert version.author == {"name": "tester", "rule": "a_rule", "rule_version": 3}
    assert version.snapshot["content"] == "Ada has a cat."
    assert cited == list(add.candidate.evidence)
    assert indexed.embedding is not None
    assert emitted(app) == [("memory.created", f"memory:{add.id}")]


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


def test_the_same_quote_twice_is_one_piece_of_evidence(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat."))
    carry_out(app, [add])
    with app.tenant(TENANT) as tx:
        cat = known(tx, add.id)
    carry_out(app, [Confirm(cat, add.candidate, "again")])
    with app.tenant(TENANT) as tx:
        assert len(memories.evidence(tx, [add.id])[add.id]) == 1


def superseded(app: Database) -> tuple[Add, Add]:
    lisbon = an_add(lives_in("Lisbon", 0))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    porto = an_add(lives_in("Porto", 3), supersedes=before)
    assert carry_out(app, [porto]) == {"added": 1, "superseded": 1}
    return lisbon, porto


def test_what_is_superseded_stays_as_what_was_true_until_then(app: Database) -> None:
    lisbon, porto = superseded(app)
    with app.tenant(TENANT) as tx:
        old, new = memories.get(tx, lisbon.id), memories.get(tx, porto.id)
        assert [v.change for v in memories.history(tx, lisbon.id)] == ["add", "supersede"]
        link = tx.execute(text("SELECT from_id, relation, to_id FROM relations")).one()
    assert (old.status, old.valid_from, old.valid_to) == ("superseded", NOON, NOON + timedelta(days=3))
    assert (new.status, new.valid_from, new.valid_to) == ("active", NOON + timedelta(days=3), None)
    assert tuple(link) == (porto.id, Relation.SUPERSEDES, lisbon.id)
    assert ("memory.superseded", f"memory:{lisbon.id}") in emitted(app)


def test_a_memory_never_ends_before_it_began(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    carry_out(app, [an_add(lives_in("Porto", 6, valid_from=NOON), supersedes=before)])
    with app.tenant(TENANT) as tx:
        old = memories.get(tx, lisbon.id)
    assert (old.valid_from, old.valid_to) == (None, NOON), "nobody has said since when it was so"


def test_a_memory_whose_beginning_was_said_never_ends_before_it(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5, valid_from=NOON + timedelta(days=4)))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    carry_out(app, [an_add(lives_in("Porto", 6, valid_from=NOON), supersedes=before)])
    with app.tenant(TENANT) as tx:
        old = memories.get(tx, lisbon.id)
    assert old.valid_to == old.valid_from == NOON + timedelta(days=4)


def test_what_was_true_once_is_kept_as_history(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5))
    carry_out(app, [lisbon])
    past = an_add(lives_in("Porto", 1), past=NOON + timedelta(days=5))
    carry_out(app, [past])
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, past.id)
        assert memories.count(tx, "ada") == 1
    assert (row.status, row.valid_to) == ("superseded", NOON + timedelta(days=5))


def test_a_link_is_kept_once(app: Database) -> None:
    one, other = an_add(a_candidate("Ada has a cat.")), an_add(a_candidate("Ada has a black cat.", 1))
    link = Link(other.id, Relation.REFINES, one.id)
    carry_out(app, [one, other, link, link])
    assert rows(app)["relations"] == 1


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


def test_history_is_complete_and_in_order(app: Database) -> None:
    lisbon, _ = superseded(app)
    with app.tenant(TENANT) as tx:
        history = memories.history(tx, lisbon.id)
    assert [v.version for v in history] == [1, 2]
    assert [v.snapshot["status"] for v in history] == ["active", "superseded"]


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

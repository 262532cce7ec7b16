from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import event as hooks
from sqlalchemy import text

from core.config import Settings
from core.errors import NotFound
from core.memory import writer
from core.memory.changes import Add, Archive, Edit, Link, Owner
from core.search import related
from core.search.related import REACH, ActivatedMemory
from core.search.spreading import FAN
from core.storage.db import Database
from core.types import Evidence, Relation, Trust
from tests.core.changing import PERSON, Bench, an_add
from tests.core.search.searching import apart
from tests.databases import analyzed, looked_at, nodes_of
from tests.factories import NOON, a_candidate
from tests.samples import TENANT


@pytest.fixture
def ada(app: Database) -> Bench:
    return Bench(app)


def reached(app: Database, memory_id: UUID, **how: int | bool) -> list[ActivatedMemory]:
    with app.tenant(TENANT) as tx:
        return related.related_to(tx, memory_id, **how)  # type: ignore[arg-type]


def names(found: list[ActivatedMemory]) -> list[UUID]:
    return [one.id for one in found]


def test_relations_lead_in_both_directions_and_say_so(ada: Bench, app: Database) -> None:
    one, other = apart("Ada has a cat.", 1), apart("Ada has a black cat.", 2)
    ada.apply(one, other)
    ada.apply(Link(other.id, Relation.REFINES, one.id))
    (back,), (forth,) = reached(app, one.id), reached(app, other.id)
    assert (back.id, back.score, back.path[0].by, back.path[0].outward) == (other.id, 0.8, "refines", False)
    assert (forth.id, forth.path[0].outward) == (one.id, True)


def test_shared_evidence_slot_and_subject_relate_and_each_way_adds_up(ada: Bench, app: Database) -> None:
    said = (Evidence("s1", "m1", "e1", "I moved from Lisbon to Porto, with my cat."),)
    porto = apart("Ada lives in Porto.", 2, attribute="home.city", value="Porto", evidence=said)
    cat = apart("Ada has a cat.", 3, evidence=said)
    job = apart("Ada is a nurse.", 4, attribute="work.job", value="nurse")
    ada.apply(porto, cat, job)
    rome = Add(
        a_candidate("Ada lives in Rome.", 9, attribute="home.city", value="Rome"),
        "later",
        supersedes=ada.known(porto.id),
    )
    ada.apply(rome)
    found = {one.id: one for one in reached(app, porto.id)}
    assert {one.id: one.path[0].by for one in found.values()} == {
        rome.id: "supersedes",
        cat.id: "evidence",
        job.id: "subject",
    }
    assert found[rome.id].score == pytest.approx(1 - 0.4 * 0.45)
    assert names(reached(app, porto.id)) == [rome.id, cat.id, job.id]


def test_the_second_step_goes_further_and_tells_the_way(ada: Bench, app: Database) -> None:
    chain = [apart(f"Ada has {n} cats.", n) for n in range(4)]
    ada.apply(*chain)
    ada.apply(*(Link(chain[n].id, Relation.FOLLOWS, chain[n + 1].id) for n in range(3)))
    assert names(reached(app, chain[0].id)) == [chain[1].id]
    near, far = reached(app, chain[0].id, depth=2)
    assert (near.id, far.id) == (chain[1].id, chain[2].id)
    assert [(UUID(hop.source), UUID(hop.target)) for hop in far.path] == [*pairwise([one.id for one in chain[:3]])]
    assert near.score > far.score == pytest.approx(0.25)


@pytest.mark.parametrize("trust", [Trust.REJECTED, Trust.QUARANTINED])
def test_what_is_not_believed_is_neither_shown_nor_passed_through(ada: Bench, app: Database, trust: Trust) -> None:
    chain = [apart(f"Ada has {n} cats.", n) for n in range(3)]
    ada.apply(*chain)
    ada.apply(*(Link(chain[n].id, Relation.FOLLOWS, chain[n + 1].id) for n in range(2)))
    ada.apply(Edit(chain[1].id, 1, {"trust": trust.value}, "x"))
    assert reached(app, chain[0].id, depth=2) == []


def test_what_is_archived_is_shown_when_asked_for_and_what_has_expired_is_not(ada: Bench, app: Database) -> None:
    one, old, over = apart("Ada has a cat.", 1), apart("Ada had a dog.", 2), apart("Ada waits.", 3, expires_at=NOON)
    ada.apply(one, old, over)
    ada.apply(Link(one.id, Relation.ABOUT, old.id), Link(one.id, Relation.ABOUT, over.id))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = now() - interval '1 day' WHERE expires_at IS NOT NULL"))
    ada.apply(Archive(old.id, 1, "old"))
    assert reached(app, one.id) == []
    assert names(reached(app, one.id, archived=True)) == [old.id]


def test_nothing_of_another_user_is_related_whatever_they_share(ada: Bench, app: Database) -> None:
    bob = Bench(app, user="bob")
    mine, theirs = an_add("Ada has a cat.", attribute="pet", value="cat"), an_add("Ada has a cat.", attribute="pet")
    ada.apply(mine)
    bob.apply(theirs)
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, Owner("ada"), [Link(mine.id, Relation.ABOUT, theirs.id)], PERSON)
    assert reached(app, mine.id, depth=2) == []


def test_a_memory_that_is_not_there(app: Database) -> None:
    with pytest.raises(NotFound):
        reached(app, uuid4())


def test_a_hub_of_ten_thousand_links_stays_bounded(ada: Bench, app: Database, settings: Settings) -> None:
    hub, mark, near = apart("Ada has a cat.", 1), apart("Ada has a black cat.", 2), apart("Ada has a dog.", 3)
    ada.apply(hub, mark, near)
    ada.apply(Link(hub.id, Relation.REFINES, mark.id), Link(near.id, Relation.FOLLOWS, hub.id))
    with app.tenant(TENANT) as tx:
        tx.execute(_MANY, {"hub": hub.id, "tenant": TENANT})
    analyzed(settings, "memories", "relations", "evidence")
    asked: list[tuple[str, Any]] = []
    hooks.listen(app.engine, "before_cursor_execute", lambda _c, _u, sql, values, *_: asked.append((sql, values)))
    found = reached(app, hub.id, depth=2, limit=500)
    assert found[0].id == mark.id
    assert len(found) <= FAN + FAN * FAN
    looked: list[float] = []
    with app.tenant(TENANT) as tx:
        for sql, values in [one for one in asked if "AS visible" in one[0]]:
            (answer,) = tx.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values).scalar_one()
            looked.append(max(looked_at(nodes_of(answer["Plan"]), "memories")))
    assert looked[0] <= 2 * REACH, "not all ten thousand are looked at"
    assert looked[1] <= 2 * REACH, "and not of each of fifty as many"
    from_near = reached(app, near.id, depth=2, limit=500)
    assert len(from_near) <= FAN + FAN * FAN
    assert from_near[0].id == hub.id


_MANY = text("""
    WITH made AS (
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, attribute)
        SELECT :tenant, uuidv7(), 'ada', 'ada', 'semantic', 'fact', 'other', 'Number ' || n, 'k' || n, 'candidate',
               'active', now(), 'number.' || n
        FROM generate_series(1, 10000) AS n RETURNING id
    )
    INSERT INTO relations (tenant_id, from_id, relation, to_id) SELECT :tenant, id, 'about', :hub FROM made
""")

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import event as hooks
from sqlalchemy import text

from core.config import Settings
from core.memory import memories, writer
from core.memory.as_of import Moment
from core.memory.changes import Archive, Confirm, Edit, Link, Owner
from core.search.association import REACH, SOURCES, AssociatedMemory, spread
from core.search.filters import Filters
from core.search.spreading import FAN, WEIGHTS, Visibility
from core.storage.db import Database
from core.types import Category, Evidence, Json, Kind, Relation, Trust
from tests.core.changing import PERSON, Bench, an_add
from tests.core.search.searching import apart
from tests.databases import analyzed
from tests.factories import NOON, a_candidate
from tests.samples import TENANT

READER = Visibility("ada")


@pytest.fixture
def ada(app: Database) -> Bench:
    return Bench(app)


def reached(
    app: Database,
    seeds: Mapping[UUID, float],
    messages: Mapping[str, float] | None = None,
    limit: int = 20,
    reader: Visibility = READER,
    **filters: Any,
) -> list[AssociatedMemory]:
    with app.tenant(TENANT) as tx:
        return spread(tx, seeds, messages or {}, replace(reader, filters=Filters(**filters)), limit)


def described(app: Database, seeds: Mapping[UUID, float]) -> list[tuple[UUID, float]]:
    return [(one.id, round(one.activation, 9)) for one in reached(app, seeds)]


def ids(found: list[AssociatedMemory]) -> list[UUID]:
    return [one.id for one in found]


@pytest.mark.parametrize("relation", list(Relation))
def test_every_relation_leads_both_ways(ada: Bench, app: Database, relation: Relation) -> None:
    one, other = apart("Ada has a cat.", 1), apart("Ada has a black cat.", 2)
    ada.apply(one, other)
    ada.apply(Link(other.id, relation, one.id))
    (back,), (forth,) = reached(app, {one.id: 2.0}), reached(app, {other.id: 2.0})
    assert back.activation == pytest.approx(2.0 * WEIGHTS[relation])
    assert back.id == other.id
    assert (forth.id, forth.activation) == (one.id, back.activation)


def test_who_cites_the_same_message_is_reached_from_a_memory_and_from_the_message(ada: Bench, app: Database) -> None:
    said = (Evidence("s1", "m1", "e1", "I moved to Porto with my cat."),)
    porto, cat = apart("Ada lives in Porto.", 1, evidence=said), apart("Ada has a cat.", 2, evidence=said)
    ada.apply(porto, cat, apart("Ada is a nurse.", 3))
    assert described(app, {porto.id: 1.0}) == [(cat.id, WEIGHTS["evidence"])]
    told = reached(app, {}, {"s1\x1fm1": 3.0, "s2\x1fm1": 9.0, "s1\x1fm2": 9.0})
    assert {one.id for one in told} == {porto.id, cat.id}
    assert [one.activation for one in told] == [pytest.approx(3 * WEIGHTS["evidence"] / (1 + math.log(2)))] * 2
    both, cited = reached(app, {porto.id: 1.0}, {"s1\x1fm1": 1.0})
    assert (both.id, cited.id) == (cat.id, porto.id), "a source is reached from others"


def test_memories_of_one_slot_reach_each_other(ada: Bench, app: Database) -> None:
    tea, coffee = (apart(f"Ada drinks {it}.", n, attribute="drink", value=it) for n, it in enumerate(("tea", "coffee")))
    ada.apply(tea, coffee, apart("Ada has a cat.", 5, attribute="pet", value="cat"))
    assert described(app, {tea.id: 1.0}) == [(coffee.id, WEIGHTS["slot"])]
    both = described(app, {tea.id: 1.0, coffee.id: 0.5})
    assert both == [(coffee.id, WEIGHTS["slot"]), (tea.id, 0.275)]


def test_several_ways_add_up(ada: Bench, app: Database) -> None:
    weak, strong, mark, lone = (apart(f"Ada has {n} cats.", n) for n in range(4))
    ada.apply(weak, strong, mark, lone)
    ada.apply(Link(mark.id, Relation.FOLLOWS, weak.id), Link(mark.id, Relation.REFINES, strong.id))
    ada.apply(Link(lone.id, Relation.REFINES, strong.id))
    both, one = reached(app, {weak.id: 1.0, strong.id: 2.0})
    share = 2.0 * WEIGHTS["refines"] / (1 + math.log(2))
    assert (both.id, one.id) == (mark.id, lone.id)
    assert both.activation == pytest.approx(2 * (1 - (1 - share / 2) * (1 - WEIGHTS["follows"] / 2)))
    assert one.activation == pytest.approx(share)


def test_the_more_links_a_source_has_the_less_each_is_given_and_equals_keep_one_order(
    ada: Bench, app: Database
) -> None:
    hub, *around = (apart(f"Ada has {n} cats.", n) for n in range(9))
    ada.apply(hub, *around)
    ada.apply(*(Link(one.id, Relation.ABOUT, hub.id) for one in around))
    found = reached(app, {hub.id: 1.0})
    assert [one.activation for one in found] == [pytest.approx(WEIGHTS["about"] / (1 + math.log(8)))] * 8
    assert ids(found) == sorted(one.id for one in around)
    assert ids(reached(app, {hub.id: 1.0}, limit=3)) == ids(found)[:3]


def test_a_step_is_one_step(ada: Bench, app: Database) -> None:
    chain = [apart(f"Ada has {n} cats.", n) for n in range(3)]
    ada.apply(*chain)
    ada.apply(*(Link(chain[n].id, Relation.FOLLOWS, chain[n + 1].id) for n in range(2)))
    assert ids(reached(app, {chain[0].id: 1.0})) == [chain[1].id]


def test_nothing_leads_nowhere(ada: Bench, app: Database) -> None:
    one = apart("Ada has a cat.", 1)
    ada.apply(one)
    assert reached(app, {}) == []
    assert reached(app, {one.id: 0.0}, {"s1\x1fown-1": -1.0}) == []
    assert reached(app, {one.id: 1.0}, limit=0) == []
    assert reached(app, {uuid4(): 1.0}, {"'; --\x1f\x1f": 1.0}) == []


@pytest.mark.parametrize("trust", [Trust.REJECTED, Trust.QUARANTINED])
def test_what_is_not_believed_is_neither_found_nor_counted_as_a_link(ada: Bench, app: Database, trust: Trust) -> None:
    hub, good, bad = (apart(f"Ada has {n} cats.", n) for n in range(3))
    ada.apply(hub, good, bad)
    ada.apply(*(Link(one.id, Relation.ABOUT, hub.id) for one in (good, bad)))
    ada.apply(Edit(bad.id, 1, {"trust": trust.value}, "x"))
    assert described(app, {hub.id: 1.0}) == [(good.id, WEIGHTS["about"])]
    asked = reached(app, {hub.id: 1.0}, trust=["candidate", "quarantined"])
    assert (bad.id in ids(asked)) == (trust == Trust.QUARANTINED)


def test_what_is_archived_or_has_expired_comes_only_where_it_is_asked_for(ada: Bench, app: Database) -> None:
    hub, old, over = apart("Ada has a cat.", 1), apart("Ada had a dog.", 2), apart("Ada waits.", 3, expires_at=NOON)
    ada.apply(hub, old, over)
    ada.apply(Link(hub.id, Relation.ABOUT, old.id), Link(hub.id, Relation.ABOUT, over.id))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = now() - interval '1 day' WHERE expires_at IS NOT NULL"))
    ada.apply(Archive(old.id, 1, "old"))
    assert reached(app, {hub.id: 1.0}) == []
    asked = reached(app, {hub.id: 1.0}, include_archived=True)
    assert set(ids(asked)) == {old.id, over.id}


@pytest.mark.parametrize(
    ("filters", "let_through"),
    [
        ({"kinds": ["episodic"]}, {"rome"}),
        ({"categories": ["preference", "episode"]}, {"tea", "told"}),
        ({"topics": ["finance"]}, set()),
        ({"tags": ["trip", "x"]}, {"rome"}),
        ({"min_importance": 0.8}, {"tea"}),
        ({"since": NOON + timedelta(days=2)}, {"rome"}),
        ({"until": NOON + timedelta(days=1)}, {"tea"}),
        ({"session_id": "s1"}, {"tea", "rome"}),
        ({"session_id": "s2"}, set()),
        ({"moment": Moment(as_of=NOON + timedelta(days=1, hours=1))}, {"tea"}),
    ],
)
def test_a_filter_of_the_question_holds_for_what_is_tied_to_its_results(
    ada: Bench, app: Database, filters: Mapping[str, Any], let_through: set[str]
) -> None:
    hub = apart("Ada has a cat.", 9)
    around = {
        "tea": apart("Ada likes tea.", 1, category=Category.PREFERENCE, importance=0.9),
        "rome": apart("Ada went to Rome.", 2, kind=Kind.EPISODIC, tags=("trip",)),
        "told": apart("Ada told a story.", 3, category=Category.EPISODE),
    }
    ada.apply(hub, *around.values())
    ada.apply(*(Link(one.id, Relation.ABOUT, hub.id) for one in around.values()))
    found = set(ids(reached(app, {hub.id: 1.0}, **filters)))
    assert {name for name, one in around.items() if one.id in found} == let_through


def test_nothing_of_another_user_is_reached_whatever_ties_it(ada: Bench, app: Database) -> None:
    bob = Bench(app, user="bob")
    mine, theirs = an_add("Ada has a cat.", attribute="pet"), an_add("Ada has a cat.", attribute="pet")
    ada.apply(mine)
    bob.apply(theirs)
    ada.apply(Link(mine.id, Relation.ABOUT, theirs.id))
    assert reached(app, {mine.id: 1.0, theirs.id: 1.0}) == []
    assert ids(reached(app, {theirs.id: 1.0}, {"s1\x1fm0": 1.0})) == [mine.id]
    assert reached(app, {mine.id: 1.0}, reader=Visibility("bob")) == []


def test_a_group_reaches_what_was_said_in_it(app: Database) -> None:
    hub, inside, outside = (apart(f"Ada has {n} cats.", n) for n in range(3))
    for owner, adds in ((Owner("ada", "g"), [hub, inside]), (Owner("ada"), [outside])):
        with app.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, owner, adds, PERSON)
    Bench(app).apply(*(Link(one.id, Relation.ABOUT, hub.id) for one in (inside, outside)))
    assert ids(reached(app, {hub.id: 1.0}, reader=Visibility(None, "g"))) == [inside.id]


def test_another_tenant_reaches_nothing(ada: Bench, app: Database) -> None:
    one, other = an_add("Ada has a cat."), an_add("Ada has a black cat.")
    ada.apply(one, other)
    with app.tenant("globex") as tx:
        assert spread(tx, {one.id: 1.0}, {"s1\x1fm0": 1.0}, READER, 20) == []


def recorded(app: Database, memory_id: UUID) -> datetime:
    with app.tenant(TENANT) as tx:
        at: datetime = memories.history(tx, memory_id)[-1].at
    return at


@pytest.mark.parametrize("outward", [True, False])
def test_as_recorded_at_a_time_only_what_was_there_and_tied_by_then_is_reached(
    ada: Bench, app: Database, outward: bool
) -> None:
    hub, near, late = (apart(f"Ada has {n} cats.", n) for n in range(3))
    ada.apply(hub, near)
    bare = recorded(app, near.id)
    ada.apply(Link(hub.id, Relation.REFINES, near.id) if outward else Link(near.id, Relation.REFINES, hub.id))
    with app.tenant(TENANT) as tx:
        tied = tx.execute(text("SELECT max(at) FROM relations")).scalar_one()
    ada.apply(late)
    ada.apply(Link(late.id, Relation.REFINES, hub.id))
    ada.apply(Archive(near.id, 1, "old"))
    assert reached(app, {hub.id: 1.0}, moment=Moment(known_at=bare)) == []
    assert ids(reached(app, {hub.id: 1.0}, moment=Moment(known_at=tied))) == [near.id]
    assert ids(reached(app, {hub.id: 1.0})) == [late.id]


def test_evidence_counts_from_when_it_was_recorded(ada: Bench, app: Database) -> None:
    said = (Evidence("s1", "m1", "e1", "x"),)
    one, other = apart("Ada has a cat.", 1, evidence=said), apart("Ada has a dog.", 2)
    ada.apply(one, other)
    with app.tenant(TENANT) as tx:
        before = tx.execute(text("SELECT max(at) FROM evidence")).scalar_one()
    ada.apply(Confirm(ada.known(other.id), a_candidate("Ada has a dog.", evidence=said), "again"))
    assert ids(reached(app, {one.id: 1.0})) == [other.id]
    assert reached(app, {one.id: 1.0}, moment=Moment(known_at=before)) == []
    assert ids(reached(app, {}, {"s1\x1fm1": 1.0}, moment=Moment(known_at=before))) == [one.id]


def test_what_was_set_apart_since_is_not_reached_in_the_past_either(ada: Bench, app: Database) -> None:
    hub, bad = apart("Ada has a cat.", 1), apart("Ada says: obey.", 2)
    ada.apply(hub, bad)
    ada.apply(Link(bad.id, Relation.REFINES, hub.id))
    with app.tenant(TENANT) as tx:
        then = tx.execute(text("SELECT max(at) FROM relations")).scalar_one()
    assert ids(reached(app, {hub.id: 1.0}, moment=Moment(known_at=then))) == [bad.id]
    ada.apply(Edit(bad.id, 1, {"trust": "quarantined"}, "x"))
    assert reached(app, {hub.id: 1.0}, moment=Moment(known_at=then)) == []


def test_a_hub_of_ten_thousand_links_hands_on_a_bounded_number(ada: Bench, app: Database, settings: Settings) -> None:
    hub, first = apart("Ada has a cat.", 1), apart("Ada has a dog.", 2)
    ada.apply(hub, first)
    ada.apply(Link(hub.id, Relation.REFINES, first.id))
    with app.tenant(TENANT) as tx:
        tx.execute(_MANY, {"hub": hub.id, "tenant": TENANT})
    analyzed(settings, "memories", "relations", "evidence")
    asked: list[tuple[str, Any]] = []

    def note(_c: Any, _u: Any, statement: str, values: Any, *_: Any) -> None:
        asked.append((statement, values))

    hooks.listen(app.engine, "before_cursor_execute", note)
    found = reached(app, {hub.id: 1.0}, {"s1\x1fown-1": 1.0}, limit=20_000)
    hooks.remove(app.engine, "before_cursor_execute", note)
    assert found[0].id == first.id
    assert FAN < len(found) <= 2 * FAN + 1
    (statement, values) = asked[-1]
    with app.tenant(TENANT) as tx:
        plan = tx.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
    assert max(_rows(plan[0]["Plan"])) <= 4 * REACH, "not all ten thousand are looked at"


def _rows(node: Json) -> Iterator[float]:
    yield node["Actual Rows"] * node["Actual Loops"]
    for part in node.get("Plans", ()):
        yield from _rows(part)


def test_what_comes_a_thousand_ways_stays_under_the_best_score(ada: Bench, app: Database) -> None:
    said = tuple(Evidence("s1", f"m{n}", "e1", "x") for n in range(SOURCES))
    ada.apply(apart("Ada talks of cats.", 1, evidence=said))
    (much,) = reached(app, {}, {f"s1\x1fm{n}": 3.0 for n in range(SOURCES)})
    assert 2.9 < much.activation <= 3.0


def test_only_the_best_of_many_sources_hand_on(ada: Bench, app: Database) -> None:
    seeds = [apart(f"Ada has {n} cats.", n) for n in range(SOURCES + 1)]
    marks = [apart(f"Ada has {n} dogs.", n + 100) for n in (0, SOURCES)]
    ada.apply(*seeds, *marks)
    ada.apply(Link(marks[0].id, Relation.ABOUT, seeds[0].id), Link(marks[1].id, Relation.ABOUT, seeds[-1].id))
    found = reached(app, {one.id: 100.0 - n for n, one in enumerate(seeds)})
    assert ids(found) == [marks[0].id]


_MANY = text("""
    WITH made AS (
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at)
        SELECT :tenant, uuidv7(), 'ada', 'ada', 'semantic', 'fact', 'other', 'Cat ' || n, 'k' || n, 'candidate',
               'active', now()
        FROM generate_series(1, 10000) AS n RETURNING id
    ), tied AS (
        INSERT INTO relations (tenant_id, from_id, relation, to_id) SELECT :tenant, id, 'follows', :hub FROM made
    )
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT :tenant, id, 's1', 'own-1', 'e1', 'x' FROM made
""")

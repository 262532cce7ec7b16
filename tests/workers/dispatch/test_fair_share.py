"""What is sent of what waits; what that promises other tenants is in `tests/security/test_fairness.py`."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.storage.db import Database
from tests.samples import TENANT, accept, event
from workers.dispatch import fair_share, insertion, ledger
from workers.dispatch.fair_share import FairShare, Key
from workers.dispatch.model import Ledger, LedgerPolicy, NewDispatch

SHARES = FairShare(resend=10, longest=50, running=3)


def test_a_tenant_has_work_for_a_minute_after_its_last_event() -> None:
    now = 0.0
    at_work = fair_share.ActiveTenants(lambda: now)
    at_work.hear({"loud"})
    now = 40.0
    at_work.hear({"quiet", "loud"})
    now = 99.0
    at_work.hear({"loud"})
    assert at_work.count() == 2
    now = 101.0
    assert at_work.count() == 1


def waiting(app: Database, tenant: str, number: int, queue: str = "cpu", target: str = "agent") -> list[UUID]:
    """Dispatches of a tenant that are ready and not sent, the oldest first."""
    accepted = accept(app, event(), tenant=tenant)
    plain = NewDispatch(tenant, "run_agent", target, queue, {}, accepted.last_seq, accepted.last_seq, "c", 0)
    made = [replace(plain, id=uuid7()) for _ in range(number)]
    with app.tenant(tenant) as tx:
        insertion.insert_rows(tx, made)
    return [one.id for one in made]


def offered(database: Database, *keys: Key, **more: Any) -> list[UUID]:
    with database.queue() as tx:
        return [one.id for one in fair_share.offer(tx, SHARES, keys, **more)]


def test_no_more_are_sent_than_may_be_under_way_and_the_oldest_go_first(app: Database, queue: Database) -> None:
    ids = waiting(app, TENANT, 5)
    assert offered(queue, (TENANT, "cpu"), (TENANT, "cpu")) == ids[:3]
    assert offered(queue, (TENANT, "cpu")) == []
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'done', turn = NULL WHERE id = :id"), {"id": ids[1]})
    assert offered(queue, (TENANT, "cpu")) == ids[3:4]


def test_what_makes_messages_findable_goes_before_what_has_waited_longer(app: Database, queue: Database) -> None:
    extraction = waiting(app, TENANT, 3, target="memory_extractor")
    indexing = waiting(app, TENANT, 1, target="knowledge_indexer")
    vectors = waiting(app, TENANT, 1, target="embedding_refresher")
    with queue.queue() as tx:
        first = fair_share.offer(tx, replace(SHARES, running=2), [(TENANT, "cpu")])
    assert {one.id for one in first} == {*indexing, *vectors}
    assert offered(queue, (TENANT, "cpu")) == extraction[:1], "then the oldest"


def test_each_queue_of_a_tenant_has_room_of_its_own(app: Database, queue: Database) -> None:
    waiting(app, TENANT, 5)
    (other,) = waiting(app, TENANT, 1, "io")
    offered(queue, (TENANT, "cpu"))
    with queue.queue() as tx:
        found = fair_share.ready(tx)
        assert [one[:2] for one in found] == [(TENANT, "cpu"), (TENANT, "io")]
        assert fair_share.with_room(tx, SHARES, found) == [(TENANT, "io", other)]
    assert offered(queue, (TENANT, "io")) == [other]
    with queue.queue() as tx:
        assert [one[:2] for one in fair_share.ready(tx)] == [(TENANT, "cpu")]


def test_each_time_it_is_sent_one_that_nobody_begins_waits_twice_as_long(app: Database, queue: Database) -> None:
    (one,) = waiting(app, TENANT, 1)
    waits = []
    for sends in range(5):
        with app.tenant(TENANT) as tx:
            again = text("UPDATE dispatches SET turn = 'ready', sends = :sends WHERE id = :id")
            tx.execute(again, {"sends": sends, "id": one})
        assert offered(queue, (TENANT, "cpu")) == [one]
        left = text("SELECT extract(epoch FROM wake_at - clock_timestamp()) FROM dispatches WHERE id = :id")
        with app.tenant(TENANT) as tx:
            waits.append(round(float(tx.execute(left, {"id": one}).scalar_one())))
    assert waits == [10, 10, 20, 40, 50], "and never longer than the longest"


def test_without_keys_nothing_is_asked(queue: Database) -> None:
    assert offered(queue) == []


def test_what_was_offered_with_the_end_of_its_transaction_is_committed(app: Database, queue: Database) -> None:
    (one,) = waiting(app, TENANT, 1)
    with queue.queue() as tx:
        assert [ref.id for ref in fair_share.offer(tx, SHARES, [(TENANT, "cpu")], ends=True)] == [one]
        with app.tenant(TENANT) as other:
            assert other.execute(text("SELECT turn FROM dispatches")).scalar_one() == "sent"


RAISING = replace(SHARES, raises=1)


def raised(queue: Database) -> list[UUID]:
    with queue.queue() as tx:
        return [one.id for one in fair_share.offer(tx, RAISING, [(TENANT, "cpu")])]


def bounds(app: Database) -> dict[int, tuple[UUID, list[UUID]]]:
    """The bound of each priority, and the sent dispatches below it."""
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT priority, from_id, older FROM turn_bounds WHERE queue = 'cpu'"))
        return {row.priority: (row.from_id, row.older) for row in rows}


def ended(app: Database, *ids: UUID) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'done' WHERE id = ANY(:ids)"), {"ids": list(ids)})


def test_the_bound_is_raised_to_the_last_that_was_sent(app: Database, queue: Database) -> None:
    ids = waiting(app, TENANT, 5)
    assert raised(queue) == ids[:3]
    assert bounds(app) == {1: (ids[2], ids[:2])}, "those before it are counted by their ids"
    ended(app, ids[1])
    assert raised(queue) == [ids[3]]
    assert bounds(app) == {1: (ids[3], [ids[0], ids[2]])}


def test_it_is_raised_no_higher_than_the_first_that_waits(app: Database, queue: Database) -> None:
    late, early = waiting(app, TENANT, 1, target="knowledge_indexer"), waiting(app, TENANT, 4)
    raised(queue)
    ended(app, *late, *early[:2])
    (first,) = waiting(app, TENANT, 1)
    with queue.queue() as tx:
        fair_share.offer(tx, replace(RAISING, running=0), [(TENANT, "cpu", first)])
    assert bounds(app)[1] == (early[2], []), "none is under way"


def test_without_any_work_it_stays(app: Database, queue: Database) -> None:
    ids = waiting(app, TENANT, 3)
    raised(queue)
    ended(app, *ids)
    before = bounds(app)
    assert raised(queue) == []
    assert bounds(app) == before


def test_each_priority_has_a_bound_of_its_own(app: Database, queue: Database) -> None:
    (extraction,) = waiting(app, TENANT, 1, target="memory_extractor")
    indexing = waiting(app, TENANT, 4, target="knowledge_indexer")
    assert set(raised(queue)) == set(indexing[:3])
    assert bounds(app) == {0: (indexing[2], indexing[:2]), 1: (extraction, [])}


def test_an_older_dispatch_that_is_made_ready_lowers_the_bound(app: Database, queue: Database) -> None:
    old, *ids = waiting(app, TENANT, 4)
    hide = text("UPDATE dispatches SET turn = NULL WHERE id = :id")
    with app.tenant(TENANT) as tx:
        tx.execute(hide, {"id": old})
    raised(queue)
    ended(app, *ids)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET turn = 'ready' WHERE id = :id"), {"id": old})
    assert raised(queue) == [], "it is below the bound"
    with queue.queue() as tx:
        found = fair_share.ready(tx)
        assert fair_share.with_room(tx, replace(SHARES, running=0), found) == [(TENANT, "cpu", old)], "a sweep finds it"
        assert [one.id for one in fair_share.offer(tx, SHARES, found)] == [old]
    assert bounds(app)[1][0] == old


def test_one_that_runs_out_of_turn_is_counted(app: Database, queue: Database) -> None:
    old, *ids = waiting(app, TENANT, 6)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET turn = NULL WHERE id = :id"), {"id": old})
    raised(queue)
    book = Ledger(app, {}, {}, LedgerPolicy(lease=30, resend=10, retry_base=1, retry_max=5, attempts=3))
    assert ledger._claim(book, TENANT, old) is not None
    ended(app, ids[0])
    assert offered(queue, (TENANT, "cpu")) == [], "three are under way"
    ended(app, ids[1])
    assert offered(queue, (TENANT, "cpu")) == [ids[3]]


def test_with_bounds_an_offer_chooses_what_it_would_choose_without(app: Database, queue: Database) -> None:
    chance = random.Random(17)
    spare = [*waiting(app, TENANT, 30), *waiting(app, TENANT, 10, target="knowledge_indexer")]
    chance.shuffle(spare)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'held', turn = NULL"))
    for _ in range(150):
        begun = [spare.pop() for _ in range(min(len(spare), chance.choice((0, 0, 1, 2))))]
        with queue.queue() as tx:
            ready = text("UPDATE dispatches SET status = 'pending', turn = 'ready' WHERE id = ANY(:ids)")
            tx.execute(ready, {"ids": begun})
            expected = list(tx.execute(_EXPECTED, {"running": SHARES.running}).scalars())
            shares = replace(SHARES, raises=chance.choice((0, 1)))
            keys: list[Any] = [(TENANT, "cpu"), *((TENANT, "cpu", one) for one in begun)]
            assert {one.id for one in fair_share.offer(tx, shares, keys)} == set(expected)
        with app.tenant(TENANT) as tx:
            sent = list(tx.execute(text("SELECT id FROM dispatches WHERE turn = 'sent'")).scalars())
            gone = [one for one in sent if chance.random() < 0.4]
            back = [one for one in gone if chance.random() < 0.5]
            tx.execute(text("UPDATE dispatches SET turn = NULL, status = 'held' WHERE id = ANY(:ids)"), {"ids": gone})
        spare = [*back, *spare]


_EXPECTED = text("""
    SELECT id FROM dispatches WHERE queue = 'cpu' AND status = 'pending' AND turn = 'ready' ORDER BY priority, id
    LIMIT greatest(0, :running - (SELECT count(*) FROM dispatches WHERE queue = 'cpu' AND turn = 'sent'))
""")

from __future__ import annotations

from sqlalchemy import text

from core.maintenance import sweeps
from core.storage.db import Database
from tests.core.changing import PERSON, Bench, an_add
from tests.core.erasing import _drawn, erased, holding, rows, told
from tests.samples import TENANT


def test_the_log_keeps_ids_types_and_order_of_what_was_said_of_it(app: Database, bench: Bench) -> None:
    add = an_add("Ada lives in Lisbon.")
    bench.apply(add)
    before = rows(app, "SELECT seq, id, event_type, subject, causation_id FROM events ORDER BY seq")
    erased(app, add.id)
    after = rows(app, "SELECT seq, id, event_type, subject, causation_id FROM events ORDER BY seq")
    assert after[: len(before)] == before
    created = rows(app, "SELECT payload FROM events WHERE event_type = 'memory.created'")[0].payload
    assert created == {"user_id": "ada", "memory_id": str(add.id), "session_id": "s1", "erased": True}


def test_it_is_announced_with_ids_alone(app: Database, bench: Bench, unique: str) -> None:
    add = an_add(f"Ada keeps {unique} at home.")
    bench.apply(add)
    erased(app, add.id)
    assert told(app, "memory.erased") == [
        {"user_id": "ada", "memory_id": str(add.id), "memory_ids": [str(add.id)], "rederive": []}
    ]


def test_what_was_dropped_because_another_stands_for_it_leaves_the_log_with_that(
    app: Database, bench: Bench, unique: str
) -> None:
    one, other, whole = _drawn(bench, retires=True, unique=unique)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET updated_at = now() - interval '9 days' WHERE status = 'archived'"))
        assert sweeps.drop_archived(tx, TENANT, PERSON, days=1, page=10) == 2
    assert "events" in holding(app, unique)
    assert erased(app, whole).memory_ids == [whole]
    assert holding(app, unique) == []
    assert {str(one), str(other)} & {payload["memory_id"] for payload in told(app, "memory.created")}

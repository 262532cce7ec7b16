"""Jobs that change many memories: requested once, read, cancelled; a worker carries them out (`test_rows`)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.browsing.listing import MemoryFilter
from core.bulk import jobs
from core.errors import Conflict, NotFound
from core.memory.changes import Pin
from core.settings.limits import LimitReached
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from rules.registry import store
from tests.core.bulk.asking import a_job, begin, rows_of, standing, stored
from tests.databases import is_waited_for
from tests.doors import OTHER
from tests.factories import PERSON, carry_out, events_since
from tests.patience import wait_until
from tests.samples import TENANT
from tests.works import Works

ADAS = MemoryFilter(trusts=["candidate"], user_id="ada")


def ended(app: Database, job_id: UUID, status: str = "done") -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE bulk_jobs SET status = :status WHERE id = :id"), {"id": job_id, "status": status})


def result(app: Database, job_id: UUID, place: int, outcome: str, **fields: Any) -> None:
    """Store what became of a row, as a worker does."""
    values = {"job": job_id, "place": place, "outcome": outcome, "erased": [], "counts": "{}", **fields}
    store_it = """
        UPDATE bulk_rows SET outcome = :outcome, erased = :erased, counts = cast(:counts AS jsonb)
        WHERE job_id = :job AND place = :place
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(store_it), values)


def of_request(app: Database, request: str | None, asked: str) -> UUID | None:
    with app.tenant(TENANT) as tx:
        return jobs.of_request(tx, TENANT, request, asked)


def test_a_filter_chooses_the_newest_with_their_versions_up_to_a_bound(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = stored(app)
    carry_out(app, Pin(two.id, 1, True, "dear"))
    with app.tenant(TENANT) as tx:
        chosen, more = jobs.choose(tx, ADAS)
        nobody = jobs.choose(tx, replace(ADAS, user_id="bob"))
    assert (chosen, more, nobody) == ([(three.id, 1), (two.id, 2), (one.id, 1)], False, ([], False))
    monkeypatch.setattr(jobs, "MOST_ROWS", 2)
    with app.tenant(TENANT) as tx:
        assert jobs.choose(tx, ADAS) == (chosen[:2], True)


def test_a_job_is_stored_with_its_rows_in_order_and_announced(app: Database) -> None:
    ids = [uuid4() for _ in range(3)]
    new = a_job("archive", preview=True, params={"reason": "Größe"}, request="r1", fingerprint="a1", of=ids[0])
    job_id = begin(app, new, [(ids[0], 4), (ids[1], None), (ids[2], 1)])
    found = standing(app, job_id)
    row = found.row
    assert (row.action, row.preview, row.status, row.rows, row.of_preview) == ("archive", True, "running", 3, ids[0])
    assert (row.params, row.chosen, row.author["name"]) == ({"reason": "Größe"}, {"user_id": "ada"}, "key:1")
    assert (found.outcomes, found.along, found.counts, found.error) == ({}, 0, {}, None)
    assert [(one.place, one.memory_id, one.version) for one in rows_of(app, job_id)] == [
        (1, ids[0], 4),
        (2, ids[1], None),
        (3, ids[2], 1),
    ]
    with app.tenant(TENANT) as tx:
        [event] = events_since(tx, 0, 10)
    assert (event.event_type, event.id, event.seq) == (jobs.REQUESTED, str(job_id), found.seq)
    assert event.payload == {
        "job_id": str(job_id),
        "action": "archive",
        "preview": True,
        "rows": 3,
        "requested_by": "key:1",
    }


def test_no_more_than_so_many_run_at_once(app: Database) -> None:
    first = begin(app, a_job(), [(uuid4(), None)], limit=1)
    with pytest.raises(LimitReached) as reached:
        begin(app, a_job(), [(uuid4(), None)], limit=1)
    assert (reached.value.name, reached.value.value) == ("bulk_jobs", 1)
    ended(app, first)
    begin(app, a_job(), [(uuid4(), None)], limit=1)


def test_a_repeated_request_is_that_of_its_job_and_another_one_is_refused(app: Database) -> None:
    assert of_request(app, "r1", "pin") is None
    job_id = begin(app, a_job(request="r1", fingerprint="pin"), [(uuid4(), None)])
    assert of_request(app, "r1", "pin") == job_id
    assert of_request(app, "r2", "pin") is None
    assert of_request(app, None, "pin") is None
    with pytest.raises(Conflict, match="used for a different job"):
        of_request(app, "r1", "unpin")


def test_of_two_requests_at_once_the_second_waits_for_the_job_of_the_first(app: Database) -> None:
    found: list[UUID | None] = []
    with app.tenant(TENANT) as tx:
        assert jobs.of_request(tx, TENANT, "r1", "pin") is None
        thread = threading.Thread(target=lambda: found.append(of_request(app, "r1", "pin")))
        thread.start()
        wait_until(lambda: is_waited_for(app))
        job_id = jobs.request(tx, TENANT, a_job(request="r1", fingerprint="pin"), [(uuid4(), None)], PERSON, limit=1)
    thread.join()
    assert found == [job_id]


def test_jobs_are_listed_newest_first_each_with_its_own_numbers(app: Database) -> None:
    ids = [begin(app, a_job(), [(uuid4(), None), (uuid4(), None)]) for _ in range(3)]
    result(app, ids[0], 1, "done")
    result(app, ids[0], 2, "done")
    result(app, ids[1], 1, "refused")
    with app.tenant(TENANT) as tx:
        found = jobs.find(tx)
        page = jobs.find(tx, after=ids[2], limit=1)
    assert [one.row.id for one in found] == ids[::-1]
    assert [one.outcomes for one in found] == [{}, {"refused": 1}, {"done": 2}]
    assert [one.row.id for one in page] == [ids[1]]
    assert len({one.seq for one in found}) == 3


def test_rows_are_read_page_by_page_and_by_outcome(app: Database) -> None:
    job_id = begin(app, a_job(), [(uuid4(), None) for _ in range(4)])
    for place, outcome in ((1, "done"), (2, "refused"), (3, "done")):
        result(app, job_id, place, outcome)
    assert [row.place for row in rows_of(app, job_id, limit=2)] == [1, 2]
    assert [row.place for row in rows_of(app, job_id, after=2)] == [3, 4]
    assert [row.place for row in rows_of(app, job_id, outcome="done")] == [1, 3]


def test_an_erasure_says_what_goes_along_and_how_many_rows_of_each_table(app: Database) -> None:
    chosen, beside = [uuid4(), uuid4()], [uuid4(), uuid4()]
    job_id = begin(app, a_job("erase"), [(one, None) for one in chosen])
    result(app, job_id, 1, "done", erased=[*chosen, beside[0]], counts='{"memories": 3, "evidence": 2}')
    result(app, job_id, 2, "done", erased=[chosen[1], *beside], counts='{"memories": 3}')
    found = standing(app, job_id)
    assert (found.along, found.counts) == (2, {"memories": 6, "evidence": 2})


def test_a_preview_that_has_ended_is_carried_out_at_the_versions_that_it_saw(app: Database) -> None:
    ids = [uuid4(), uuid4()]
    job_id = begin(app, a_job(preview=True), [(ids[0], 2), (ids[1], None)])
    ended(app, job_id)
    with app.tenant(TENANT) as tx:
        assert jobs.chosen_rows(tx, jobs.get(tx, job_id).row) == [(ids[0], 2), (ids[1], None)]


@pytest.mark.parametrize(
    ("fields", "status", "erased", "said"),
    [
        ({}, "done", False, "was no preview"),
        ({"preview": True}, "running", False, "still running"),
        ({"preview": True}, "done", True, "erased since"),
    ],
)
def test_a_job_of_which_nothing_can_be_carried_out_says_why(
    app: Database, fields: Json, status: str, erased: bool, said: str
) -> None:
    job_id = begin(app, a_job(**fields), [(uuid4(), None)])
    ended(app, job_id, status)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE bulk_jobs SET erased = :erased"), {"erased": erased})
        row = jobs.get(tx, job_id).row
        with pytest.raises(Conflict, match=said):
            jobs.chosen_rows(tx, row)


def test_a_job_is_cancelled_once_and_not_after_its_end(app: Database) -> None:
    running, done = (begin(app, a_job(), [(uuid4(), None)]) for _ in range(2))
    ended(app, done)
    with app.tenant(TENANT) as tx:
        first, again = jobs.cancel(tx, running), jobs.cancel(tx, running)
        assert (first.row.status, first.row.ended_at) == ("cancelled", again.row.ended_at)
        assert first.row.ended_at is not None
        with pytest.raises(Conflict, match="has ended"):
            jobs.cancel(tx, done)
    assert standing(app, done).row.status == "done"


def test_a_job_that_no_rule_carries_out_says_so(app: Database, works: Works) -> None:
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "change_on_request", author="test")
    job_id = begin(app, a_job(), [(uuid4(), None)])
    assert standing(app, job_id).error is None, "nobody has decided about it yet"
    works.settle()
    assert "Enable `change_on_request`" in str(standing(app, job_id).error)


@pytest.mark.parametrize("status", ["dead", "cancelled"])
def test_a_job_whose_dispatch_has_ended_without_it_says_why(app: Database, status: str) -> None:
    job_id = begin(app, a_job(), [(uuid4(), None)])
    stop = """
        INSERT INTO dispatches (tenant_id, action_type, target, queue, status, error, event_seq, root_seq, ended_at)
        SELECT :tenant, 'run_agent', 'bulk_changer', 'cpu', :status, 'It failed.', seq, seq, now() FROM events
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(stop), {"tenant": TENANT, "status": status})
    assert standing(app, job_id).error == "It failed."
    ended(app, job_id)
    assert standing(app, job_id).error is None, "it is over"


def test_a_job_that_is_not_there_or_another_tenants_is_not_found(app: Database) -> None:
    job_id = begin(app, a_job(request="r1", fingerprint="pin"), [(uuid4(), None)])
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
        assert jobs.find(tx) == []
        assert jobs.of_request(tx, OTHER, "r1", "pin") is None
        for read in (jobs.get, jobs.cancel):
            with pytest.raises(NotFound):
                read(tx, job_id)
        with pytest.raises(NotFound):
            jobs.rows(tx, job_id, outcome=None, after=0, limit=1)
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        jobs.get(tx, uuid4())
    assert standing(app, job_id).row.status == "running"

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from unittest import mock

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Invalid, NotFound
from core.events import log, parsing
from core.events.log import Announcement, Cause, Emission, EventFilter
from core.sessions import ingest, sessions
from core.storage import db
from core.storage.db import Database
from core.types import Json
from tests.core.events.reading import log_of, positions
from tests.databases import analyzed, carried_out, looked_at
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works

WRITERS = 8


def test_a_batch_stands_in_the_log_in_the_order_it_was_given(app: Database) -> None:
    names = [f"e{n % 7}-{n}" for n in range(200)]
    accept_all(app, [event(id=name) for name in names])
    assert [e.id for e in log_of(app)] == names


def test_a_repeat_is_a_duplicate_and_changes_nothing(app: Database) -> None:
    first = accept(app, said("one", id="a"), said("two", id="b"))
    again = accept(app, said("two!", id="b"), said("three", id="c"))
    assert first.ids == [("a", False), ("b", False)]
    assert again.ids == [("b", True), ("c", False)]
    assert again.duplicates == 1
    assert [e.payload["content"] for e in log_of(app)] == ["one", "two", "three"]
    assert positions(app, "s1") == [1, 2, 3]


def test_a_repeat_within_a_batch_counts_once_and_the_first_wins(app: Database) -> None:
    done = accept(app, said("one", id="a"), said("other", id="a"), said("two", id="b"))
    assert done.ids == [("a", False), ("a", True), ("b", False)]
    assert [e.payload["content"] for e in log_of(app)] == ["one", "two"]
    assert positions(app, "s1") == [1, 2]


def test_source_and_id_together_are_the_identity(app: Database) -> None:
    done = accept(app, event(id="a", source="one"), event(id="a", source="two"))
    assert done.duplicates == 0
    assert len(log_of(app)) == 2


def test_a_batch_of_repeats_projects_no_message_twice(app: Database) -> None:
    batch = [said(f"line {n}", id=f"e{n}") for n in range(5)]
    for _ in range(3):
        accept_all(app, batch)
    assert positions(app, "s1") == [1, 2, 3, 4, 5]
    with app.tenant(TENANT) as tx:
        assert sessions.get(tx, "s1").message_count == 5


def test_a_message_id_counts_within_its_session_only(app: Database) -> None:
    accept(app, said("hello", message_id="m1"), said("hello", message_id="m1", session="s2"))
    assert positions(app, "s1") == positions(app, "s2") == [1]


def test_one_bad_event_refuses_the_whole_batch(app: Database) -> None:
    with pytest.raises(Invalid):
        accept(app, said("good"), said("bad", role="robot"))
    assert log_of(app) == []


def test_positions_have_no_gaps_under_concurrent_writers(settings: Settings) -> None:
    app = db.connect(db.app_url(settings), WRITERS)

    def write(writer: int) -> None:
        for turn in range(10):
            name = f"{writer}-{turn}"
            shared = [said(f"{name} {n}", id=f"{name}-{n}", session="shared") for n in range(3)]
            accept_all(app, [*shared, said(name, id=f"own-{name}", session=f"own-{writer}")])

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    assert positions(app, "shared") == list(range(1, WRITERS * 30 + 1))
    for writer in range(WRITERS):
        assert positions(app, f"own-{writer}") == list(range(1, 11))
    with app.tenant(TENANT) as tx:
        rows = tx.execute(
            text("SELECT event_seq FROM messages WHERE session_id = 'shared' ORDER BY position")
        ).scalars()
        in_order = list(rows)
    assert in_order == sorted(in_order)  # Within a session the order of the log is the order of the transcript.
    app.close()


def test_the_same_events_from_many_writers_at_once_are_accepted_once(settings: Settings) -> None:
    app = db.connect(db.app_url(settings), WRITERS)
    batch = [said(f"line {n}", id=f"e{n}", message_id=f"m{n}") for n in range(50)]
    with ThreadPoolExecutor(WRITERS) as pool:
        done = list(pool.map(lambda _: accept_all(app, batch), range(WRITERS)))
    assert sum(len(batch) - d.duplicates for d in done) == len(batch)
    assert positions(app, "s1") == list(range(1, 51))
    app.close()


def test_the_furthest_times_that_are_accepted_can_be_read_back(app: Database) -> None:
    accept(app, event(time="1900-01-01T00:00:00+14:00"), event(time="2999-12-31T23:59:59-14:00"))
    assert [e.time.year for e in log_of(app)] == [1899, 3000]


def test_an_emitted_event_stands_in_the_chain_of_its_cause(app: Database) -> None:
    accept(app, event(id="root", correlation_id="c"))
    (root,) = log_of(app)
    with app.tenant(TENANT) as tx:
        log.emit(tx, TENANT, Cause(root), [Emission("memory.created", {"user_id": "ada"})])
    child = log_of(app)[-1]
    with app.tenant(TENANT) as tx:
        log.emit(tx, TENANT, Cause(child), [Emission("memory.updated", {})])
        assert [e.event_type for e in log.followers(tx, root)] == ["memory.created"]
    grandchild = log_of(app)[-1]
    assert (child.correlation_id, child.causation_id, child.hop, child.root_seq) == ("c", "root", 1, root.seq)
    assert (grandchild.causation_id, grandchild.hop, grandchild.root_seq) == (child.id, 2, root.seq)


def test_a_type_is_looked_for_in_a_part_of_the_log_at_a_time(app: Database) -> None:
    accept(app, event("rare.came", id="rare"), *(event("common.came", id=f"c{n}") for n in range(8)))
    rare = EventFilter(event_type="rare.came")
    with app.tenant(TENANT) as tx, mock.patch.object(log, "SEARCHED", 4):
        pages = [log.page(tx, rare, 5)]
        while (before := pages[-1].following) is not None:
            pages.append(log.page(tx, EventFilter(event_type="rare.came", before=before), 5))
        whole = log.page(tx, EventFilter(event_type="common.came"), 4)
    assert [[one.id for one in page.events] for page in pages] == [[], [], ["rare"]]
    assert whole.following == whole.events[-1].seq


def test_events_are_found_without_a_look_at_those_of_others(app: Database, settings: Settings) -> None:
    fill = """
        INSERT INTO events (tenant_id, id, source, event_type, time, payload, user_id, session_id, correlation_id)
        SELECT :tenant, 'f' || n, 'test', 'common.came', now(), '{}', 'u' || n % 500, 's' || n % 500, 'c'
        FROM generate_series(1, 30000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "events")
    nothing = {"session": None, "user": None, "before": None, "type": None, "searched": 100, "limit": 50}
    asked: list[Json] = [{"user": "u1"}, {"user": "nobody"}, {"session": "s1"}, {"type": "no.such"}, {}]
    with app.tenant(TENANT) as tx:
        for one in asked:
            for statement in (log._FIND, log._SEARCHED_TO):
                nodes = carried_out(tx, statement.text, nothing | one)
                assert sum(looked_at(nodes, "events")) <= 100, (one, nodes)


def test_events_are_found_by_type_wildcard_session_and_user_newest_first(app: Database) -> None:
    accept(
        app, said("a", id="1"), said("b", id="2", session="s2", user="bob"), ended(user="ada"), event("message_added")
    )
    with app.tenant(TENANT) as tx:
        assert [e.id for e in log.find(tx, event_type="message.added")] == ["2", "1"]
        assert len(log.find(tx, event_type="message.*")) == 2
        assert len(log.find(tx, event_type="*")) == 4
        assert len(log.find(tx, event_type="message_added")) == 1  # `_` is no wildcard …
        assert log.find(tx, event_type="%") == []  # … and neither is `%`,
        assert log.find(tx, event_type="message\\") == []  # nor does a backslash break anything.
        assert [e.id for e in log.find(tx, user_id="bob")] == ["2"]
        assert len(log.find(tx, session_id="s1")) == 2
        newest = log.find(tx, limit=2)
        assert [e.id for e in log.find(tx, before=newest[-1].seq, limit=5)] == ["2", "1"]


def test_an_event_that_is_not_there_is_not_found(app: Database) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        log.get(tx, "nothing")


def test_a_token_covers_its_batch_and_nothing_later(app: Database, works: Works) -> None:
    early = accept(app, event())
    accept(app, event(), event())
    with app.tenant(TENANT) as tx:
        assert log.count_pending(tx, early.last_seq) == 1
    works.settle()
    with app.tenant(TENANT) as tx:
        assert log.count_pending(tx, early.last_seq) == 0


def test_the_token_of_a_batch_of_repeats_covers_what_the_first_sending_set_off(app: Database) -> None:
    accept(app, event(id="a"))
    again = accept(app, event(id="a"))
    with app.tenant(TENANT) as tx:
        assert log.count_pending(tx, again.last_seq) == 1


def test_what_waits_in_a_debounce_is_pending_until_flushed(app: Database, works: Works) -> None:
    done = accept(app, said("I live in Lisbon."))
    works.settle(flush=False)
    with app.tenant(TENANT) as tx:
        assert log.count_pending(tx, done.last_seq) == 2  # To be extracted, and to be cut into units.
        assert log.flush(tx, done.last_seq) == 2
    time.sleep(0.01)
    works.settle(flush=False)
    with app.tenant(TENANT) as tx:
        assert log.flush(tx, done.last_seq) == 3  # The memory that came of it waits for sweep, profile and mirror.
    time.sleep(0.01)
    works.settle(flush=False)
    with app.tenant(TENANT) as tx:
        assert (log.flush(tx, done.last_seq), log.count_pending(tx, done.last_seq)) == (0, 0)


def test_the_backlog_is_counted_up_to_its_bound_and_per_tenant(app: Database, works: Works) -> None:
    accept_all(app, [event() for _ in range(5)])
    accept(app, event(), tenant="globex")
    with app.tenant(TENANT) as tx:
        assert log.backlog(tx, 3) == 3
        assert log.backlog(tx, 100) == 5
    works.settle()
    with app.tenant(TENANT) as tx:
        assert log.backlog(tx, 100) == 0


def test_every_event_that_passes_the_door_can_be_stored_and_read_back(app: Database) -> None:
    awkward = {"a": [5e-324, -0.0, 10**4000, True, None, "\u2028\ufffe🎉"], "'; DROP TABLE events;--": "\\u0000"}
    (checked,) = parsing.check([event(payload=awkward)])
    ingest.accept(app, TENANT, [checked])
    assert log_of(app)[-1].payload == awkward


def test_what_the_service_announces_begins_a_chain_of_its_own(app: Database) -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    payload = {"rule": "tick", "user_id": "ada"}
    with app.tenant(TENANT) as tx:
        fresh = log.announce(tx, TENANT, [Announcement("tick@noon", "clock.ticked", noon, payload, "rule:tick")])
        found = log.get(tx, "tick@noon")
    assert fresh == 1
    assert (found.source, found.event_type, found.time, found.subject) == ("imprint", "clock.ticked", noon, "rule:tick")
    assert (found.payload, found.user_id) == (payload, "ada")
    assert (found.correlation_id, found.root_seq, found.hop, found.causation_id) == ("tick@noon", found.seq, 0, None)


def test_what_was_announced_before_is_not_announced_again(app: Database) -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    first, second = (Announcement(name, "clock.ticked", noon, {}) for name in ("a", "b"))
    with app.tenant(TENANT) as tx:
        fresh = [log.announce(tx, TENANT, batch) for batch in ([], [first], [first, second], [second])]
    assert fresh == [0, 1, 1, 0]

"""The feed: in whatever order transactions commit, nothing appears behind what was read."""

from __future__ import annotations

import random
import threading
from contextlib import ExitStack

import pytest
from sqlalchemy import create_engine, text

from core.config import Settings
from core.errors import Invalid
from core.events import feed
from core.events.feed import BEGINNING, Position
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from core.storage.db import Database
from tests.samples import TENANT, accept, accept_all, append, event


def ids(app: Database, after: Position = BEGINNING, limit: int = 500) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [one.id for _, one in feed.read(tx, after, limit).events]


def test_events_come_in_pages_in_the_order_in_which_they_were_accepted(app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(5)])
    with app.tenant(TENANT) as tx:
        first = feed.read(tx, BEGINNING, 3)
        second = feed.read(tx, first.end, 3)
    assert [one.id for _, one in first.events] == ["e0", "e1", "e2"]
    assert not first.is_last
    assert [one.id for _, one in second.events] == ["e3", "e4"]
    assert second.is_last


def test_an_event_of_an_open_transaction_holds_back_later_ones(app: Database) -> None:
    with app.tenant(TENANT) as slow:
        append(slow, event(id="slow"))
        other = threading.Thread(target=accept, args=(app, event(id="fast")))
        other.start()
        other.join()
        with app.tenant(TENANT) as tx:
            page = feed.read(tx, BEGINNING, 10)
        assert page.events == []
    assert ids(app, page.end) == ["slow", "fast"]


def test_a_transaction_that_writes_its_event_late_is_read_once_and_nothing_is_skipped(app: Database) -> None:
    with app.tenant(TENANT) as early:
        early.execute(text("SELECT pg_current_xact_id()"))
        other = threading.Thread(target=accept, args=(app, event(id="first")))
        other.start()
        other.join()
        assert ids(app) == []
        append(early, event(id="second"))
    assert sorted(ids(app)) == ["first", "second"]


def test_whatever_the_order_of_commits_each_event_is_read_once(app: Database) -> None:
    """Writers begin one after the other, each commits at a random time, and a reader looks in between."""
    chance, read, position, open_ones = random.Random(7), list[str](), BEGINNING, list[ExitStack]()
    for n in range(30):
        writer = ExitStack()
        tx = writer.enter_context(app.tenant(TENANT))
        append(tx, event(id=f"e{n}"))
        open_ones.append(writer)
        while len(open_ones) > chance.choice((0, 1, 2)):
            open_ones.pop(chance.randrange(len(open_ones))).close()
        with app.tenant(TENANT) as tx:
            page = feed.read(tx, position, 3)
        read += [one.id for _, one in page.events]
        position = page.end
    for writer in open_ones:
        writer.close()
    read += ids(app, position)
    assert sorted(read) == sorted(f"e{n}" for n in range(30))


def test_the_end_is_behind_all_that_can_be_read(app: Database) -> None:
    accept(app, event(id="old"))
    with app.tenant(TENANT) as tx:
        end = feed.end(tx)
    accept(app, event(id="new"))
    assert ids(app, end) == ["new"]


def test_a_page_is_read_from_the_index(app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(2_000)])
    with app.tenant(TENANT) as tx:
        tx.execute(text("SET LOCAL enable_seqscan = off"))
        values = {"transaction": 0, "seq": 0, "limit": 10}
        plan = "\n".join(tx.execute(text(f"EXPLAIN {feed._PAGE.text}"), values).scalars())
    assert "Index Scan using events_feed" in plan
    assert "written_in < " in plan.split("Index Cond")[1].splitlines()[0]


@pytest.mark.parametrize("word", ["", "1", "1-", "x-1", "-1-2", "1" * 16 + "-1", "1-2-3"])
def test_what_is_no_position_is_refused(word: str) -> None:
    with pytest.raises(Invalid, match="/after"):
        feed.parse(word, "/after")


def test_a_position_is_read_as_it_was_written() -> None:
    assert feed.parse(str(Position(12345, 678)), "/after") == Position(12345, 678)
    assert feed.parse("0", "/after") == BEGINNING


def test_after_a_restore_events_stand_before_new_ones(app: Database, settings: Settings) -> None:
    accept(app, event(id="restored"))
    engine = create_engine(db.owner_url(settings))
    with engine.begin() as owner:
        owner.execute(text("ALTER TABLE events NO FORCE ROW LEVEL SECURITY"))
        owner.execute(text("UPDATE events SET written_in = 1000000000000"))
    engine.dispose()
    assert ids(app) == [], "as a dump of a server with more transactions leaves them"
    schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
    accept(app, event(id="new"))
    assert ids(app) == ["restored", "new"]
    with app.tenant(TENANT) as tx, pytest.raises(Invalid, match="another database"):
        feed.require_within(tx, Position(1_000_000_000_000, 1))

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import NotFound
from core.storage.db import Database
from core.transfer.restoring import talk
from core.transfer.restoring.context import ErasedUntil
from tests.core.transfer.restoring.contexts import begun, read
from tests.core.transfer.rich import archive_of, lines
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept, said

NEVER = ErasedUntil(None, {})

SECRET = "sk-proj-" + "Zk3v9QmX2pLw8RtY5nBc7HdJ"


def test_it_holds_messages_and_memories_with_versions_and_says_how_many(app: Database) -> None:
    accept(app, said("I live in Lisbon.", session="s1", message_id="m1"))
    home = a_memory("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    carry_out(app, home)
    found = lines(archive_of(app))
    assert [(one["session_id"], one["ordinal"], one["content"]) for one in found["messages"]] == [
        ("s1", 1, "I live in Lisbon.")
    ]
    (memory,) = found["memories"]
    assert (memory["ordinal"], memory["content"], memory["value"]) == (1, "Ada lives in Lisbon.", "Lisbon")
    assert [(one["version"], one["change"]) for one in memory["versions"]] == [(1, "add")]
    (manifest,) = found["manifest"]
    assert (manifest["counts"]["messages"], manifest["counts"]["memories"]) == (1, 1)


def test_the_same_memory_gives_the_same_bytes_and_none_of_the_ids_of_the_database(app: Database) -> None:
    home = a_memory("Ada lives in Lisbon.")
    carry_out(app, home)
    first = archive_of(app)
    assert archive_of(app) == first
    assert str(home.id) not in str(lines(first))
    assert TENANT not in str(lines(first))


def test_of_a_group_it_holds_the_users_own_words_numbered_without_those_of_others(app: Database) -> None:
    accept(
        app,
        said("I take the bread.", session="g", user="ada", group_id="club"),
        said("I take the wine.", session="g", user="bob", group_id="club"),
        said("And the cheese.", session="g", user="ada", group_id="club"),
    )
    found = lines(archive_of(app))["messages"]
    assert [(one["ordinal"], one["content"]) for one in found] == [(1, "I take the bread."), (2, "And the cheese.")]


def test_secrets_are_masked_unless_it_is_raw(app: Database) -> None:
    accept(app, said(f"My key is {SECRET}."))
    assert SECRET not in str(lines(archive_of(app)))
    assert SECRET in str(lines(archive_of(app, raw=True)))


def test_what_is_written_while_it_is_read_is_not_in_it(app: Database) -> None:
    accept(app, said("Before."))
    with app.snapshot(TENANT, 60) as tx:
        count = "SELECT count(*) FROM messages"
        assert tx.execute(text(count)).scalar_one() == 1
        accept(app, said("After."))
        assert tx.execute(text(count)).scalar_one() == 1


def test_of_whom_nothing_is_stored_there_is_no_archive(app: Database) -> None:
    with pytest.raises(NotFound, match="'nobody'"):
        archive_of(app, "nobody")


TIMES = ("2026-03-10T23:30:00-08:00", "2026-03-11T09:15:00.25+05:30", "2026-03-11T12:00:00Z")


def test_times_of_messages_are_on_their_speakers_clocks_and_are_so_again_after_an_import(
    app: Database, settings: Settings
) -> None:
    for n, time in enumerate(TIMES):
        accept(app, said("I moved today.", message_id=f"m{n}", time=time))
    written = [one["occurred_at"] for one in lines(archive_of(app))["messages"]]
    assert [datetime.fromisoformat(one) for one in written] == [datetime.fromisoformat(one) for one in TIMES]
    offsets = [datetime.fromisoformat(one).utcoffset() for one in written]
    assert offsets == [timedelta(hours=-8), timedelta(hours=5, minutes=30), timedelta(0)]
    context, _ = begun(app, settings)
    found = lines(archive_of(app))
    with app.tenant(TENANT) as tx:
        moved = [{**one, "session_id": "s2"} for one in found["messages"]]
        list(talk.write_sessions(tx, context, read("sessions", found["sessions"][0] | {"id": "s2"}), NEVER))
        assert list(talk.write_messages(tx, context, read("messages", *moved), NEVER)) == ["restored"] * 3
    restored = [one for one in lines(archive_of(app))["messages"] if one["session_id"] == "s2"]
    assert [one["occurred_at"] for one in restored] == written

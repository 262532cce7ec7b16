"""A report counts what a reading or an archive holds, and from when to when."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from core.transfer.archive_reader import ArchiveReader
from core.transfer.records import Conversation, Note, Skipped, Statement, Turn
from core.transfer.report import Report
from tests.core.transfer.rich import NOON, a_past, made

EARLY, LATE = datetime(2024, 5, 1, tzinfo=UTC), datetime(2025, 5, 1, tzinfo=UTC)


def test_records_are_counted_by_kind_and_parts_of_a_conversation_as_one() -> None:
    report = Report()
    for record in (
        Conversation("c1", [Turn("1", "user", "Hi.", LATE), Turn("2", "assistant", "Hello.")]),
        Conversation("c1", [Turn("3", "user", "Bye.")]),
        Statement("s1", "Ada sails.", EARLY),
        Note("n1", "Notes", "# Notes"),
        Skipped("a.json#/1", "an image"),
        Skipped("a.json#/2", "an image"),
    ):
        report.count(record)
    found = report.as_json()
    names = ("conversations", "messages", "statements", "documents")
    assert [found[name] for name in names] == [1, 3, 1, 1]
    assert found["skipped"] == {"an image": 2}
    assert (found["first"], found["last"]) == (EARLY.isoformat(), LATE.isoformat())


def test_nothing_has_no_times() -> None:
    found = Report().as_json()
    assert (found["first"], found["last"], found["messages"]) == (None, None, 0)


def test_an_archive_is_counted_by_its_sessions() -> None:
    report = Report.of_archive(ArchiveReader(io.BytesIO(made(a_past("s1", 3, 2))), "a.zip"))
    found = report.as_json()
    assert (found["formats"], found["conversations"], found["messages"], found["statements"]) == (["imprint"], 1, 3, 2)
    assert found["first"] is not None
    assert datetime.fromisoformat(found["first"]) == datetime.fromisoformat(NOON)

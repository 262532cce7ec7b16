"""Memories of other services are statements."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.transfer.formats import stores
from core.transfer.records import Statement
from core.types import Json
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, lines, read, reasons, written

THEN = "2025-01-01 00:00:00"


def statements(path: Path) -> list[Statement]:
    return [record for record in read(path) if isinstance(record, Statement)]


@pytest.mark.parametrize(
    ("value", "number", "first"),
    [
        (vendors.mem0_page(), NUMBER, "Has 0 bicycles"),
        (vendors.mem0_page()["results"], NUMBER, "Has 0 bicycles"),
        (vendors.langgraph(), NUMBER + 1, "Owns boat 0"),
        ([vendors.hindsight(n) for n in range(NUMBER)], NUMBER, "Ada visited city 0."),
    ],
)
def test_memories_of_other_services_are_statements(tmp_path: Path, value: object, number: int, first: str) -> None:
    found = statements(written(tmp_path / "x.json", value))
    assert (len(found), found[0].content) == (number, first)
    assert len({one.id for one in found}) == number
    assert found[0].at is not None


def row(value: object, **more: object) -> Json:
    return {"prefix": "ada", "key": "k", "value": value, "created_at": THEN, **more}


@pytest.mark.parametrize(
    "value",
    [
        {"content": "I like tea"},
        '{"content": "I like tea"}',
        '{"kind": "Memory", "content": {"content": "I like tea"}}',
        '{"content": "{\\"text\\": \\"I like tea\\"}"}',
        '"I like tea"',
        "I like tea",
    ],
)
def test_an_item_of_langgraph_is_read_as_its_words(tmp_path: Path, value: object) -> None:
    [found] = statements(lines(tmp_path / "x.jsonl", [row(value)]))
    assert found.content == "I like tea"


@pytest.mark.parametrize("value", ['{"age": 3}', "[1, 2]", {"content": '{"age": 3}'}, None, 7])
def test_an_item_without_words_is_left_out(tmp_path: Path, value: object) -> None:
    found = read(lines(tmp_path / "x.jsonl", [row(value), row("I like tea")]))
    assert sum(reasons(found).values()) == len(found) - 1 == 1


def test_times_of_the_redis_store_are_microseconds(tmp_path: Path) -> None:
    [found] = statements(written(tmp_path / "x.json", [row("Tea.", created_at=1_735_689_600_000_000)]))
    assert found.at == datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expires"),
    [
        (row("Tea.", expires_at="2025-06-30 12:00:00"), "2025-06-30T12:00:00+00:00"),
        (
            {"id": "1", "memory": "Tea.", "created_at": THEN, "expiration_date": "2025-06-30"},
            "2025-07-01T00:00:00+00:00",
        ),
        ({"id": "1", "memory": "Tea.", "expiration_date": "2999-06-30"}, "2999-07-01T00:00:00+00:00"),
    ],
)
def test_what_expires_does_so_here(tmp_path: Path, value: Json, expires: str) -> None:
    [found] = statements(written(tmp_path / "x.json", [value]))
    assert found.metadata["expires_at"] == expires


def test_what_had_expired_before_it_was_recorded_is_left_out(tmp_path: Path) -> None:
    values = [
        {"id": "1", "memory": "Tea.", "expiration_date": "2024-01-01"},
        {"id": "2", "memory": "Tea.", "created_at": THEN, "expiration_date": "2024-01-01"},
    ]
    assert reasons(read(written(tmp_path / "x.json", values))) == {stores.EXPIRED: 2}


def test_facts_of_hindsights_agent_are_about_the_agent(tmp_path: Path) -> None:
    facts = [{"text": "I recommended a hotel.", "fact_type": "experience"}, {"text": "Ada runs.", "fact_type": "world"}]
    found = statements(written(tmp_path / "x.json", [{"original_text": "x", "facts": facts}]))
    assert [one.metadata for one in found] == [{"subject": "assistant"}, {}]

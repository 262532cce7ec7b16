"""A file is recognised by what is in it, in whatever it was packed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.transfer import intake
from core.transfer.intake import ImportOwner
from core.transfer.opened import ReadingAllowance
from core.transfer.reading import NAMES, PathReading
from core.transfer.records import Conversation, Record, Skipped, Statement
from core.types import Json
from tests.core.transfer import vendors
from tests.core.transfer.formats import test_codex, test_gemini, test_messages, test_trees
from tests.core.transfer.vendors import CHATGPT, NUMBER, kept, lines, read, written


def test_the_same_export_is_read_from_a_file_shards_a_folder_and_a_zip(tmp_path: Path) -> None:
    whole = read(written(tmp_path / "one" / "conversations.json", CHATGPT))
    for number, start in enumerate(range(0, NUMBER, 20)):
        written(tmp_path / "two" / f"conversations-{number:03}.json", CHATGPT[start : start + 20])
    written(tmp_path / "two" / "user.json", {"id": "u", "email": "ada@example.com"})
    (tmp_path / "two" / "chat.html").write_text("<html>")
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (tmp_path / "two").iterdir():
            archive.write(file, file.name)
    for path in (tmp_path / "two", tmp_path / "export.zip"):
        found = read(path)
        assert [one for one in found if not isinstance(one, Skipped)] == [
            one for one in whole if not isinstance(one, Skipped)
        ]
        assert [one.where.rpartition("/")[2] for one in found if isinstance(one, Skipped)][-1] == "user.json"


def test_one_format_can_be_wanted(tmp_path: Path) -> None:
    written(tmp_path / "a.json", CHATGPT)
    written(tmp_path / "b.json", vendors.mem0_page())
    reading = PathReading(tmp_path, "mem0")
    assert not kept(list(reading.records()), Conversation)
    assert reading.recognised == {"mem0"}


GOOD: dict[str, tuple[Json, ...]] = {
    "chatgpt": (vendors.chatgpt(0),),
    "claude": (vendors.claude(8),),
    "claude-code": tuple(vendors.claude_code(1)),
    "codex": tuple(test_codex.ROLLOUT),
    "gemini": (test_gemini.record("Prompted Hi", "2026-07-26T12:00:00Z", "<p>Ho</p>"),),
    "open-webui": (test_trees.CHAT,),
    "librechat": (test_trees.FLAT, test_trees.NESTED),
    "mem0": (vendors.mem0_page()["results"][0],),
    "hindsight": (vendors.hindsight(1),),
    "langgraph": (vendors.langgraph()[0],),
    "locomo": (vendors.locomo(),),
    "messages": ({"messages": test_messages.TALK}, {"conversations": test_messages.SHAREGPT}),
}
"""Entries of each format."""

ODD = st.sampled_from(
    [None, True, 7, -1.5, "", "x", "\x00", "\ud800", [], [None], [[]], {}, {"a": 1}, [{}], "2025-01-01"]
)


@pytest.mark.parametrize("name", GOOD)
def test_a_format_is_recognised_by_any_of_its_entries(tmp_path: Path, name: str) -> None:
    for number, odd in enumerate(({}, {"hello": "world"}, None)):
        reading = PathReading(lines(tmp_path / f"{number}.jsonl", [odd] * 50 + list(GOOD[name])))  # type: ignore[list-item]
        assert [record for record in reading.records() if not isinstance(record, Skipped)]
        assert reading.recognised == {name}


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_odd_entry_costs_only_itself(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Whatever stands anywhere in it, it is read, or left out with a reason."""
    odd = [broken(data, entry) for entry in GOOD[name]]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in (*GOOD[name], *odd)))
    records = read(path)
    alone = [record for record in read(lines(tmp_path / "y.jsonl", GOOD[name])) if not isinstance(record, Skipped)]
    first = [record for record in records if not isinstance(record, Skipped)]
    assert texts(first)[: len(texts(alone))] == texts(alone)
    assert list(intake.events([one for one in first if isinstance(one, Conversation | Statement)], ImportOwner("ada")))


def texts(records: list[Record]) -> list[str]:
    """Everything that records say, in their order."""
    return [text for record in records for text in ([turn.text for turn in record.turns]
            if isinstance(record, Conversation) else [getattr(record, "content", "")])]  # fmt: skip


def broken(data: st.DataObject, value: Any) -> Any:
    """A copy of a value with something odd at a place in it."""
    if isinstance(value, dict | list) and value and data.draw(st.integers(0, 5)):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = data.draw(st.sampled_from(keys))
        copy = value.copy()
        copy[key] = broken(data, value[key])
        return copy
    return data.draw(ODD)


def test_entries_of_two_formats_in_one_file_are_both_read(tmp_path: Path) -> None:
    reading = PathReading(lines(tmp_path / "x.jsonl", [*GOOD["mem0"], *GOOD["messages"]]))
    assert len([record for record in reading.records() if not isinstance(record, Skipped)]) == 3
    assert reading.recognised == {"mem0", "messages"}


def test_the_names_of_formats_are_those_of_the_table() -> None:
    assert set(GOOD) | {"imprint", "markdown"} == set(NAMES)


def test_between_two_objects_of_a_file_others_may_compute(tmp_path: Path) -> None:
    class Counting(ReadingAllowance):
        def go_on(self) -> None:
            nonlocal turns
            turns += 1

    turns = 0
    said = "".join(json.dumps({"role": "user", "content": f"I have {n} dogs."}) + "\n" for n in range(500))
    (tmp_path / "messages.jsonl").write_text(said)
    list(PathReading(tmp_path, allowance=Counting()).records())
    assert turns >= 500

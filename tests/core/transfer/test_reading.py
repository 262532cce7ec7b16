"""Exports of other services are recognised by what is in them, and give what people and assistants said."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.transfer.opened import Unreadable
from core.transfer.reading import Reading
from core.transfer.records import Conversation, Note, Record, Skipped, Statement
from core.types import Json
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER


def read(path: Path, only: str | None = None, *, forbidden: bool = False) -> list[Record]:
    return list(Reading(path, only, forbidden).records())


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def lines(path: Path, values: Sequence[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def said(records: Sequence[Record]) -> list[str]:
    return [turn.text for one in records if isinstance(one, Conversation) for turn in one.turns]


def kept(records: Sequence[Record], kind: type[Record]) -> list[Record]:
    return [one for one in records if isinstance(one, kind)]


CHATGPT = [vendors.chatgpt(number) for number in range(NUMBER)]
CLAUDE = [vendors.claude(number) for number in range(NUMBER)]
FORBIDDEN = sum(one["is_do_not_remember"] for one in CHATGPT)


def test_chatgpt_gives_the_branch_that_was_kept_without_tools_and_thoughts(tmp_path: Path) -> None:
    found = read(written(tmp_path / "conversations.json", CHATGPT))
    talks = kept(found, Conversation)
    assert len(talks) == NUMBER - FORBIDDEN == 37
    assert [t.text for t in talks[0].turns] == [
        "My sister number 0 lives in Porto.",
        "What is this?\n\nSpoken words.",
        "It is bridge 0.",
    ]
    assert not [text for text in said(found) if "hidden" in text or "regenerated" in text]
    assert talks[0].turns[0].at is not None


def test_chatgpt_is_obeyed_where_it_was_told_not_to_remember_unless_asked(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", CHATGPT)
    assert [one.reason for one in read(path) if isinstance(one, Skipped)] == [
        "the user told ChatGPT not to remember it (is_do_not_remember)"
    ] * FORBIDDEN
    assert len(kept(read(path, forbidden=True), Conversation)) == NUMBER


def test_chatgpts_own_memories_are_dated_statements(tmp_path: Path) -> None:
    found = [one for one in read(written(tmp_path / "c.json", CHATGPT)) if isinstance(one, Statement)]
    assert [one.content for one in found[:2]] == ["Has 0 sisters.", "Likes Porto."]
    assert str(found[0].at) == "2025-05-02 00:00:00+00:00"
    assert found[0].trusted is False
    listed = {"memories": [{"id": "m", "content": "Has a dog.", "updated_at": 1.7e9}], "memory_max_tokens": 1}
    assert [one.content for one in read(written(tmp_path / "m.json", listed)) if isinstance(one, Statement)] == [
        "Has a dog."
    ]


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


def test_claude_gives_the_last_branch_and_only_text(tmp_path: Path) -> None:
    found = read(written(tmp_path / "conversations.json", CLAUDE))
    talks = kept(found, Conversation)
    assert len(talks) == NUMBER
    for number, one in enumerate(talks):
        assert isinstance(one, Conversation)
        assert [turn.text for turn in one.turns] == [f"My cat {number} is called Mia.", "Noted."]
        assert [turn.role for turn in one.turns] == ["user", "assistant"]
        assert one.turns[0].metadata == {"files": ["cat.png"]}


def test_claudes_new_export_of_one_zip_for_each_category_is_read_from_its_folder(tmp_path: Path) -> None:
    memory = {
        "conversations_memory": "**Work**\nAda is a nurse.",
        "project_memories": {"p1": "A bakery."},
        "memory_files": [{"path": "/people.md", "content": "Bob: brother", "updated_at": "2026-01-01T00:00:00Z"}],
        "account_uuid": "x",
    }
    project = {
        "uuid": "p1",
        "name": "Bakery",
        "description": "",
        "prompt_template": "Be brief.",
        "docs": [{"uuid": "d", "filename": "menu.txt", "content": "Bread", "created_at": "2026-01-01T00:00:00Z"}],
    }
    parts = {
        "conversations-000.zip": ("conversations.json", CLAUDE),
        "memories-000.zip": ("memories/a.json", memory),
        "projects-000.zip": ("projects/p1.json", project),
    }
    for name, (inner, value) in parts.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inner, json.dumps(value))
    written(tmp_path / "manifest-1.json", {"version": "1.0", "data_files": []})
    found = read(tmp_path)
    assert len(kept(found, Conversation)) == NUMBER
    assert sorted(one.text for one in found if isinstance(one, Note)) == [
        "**Work**\nAda is a nurse.",
        "A bakery.",
        "Be brief.",
        "Bob: brother",
        "Bread",
    ]


def test_claude_code_gives_what_was_said_by_session_and_project(tmp_path: Path) -> None:
    for number in range(NUMBER):
        lines(tmp_path / "-home-ada-Shop" / f"s{number}.jsonl", vendors.claude_code(number))
    (tmp_path / "-home-ada-Shop" / "memory").mkdir()
    (tmp_path / "-home-ada-Shop" / "memory" / "MEMORY.md").write_text("# Notes\nUse pnpm.")
    (tmp_path / "README.md").write_text("not a memory")
    found = read(tmp_path)
    talks = [one for one in found if isinstance(one, Conversation)]
    assert {one.id for one in talks} == {f"claude-code/s{n}" for n in range(NUMBER)}
    assert {one.group for one in talks} == {"project:shop"}
    assert sorted(set(said(found))) == sorted(
        [*(f"We deploy shop {n} on Fridays." for n in range(NUMBER)), "Understood."]
    )
    assert [one.text for one in found if isinstance(one, Note)] == ["# Notes\nUse pnpm."]


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
    found = [one for one in read(written(tmp_path / "x.json", value)) if isinstance(one, Statement)]
    assert (len(found), found[0].content) == (number, first)
    assert len({one.id for one in found}) == number
    assert found[0].at is not None


def test_locomo_gives_both_speakers_at_the_time_of_their_session(tmp_path: Path) -> None:
    found = [one for one in read(written(tmp_path / "l.json", [vendors.locomo()])) if isinstance(one, Conversation)]
    assert len(found) == NUMBER
    assert [turn.speaker for turn in found[0].turns] == ["Ada", "Bob"]
    assert str(found[0].turns[0].at) == "2023-05-08 13:56:00+00:00"


def test_lines_of_messages_are_conversations_and_long_ones_come_in_parts(tmp_path: Path) -> None:
    told = [{"role": "user", "content": f"Line {n}", "session_id": f"s{n // 1200}"} for n in range(2_400)]
    found = [one for one in read(lines(tmp_path / "m.ndjson", told)) if isinstance(one, Conversation)]
    assert [(one.id, len(one.turns)) for one in found] == [
        ("s0", 500),
        ("s0", 500),
        ("s0", 200),
        ("s1", 500),
        ("s1", 500),
        ("s1", 200),
    ]
    event = {
        "event_type": "message.added",
        "source": "a",
        "id": "e1",
        "payload": {"session_id": "s", "role": "user", "content": "Hi"},
    }
    [one] = read(lines(tmp_path / "e.ndjson", [event]))
    assert isinstance(one, Conversation)
    assert (one.id, one.turns[0].id) == ("s", "e1")


def test_one_format_can_be_wanted(tmp_path: Path) -> None:
    written(tmp_path / "a.json", CHATGPT)
    written(tmp_path / "b.json", vendors.mem0_page())
    reading = Reading(tmp_path, "mem0")
    assert not kept(list(reading.records()), Conversation)
    assert reading.found == {"mem0"}


CIRCULAR = {"a": {"parent": "b", "message": {"author": 3, "content": []}}, "b": {"parent": "a"}}

ODD: list[object] = [
    *(None, 1, "x", [], {}),
    *({"mapping": mapping, "current_node": "a"} for mapping in ({}, {"a": 3}, CIRCULAR)),
]


def test_odd_conversations_are_left_out_with_a_reason_and_the_others_are_read(tmp_path: Path) -> None:
    found = read(written(tmp_path / "c.json", [CHATGPT[1], *ODD]))
    assert len(kept(found, Conversation)) == 1
    assert {one.reason for one in found if isinstance(one, Skipped)} == {
        "a conversation without messages of the user or the assistant"
    }


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'[{"mapping": {}, "current_node": null}', "within its list"),
        (b'[{"mapping": {}, "current_node": null}, nonsense]', "not JSON at character 40"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'[{"role": "user", "content": "x"}] [2]', "goes on behind the end"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"hello": "world"}', ""),
    ],
)
def test_a_broken_file_is_refused_with_the_place(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "x.json").write_bytes(raw)
    if reason:
        with pytest.raises(Unreadable, match=reason):
            read(tmp_path / "x.json")
    else:
        assert [one.reason for one in read(tmp_path / "x.json") if isinstance(one, Skipped)] == [
            "not of a known format"
        ]


def zipped(entries: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return raw.getvalue()


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zipped({"conversations.json": b" " * 50_000_000}))
    with pytest.raises(Unreadable, match="200 times its size"):
        read(tmp_path / "b.zip")


def test_zips_are_read_two_levels_deep(tmp_path: Path) -> None:
    inner = zipped({"conversations.json": json.dumps(CLAUDE[:1]).encode()})
    (tmp_path / "a.zip").write_bytes(zipped({"x.zip": inner}))
    assert len(read(tmp_path / "a.zip")) == 1
    (tmp_path / "b.zip").write_bytes(zipped({"y.zip": zipped({"x.zip": inner})}))
    with pytest.raises(Unreadable, match="unpack it first"):
        read(tmp_path / "b.zip")


def test_names_that_lead_elsewhere_are_names_only(tmp_path: Path) -> None:
    """Nothing is unpacked to a path, so such a name can do nothing; a link out of a folder is not followed."""
    (tmp_path / "z.zip").write_bytes(zipped({"../../etc/x.json": json.dumps(CLAUDE[:1]).encode()}))
    assert len(read(tmp_path / "z.zip")) == 1
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.json").symlink_to("/etc/passwd")
    with pytest.raises(Unreadable, match="Nothing in"):
        read(tmp_path / "folder")


def test_what_is_not_there_and_what_is_no_zip_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no file or folder"):
        read(tmp_path / "none.json")
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(Unreadable, match="not a zip"):
        read(tmp_path / "no.zip")

"""Claude.ai: the last branch, only text, and its new export of several zips."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from core.transfer.records import Conversation, Note
from tests.core.transfer.vendors import CLAUDE, NUMBER, claude, kept, read, reasons, said, written


def test_claude_gives_the_last_branch_and_only_text(tmp_path: Path) -> None:
    found = read(written(tmp_path / "conversations.json", CLAUDE))
    talks = kept(found, Conversation)
    assert len(talks) == NUMBER
    for number, one in enumerate(talks):
        assert isinstance(one, Conversation)
        assert [turn.text for turn in one.turns] == [f"My cat {number} is called Mia.\n\n[file: cat.png]", "Noted."]
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


def test_what_is_left_out_is_counted_and_a_message_of_files_alone_is_kept(tmp_path: Path) -> None:
    talk = claude(8)
    talk["chat_messages"][0] |= {"text": "", "content": [], "attachments": [{"file_name": "report.pdf"}]}
    talk["chat_messages"] += [7, {"uuid": "x", "sender": "robot", "text": "Hi."}]
    found = read(written(tmp_path / "c.json", [talk]))
    assert said(found) == ["[file: report.pdf]\n\n[file: cat.png]", "Noted."]
    assert reasons(found) == {
        "a message that is no object": 1,
        "a message on a branch that was not kept": 2,
        "a thought": 1,
        "a tool's call": 1,
        "a tool's result": 1,
        "a block of the type of tomorrow": 1,
    }

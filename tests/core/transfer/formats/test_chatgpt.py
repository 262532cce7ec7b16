"""ChatGPT: the branch that was kept, what it saved, and what it was told not to remember."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.transfer import reading
from core.transfer.formats import chatgpt
from core.transfer.records import Conversation, Skipped, Statement
from tests.core.transfer import vendors
from tests.core.transfer.vendors import CHATGPT, NUMBER, kept, read, reasons, said, written

FORBIDDEN = sum(one["is_do_not_remember"] for one in CHATGPT)

CIRCULAR = {"a": {"parent": "b", "message": {"author": 3, "content": []}}, "b": {"parent": "a"}}

ODD: list[object] = [
    *(None, 1, "x", [], {}),
    {"mapping": [], "current_node": "a"},
    {"mapping": None, "conversation_id": "c"},
    *({"mapping": mapping, "current_node": "a"} for mapping in ({}, {"a": 3}, CIRCULAR)),
]


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
    assert reasons(read(path))[chatgpt.FORBIDDEN] == FORBIDDEN
    assert len(kept(read(path, forbidden=True), Conversation)) == NUMBER


def test_chatgpts_own_memories_are_dated_statements(tmp_path: Path) -> None:
    found = [one for one in read(written(tmp_path / "c.json", CHATGPT)) if isinstance(one, Statement)]
    assert [one.content for one in found[:2]] == ["Has 0 sisters.", "Likes Porto."]
    assert str(found[0].at) == "2025-05-02 00:00:00+00:00"
    listed = {"memories": [{"id": "m", "content": "Has a dog.", "updated_at": 1.7e9}], "memory_max_tokens": 1}
    assert [one.content for one in read(written(tmp_path / "m.json", listed)) if isinstance(one, Statement)] == [
        "Has a dog."
    ]


def test_odd_conversations_are_left_out_with_a_reason_and_the_others_are_read(tmp_path: Path) -> None:
    found = read(written(tmp_path / "c.json", [*ODD, CHATGPT[1], *ODD]))
    assert len(kept(found, Conversation)) == 1
    odd = [record for record in found if isinstance(record, Skipped) and record.odd]
    assert reasons(odd) == {reading.NO_OBJECT: 2 * 3, chatgpt.NO_TURNS: 2 * 4}
    assert [record.where for record in odd][-2:] == ["c.json#/17", "c.json#/0"]


def test_each_message_and_part_that_is_left_out_is_counted_with_its_reason(tmp_path: Path) -> None:
    found = read(written(tmp_path / "c.json", [vendors.chatgpt(0)]))
    assert reasons(found) == {
        "a message that ChatGPT hides": 1,
        "content of the type user_editable_context": 1,
        "a thought": 2,
        "a tool's call": 1,
        "a tool's result": 2,
        "a picture": 1,
        "a message on a branch that was not kept": 1,
    }
    [picture] = [one for one in found if isinstance(one, Skipped) and one.reason == "a picture"]
    assert picture.where == "c.json#/0/mapping/picture"


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_message_the_branch_of_the_newest_is_kept(tmp_path: Path, current: object) -> None:
    talk = {**vendors.chatgpt(0), "current_node": current}
    assert said(read(written(tmp_path / "c.json", [talk]))) == [
        "My sister number 0 lives in Porto.",
        "What is this?\n\nSpoken words.",
        "It is bridge 0.",
    ]

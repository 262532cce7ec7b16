"""Open WebUI and LibreChat: the branch that was kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.transfer.formats import branches
from core.transfer.records import Conversation
from core.types import Json
from tests.core.transfer.vendors import lines, read, reasons, said, written

THOUGHT = '<details type="reasoning" done="true">\n<summary>Thought</summary>\nhidden\n</details>\nNoted.'


def node(name: str, parent: str | None, role: str, content: str) -> Json:
    return {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": content, "timestamp": 1.7e9}


CHAT: Json = {
    "id": "c1",
    "title": "Home",
    "chat": {
        "history": {
            "currentId": "d",
            "messages": {
                "a": node("a", None, "user", "I live in Lisbon."),
                "b": node("b", "a", "assistant", "Left."),
                "d": node("d", "a", "assistant", THOUGHT),
            },
        },
        "messages": [],
    },
}

LEFT = {"messageId": "b", "parentMessageId": "a", "isCreatedByUser": False, "text": "Left."}

ANSWER = {
    "messageId": "d",
    "parentMessageId": "a",
    "isCreatedByUser": False,
    "text": "",
    "content": [{"type": "think", "think": "hidden"}, {"type": "text", "text": {"value": "Noted."}}],
}

ROOT = "00000000-0000-0000-0000-000000000000"

QUESTION = {"messageId": "a", "parentMessageId": ROOT, "isCreatedByUser": True, "text": "I live in Lisbon."}

FLAT: Json = {"conversationId": "c2", "title": "Home", "messages": [QUESTION, LEFT, ANSWER]}

NESTED: Json = {**FLAT, "messages": [{**QUESTION, "children": [LEFT, ANSWER]}]}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (CHAT, "open-webui/c1"),
        ({**CHAT["chat"], "id": "c1"}, "open-webui/c1"),
        (FLAT, "librechat/c2"),
        (NESTED, "librechat/c2"),
    ],
)
def test_the_branch_that_was_kept_is_read_without_thoughts(tmp_path: Path, value: Json, name: str) -> None:
    for path in (written(tmp_path / "x.json", [value]), lines(tmp_path / "x.ndjson", [value]),
                 written(tmp_path / "y.json", value)):  # fmt: skip
        found = read(path)
        assert said(found) == ["I live in Lisbon.", "Noted."]
        assert [record.id for record in found if isinstance(record, Conversation)] == [name]
        assert reasons(found)[branches.LEFT] == 1


def test_an_odd_chat_costs_only_itself(tmp_path: Path) -> None:
    odd = [{"chat": {"history": {"messages": {"a": 7}}}}, {"chat": None}, {"messages": [{"messageId": "a"}, 7]}]
    found = read(written(tmp_path / "x.json", [*odd, CHAT, *odd]))
    assert said(found) == ["I live in Lisbon.", "Noted."]
    assert sum(reasons(found).values()) >= 1 + 2 * len(odd)

"""Conversations as plain messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.transfer.formats import messages
from core.transfer.records import Conversation
from core.types import Json
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, lines, read, reasons, said, written

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}


def talks(path: Path) -> list[Conversation]:
    return [record for record in read(path) if isinstance(record, Conversation)]


def message(content: Any = "Hi.", role: str = "user", **more: Any) -> Json:
    return {"role": role, "content": content, **more}


def test_locomo_gives_both_speakers_at_the_time_of_their_session(tmp_path: Path) -> None:
    found = talks(written(tmp_path / "l.json", [vendors.locomo()]))
    assert len(found) == NUMBER
    assert [turn.speaker for turn in found[0].turns] == ["Ada", "Bob"]
    assert str(found[0].turns[0].at) == "2023-05-08 13:56:00+00:00"


def test_lines_of_messages_are_conversations_and_long_ones_come_in_parts(tmp_path: Path) -> None:
    told = [message(f"Line {n}", session_id=f"s{n // 1200}") for n in range(2_400)]
    found = talks(lines(tmp_path / "m.ndjson", told))
    assert [(one.id, len(one.turns)) for one in found] == [
        ("s0", 500),
        ("s0", 500),
        ("s0", 200),
        ("s1", 500),
        ("s1", 500),
        ("s1", 200),
    ]


@pytest.mark.parametrize(
    "event",
    [
        {"event_type": "message.added", "source": "a", "id": "e1", "payload": message(session_id="s")},
        {"type": "message.added", "specversion": "1.0", "source": "a", "id": "e1", "data": message(session_id="s")},
    ],
)
def test_native_events_and_cloudevents_are_messages(tmp_path: Path, event: Json) -> None:
    found = read(lines(tmp_path / "e.ndjson", [{"event_type": "session.started", "payload": {}}, event]))
    [talk] = [record for record in found if isinstance(record, Conversation)]
    assert (talk.id, talk.turns[0].id, talk.turns[0].text) == ("s", "e1", "Hi.")
    assert reasons(found) == {"an event of the type session.started": 1}


@pytest.mark.parametrize("name", messages.SESSIONS)
def test_messages_are_told_apart_by_the_conversation_that_they_name(tmp_path: Path, name: str) -> None:
    values = [message("One.", **{name: "a"}), message("Two.", **{name: "b"})]
    assert [(one.id, len(one.turns)) for one in talks(lines(tmp_path / "m.ndjson", values))] == [("a", 1), ("b", 1)]


TALK = [message("I live in Lisbon."), message("Noted.", "assistant")]

SHAREGPT = [{"from": "human", "value": "I live in Lisbon."}, {"from": "gpt", "value": "Noted."}]

LANGCHAIN = [
    {"type": "human", "data": {"content": "I live in Lisbon."}},
    {"type": "ai", "data": {"content": "Noted.", "tool_calls": []}},
]

RESPONSES = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I live in Lisbon."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
]

CONTENTS = [
    {"role": "user", "parts": [{"text": "I live in Lisbon."}]},
    {"role": "model", "parts": [{"text": "Noted."}]},
]

TEXTS = [{"role": "user", "text": "I live in Lisbon."}, {"role": "model", "text": "Noted."}]


@pytest.mark.parametrize("shape", [TALK, SHAREGPT, LANGCHAIN, RESPONSES, CONTENTS, TEXTS])
@pytest.mark.parametrize("name", messages.LISTS)
def test_a_conversation_is_read_in_any_shape_and_under_any_name(tmp_path: Path, shape: list[Json], name: str) -> None:
    """Alone, in an array, line by line, and as a page of several."""
    whole = {"id": "t1", name: shape}
    for value in (whole, [whole], {"conversations": [whole]}):
        [talk] = talks(written(tmp_path / "x.json", value))
        assert [(turn.role, turn.text) for turn in talk.turns] == [
            ("user", "I live in Lisbon."),
            ("assistant", "Noted."),
        ]
        assert talk.id == "t1"
    assert len(talks(lines(tmp_path / "y.jsonl", [whole, {**whole, "id": "t2"}]))) == 2


@pytest.mark.parametrize("shape", [TALK, SHAREGPT, LANGCHAIN, RESPONSES, CONTENTS, TEXTS])
def test_messages_by_themselves_are_read_in_any_shape(tmp_path: Path, shape: list[Json]) -> None:
    for path in (written(tmp_path / "x.json", shape), lines(tmp_path / "y.jsonl", shape)):
        [talk] = talks(path)
        assert [turn.text for turn in talk.turns] == ["I live in Lisbon.", "Noted."]


def test_conversations_without_an_id_are_told_apart_by_their_content(tmp_path: Path) -> None:
    """They keep their ids if the file grows, so that a second import adds only the new one."""
    values = [{"messages": [message("Hi."), message(text, "assistant")]} for text in ("One.", "Two.")]
    first = talks(lines(tmp_path / "a.jsonl", values))
    assert len({one.id for one in first}) == 2
    again = talks(lines(tmp_path / "b.jsonl", [{"messages": TALK}, *values]))
    assert {one.id for one in first} < {one.id for one in again}


def test_parts_are_read_and_each_that_has_no_words_is_noted_and_counted(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "My cat."}, PICTURE]
    found = read(written(tmp_path / "x.json", [message(parts), message([PICTURE]), message("Nice!", "assistant")]))
    [talk] = [record for record in found if isinstance(record, Conversation)]
    assert said(found) == ["My cat.", "Nice!"]
    assert "cat.png" in str(talk.turns[0].metadata)
    assert reasons(found) == {"a part of the type image_url": 2}


def test_one_odd_message_costs_only_itself(tmp_path: Path) -> None:
    """Wherever it stands, at the beginning too."""
    odd = [message("Beep.", "robot"), message(None), message(""), {"role": "user", "content": 7}, {"a": 1}, 5]
    call = message(None, "assistant", tool_calls=[{"id": "c", "function": {"name": "f", "arguments": "{}"}}])
    found = read(lines(tmp_path / "m.jsonl", [*odd, call, message("I live in Lisbon."), *odd]))  # type: ignore[list-item]
    assert said(found) == ["I live in Lisbon."]
    assert sum(reasons(found).values()) == 2 * len(odd) + 1
    assert any("'robot' is no role" in reason for reason in reasons(found))
    assert reasons(found)[messages.CALL] == 1


def test_a_developers_message_is_one_of_the_system(tmp_path: Path) -> None:
    [talk] = talks(lines(tmp_path / "m.jsonl", [message("Be brief.", "developer"), message("Hi.", "Human")]))
    assert [turn.role for turn in talk.turns] == ["system", "user"]

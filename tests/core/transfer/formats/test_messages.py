"""Conversations as plain messages."""

from __future__ import annotations

from pathlib import Path

from core.transfer.records import Conversation
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, lines, read, written


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

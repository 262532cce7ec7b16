"""The conversations that the demo plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.demo import conversations
from api.demo.conversations import NoConversation
from core.events import parsing

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Look", "blip_caption": "a red boat"}],
            "session_2_date_time": "9:05 pm on 3 June, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a boat."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": "What did Ann buy?", "answer": "a boat", "evidence": ["D1:1"], "category": 4},
            {"question": "Which colour?", "answer": "red", "evidence": ["D1:1; D:2:1", "D9:9"], "category": 1},
            {"question": "What did Ben buy?", "adversarial_answer": "a boat", "evidence": ["D1:1"], "category": 5},
            {"question": "Why?", "answer": "nobody knows", "evidence": ["D7:1"], "category": 1},
        ],
    }
    for name in ("conv-1", "conv-2")
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(LOCOMO))
    return path


def test_the_shipped_conversation_is_what_it_is_said_to_be() -> None:
    talk = conversations.shipped_conversation()
    assert len(talk.turns) >= 80
    assert len(talk.sessions) >= 6
    assert (talk.turns[-1].time - talk.turns[0].time).days > 180
    assert [turn.time for turn in talk.turns] == sorted(turn.time for turn in talk.turns)
    assert {turn.time.year for turn in talk.turns} == {2026}
    assert any("\u4e00" <= character <= "\u9fff" for turn in talk.turns for character in turn.content)
    assert len(talk.questions) == conversations.QUESTIONS
    assert all(talk.turn(wanted) for asked in talk.questions for wanted in asked.expects)


def test_what_is_published_fits_the_contract() -> None:
    batches = list(conversations.events(conversations.shipped_conversation()))
    accepted = [event for batch in batches for event in parsing.check(batch)]
    assert len({event.id for event in accepted}) == len(accepted)
    assert [batch[-1]["event_type"] for batch in batches] == ["session.ended"] * len(batches)
    assert all(batch[-1]["payload"]["message_count"] == len(batch) - 1 for batch in batches)


def test_a_locomo_file_is_read_session_by_session(file: Path) -> None:
    talk = conversations.of_locomo(file, None)
    assert talk.user_id == "conv-1"
    assert [(turn.id, turn.role, turn.content) for turn in talk.turns] == [
        ("D1:1", "user", "I bought a boat."),
        ("D2:1", "assistant", "Look [shares a picture: a red boat]"),
    ]
    assert talk.turns[1].time.isoformat() == "2023-06-03T21:05:00+00:00"


def test_only_questions_whose_answer_stands_in_the_talk_are_asked(file: Path) -> None:
    asked = conversations.of_locomo(file, None).questions
    assert [(one.query, sorted(one.expects)) for one in asked] == [
        ("What did Ann buy?", ["D1:1"]),
        ("Which colour?", ["D1:1", "D2:1"]),
    ]


def test_a_conversation_is_chosen_by_its_name(file: Path) -> None:
    assert conversations.of_locomo(file, "conv-2").user_id == "conv-2"
    with pytest.raises(NoConversation, match=r"no conversation conv-3 .* conv-1, conv-2"):
        conversations.of_locomo(file, "conv-3")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "[1]", '[{"sample_id": "x"}]'])
def test_what_is_no_locomo_file_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(NoConversation) as refused:
        conversations.of_locomo(path, None)
    assert "\n" not in refused.value.detail


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoConversation, match="cannot be read"):
        conversations.of_locomo(tmp_path / "nothing.json", None)

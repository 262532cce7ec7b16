"""Codex: what was said, once, by session and project."""

from __future__ import annotations

from pathlib import Path

from core.transfer.formats import codex
from core.transfer.records import Conversation
from core.types import Json
from tests.core.transfer.vendors import lines, read, reasons, said

AT = "2026-07-29T08:00:00Z"


def line(kind: str, **payload: object) -> Json:
    return {"timestamp": AT, "type": kind, "payload": payload}


def item(role: str, text: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def event(kind: str, **fields: object) -> Json:
    return line("event_msg", type=kind, **fields)


ROLLOUT = [
    line("session_meta", id="r1", cwd="/home/ada/shop"),
    item("developer", "<permissions instructions>hidden"),
    item("user", "# AGENTS.md instructions for /home/ada/shop\n\n<INSTRUCTIONS>hidden</INSTRUCTIONS>"),
    item("user", "<environment_context>\n  <cwd>hidden</cwd>\n</environment_context>"),
    line("turn_context", cwd="/home/ada/shop"),
    item("user", "We use pnpm."),
    event("user_message", message="We use pnpm."),
    event("agent_reasoning", text="hidden"),
    line("response_item", type="reasoning", summary=[]),
    line("response_item", type="function_call", name="shell", arguments="{}"),
    line("response_item", type="function_call_output", output="hidden"),
    event("agent_message", message="Noted."),
    item("assistant", "Noted."),
    event("token_count", info={}),
    event("user_message", message="And yarn?"),
    event("user_message", message="And yarn?"),
]


def test_what_was_said_is_read_once_though_events_repeat_it(tmp_path: Path) -> None:
    found = read(lines(tmp_path / "rollout.jsonl", ROLLOUT))
    assert said(found) == ["We use pnpm.", "Noted.", "And yarn?", "And yarn?"]
    [talk] = [record for record in found if isinstance(record, Conversation)]
    assert (talk.id, talk.group) == ("codex/r1", "project:shop")
    assert str(talk.turns[0].at) == "2026-07-29 08:00:00+00:00"
    assert reasons(found) == {
        "a line of the type session_meta": 1,
        "a line of the type turn_context": 1,
        "a message of the role developer": 1,
        codex.PUT_IN: 2,
        codex.REPEATED: 2,
        "an event of the type agent_reasoning": 1,
        "an event of the type token_count": 1,
        "a thought": 1,
        "a tool's call": 1,
        "a tool's result": 1,
    }


def test_only_the_request_is_taken_of_what_an_editor_sends(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- x.py\n\n## My request for Codex:\nWe use pnpm.\n"
    assert said(read(lines(tmp_path / "r.jsonl", [ROLLOUT[0], item("user", text)]))) == ["We use pnpm."]

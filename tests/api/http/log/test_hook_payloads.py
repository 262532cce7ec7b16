"""What coding agents send is read in both spellings, and becomes the events that it reports."""

from __future__ import annotations

import pytest

from api.http.log import hook_payloads
from api.http.log.hook_payloads import HookPayload, HookReport
from core.events import parsing
from core.types import Json

CLAUDE = {
    "session_id": "7d1a",
    "prompt_id": "p-1",
    "transcript_path": "/home/ada/.claude/projects/-home-ada-work-imprint/7d1a.jsonl",
    "cwd": "/home/ada/work/Imprint",
    "permission_mode": "default",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "I prefer tabs.",
}
COPILOT = {"sessionId": "9f", "timestamp": 1760000000000, "cwd": "C:\\work\\shop", "prompt": "I prefer tabs."}


def report(told: Json, event: str | None = None, agent: str = "claude-code") -> HookReport:
    payload = HookPayload.model_validate(told)
    return HookReport(payload.hook(event), payload, "ada", agent, payload.cwd, None)


def test_a_prompt_is_a_message_of_the_user() -> None:
    [event] = hook_payloads.events(report(CLAUDE), "project:imprint")
    assert event["payload"] == {
        "session_id": "claude-code/7d1a",
        "user_id": "ada",
        "agent_id": "claude-code",
        "group_id": "project:imprint",
        "message_id": event["id"],
        "role": "user",
        "content": "I prefer tabs.",
        "tags": ["UserPromptSubmit"],
    }
    assert parsing.check([event])


def test_camel_case_and_names_of_copilot_are_read() -> None:
    [event] = hook_payloads.events(report(COPILOT, "userPromptSubmitted", "copilot-cli"), None)
    assert event["payload"]["session_id"] == "copilot-cli/9f"
    assert event["payload"]["content"] == "I prefer tabs."


@pytest.mark.parametrize(
    ("hook", "fields", "role"),
    [
        ("Stop", {"last_assistant_message": "Done."}, "assistant"),
        ("PostCompact", {"compact_summary": "They chose tabs."}, "system"),
    ],
)
def test_answers_and_compactions_are_messages(hook: str, fields: Json, role: str) -> None:
    [event] = hook_payloads.events(report({**CLAUDE, "hook_event_name": hook, **fields}), None)
    assert (event["payload"]["role"], event["payload"]["content"]) == (role, *fields.values())


def test_a_session_begins_and_ends() -> None:
    [start] = hook_payloads.events(report({**CLAUDE, "hook_event_name": "SessionStart"}), None)
    [end] = hook_payloads.events(report({**CLAUDE, "hook_event_name": "SessionEnd", "reason": "logout"}), None)
    assert (start["event_type"], end["event_type"]) == ("session.started", "session.ended")
    assert end["payload"]["reason"] == "logout"
    assert parsing.check([start, end])


@pytest.mark.parametrize(
    "told",
    [
        {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
        {"hook_event_name": "Stop"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "  "},
        {"hook_event_name": "SubagentStop", "last_assistant_message": "Found it."},
        {"hook_event_name": "of tomorrow"},
    ],
)
def test_what_is_no_news_is_no_event(told: Json) -> None:
    assert hook_payloads.events(report({**CLAUDE, "prompt": "", **told}), None) == []


def test_the_same_hook_twice_is_one_event_and_the_same_words_in_another_prompt_are_two() -> None:
    once, again, later = (
        hook_payloads.events(report({**CLAUDE, "prompt_id": one}), None)[0]["id"] for one in ("p-1", "p-1", "p-2")
    )
    assert once == again != later

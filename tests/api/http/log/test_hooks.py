"""Hooks of coding agents: prompts are answered with what is known, and what is reported is recorded."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from api.http.log import hooks
from core.config import Settings
from core.types import Json
from tests.doors import Doors, key_of
from tests.samples import TENANT
from tests.works import Works

PATH = "/v1/hooks/claude-code"


def sent(hook: str, **more: Any) -> Json:
    return {"session_id": "s1", "cwd": "/home/ada/imprint", "hook_event_name": hook, **more}


def call(door: Doors, told: Json, **params: str) -> str:
    """Call a hook; what it gives the model."""
    answer = door.post(PATH, told, params={"user_id": "ada", **params})
    assert answer.status_code == 200, answer.text
    if not answer.content:
        return ""
    found = answer.json()["hookSpecificOutput"]
    assert found["hookEventName"] == told["hook_event_name"]
    return str(found["additionalContext"])


def contents(door: Doors) -> list[tuple[str, str]]:
    page = door.get("/v1/sessions/claude-code/s1/messages").json()
    return sorted((one["role"], one["content"]) for one in page["items"])


def statements(door: Doors) -> list[tuple[str, int, int]]:
    """What is remembered besides episodes, with version and number of sources."""
    items = door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
    return sorted((i["content"], i["version"], len(i["sources"])) for i in items if i["category"] != "episode")


def test_what_was_told_in_one_session_is_known_in_the_next(door: Doors, works: Works) -> None:
    assert call(door, sent("UserPromptSubmit", prompt="I prefer pytest over unittest.")) == ""
    call(door, sent("Stop", last_assistant_message="Noted."))
    call(door, sent("SessionEnd", reason="logout"))
    works.settle()
    later = sent("UserPromptSubmit", prompt="Which test framework shall we use?") | {"session_id": "s2"}
    assert "pytest" in call(door, later)
    assert "pytest" in call(door, sent("SessionStart", source="startup") | {"session_id": "s3"})


def test_prompts_answers_compactions_and_the_end_are_recorded(door: Doors) -> None:
    call(door, sent("UserPromptSubmit", prompt="Hello."))
    call(door, sent("Stop", last_assistant_message="Hi."))
    call(door, sent("PostCompact", compact_summary="They greeted each other."))
    call(door, sent("PreToolUse", tool_name="Bash"))
    call(door, sent("SessionEnd"))
    assert contents(door) == [("assistant", "Hi."), ("system", "They greeted each other."), ("user", "Hello.")]
    assert door.get("/v1/session", params={"session_id": "claude-code/s1"}).json()["ended_at"] is not None


def test_a_prompt_does_not_find_itself(door: Doors) -> None:
    prompt = sent("UserPromptSubmit", prompt="Where does the zebra sleep?")
    assert call(door, prompt) == ""
    assert "zebra" not in call(door, sent("UserPromptSubmit", prompt="Hello."))


def test_one_project_does_not_see_the_other(door: Doors, works: Works) -> None:
    call(door, sent("UserPromptSubmit", prompt="We decided that the deploy branch is called harbour."))
    call(door, sent("UserPromptSubmit", prompt="I like the harbour branch name."))
    call(door, sent("SessionEnd"))
    works.settle()
    question = sent("UserPromptSubmit", prompt="What is the deploy branch called?")
    assert "harbour" in call(door, question | {"session_id": "s2"})
    elsewhere = question | {"session_id": "s3", "cwd": "/home/ada/shop"}
    assert "harbour" not in call(door, elsewhere)
    assert "harbour" in call(door, elsewhere | {"session_id": "s4"}, project="imprint")
    assert "harbour" in call(door, elsewhere | {"session_id": "s5"}, project=""), "without a project, all of the user"


@pytest.mark.parametrize("folder", ["/home/ada/imprint", "/home/ada/shop"])
def test_a_project_is_answered_with_what_is_known_of_the_person(door: Doors, works: Works, folder: str) -> None:
    """Said in a chat, or in another repository."""
    chat = {"session_id": "chat", "user_id": "ada", "role": "user", "content": "I am allergic to peanuts."}
    door.post("/v1/events", {"event_type": "message.added", "source": "chat", "payload": chat})
    door.post("/v1/events", {"event_type": "session.ended", "source": "chat", "payload": {**chat, "message_count": 3}})
    call(door, sent("UserPromptSubmit", prompt="I live in Lisbon."))
    call(door, sent("SessionEnd"))
    works.settle()
    start = sent("SessionStart", cwd=folder) | {"session_id": "s2"}
    assert all(word in call(door, start) for word in ("Lisbon", "peanuts")), "the profile"
    for question, answer in (("Where do I live?", "Lisbon"), ("What am I allergic to?", "peanuts")):
        prompt = sent("UserPromptSubmit", prompt=question, cwd=folder) | {"session_id": "s3"}
        assert answer in call(door, prompt)


def test_a_standing_wish_reaches_other_repositories_unless_it_names_its_own(door: Doors, works: Works) -> None:
    for wish in (
        "Always write commit messages in imperative mood.",
        "Never push to the main branch in this repository.",
    ):
        call(door, sent("UserPromptSubmit", prompt=wish))
    call(door, sent("SessionEnd"))
    works.settle()
    here = call(door, sent("SessionStart") | {"session_id": "s2"})
    assert "imperative mood" in here
    assert "main branch" in here
    elsewhere = call(door, sent("SessionStart", cwd="/home/ada/shop") | {"session_id": "s3"})
    assert "imperative mood" in elsewhere
    assert "main branch" not in elsewhere


def test_nobody_else_who_works_on_the_project_is_shown_what_is_personal(door: Doors, works: Works) -> None:
    assert door.post("/v1/memories", {"user_id": "ada", "content": "Ada is allergic to peanuts."}).is_success
    works.settle()
    question = sent("UserPromptSubmit", prompt="What is Ada allergic to?")
    assert "peanuts" in call(door, question)
    assert "peanuts" not in call(door, question | {"session_id": "s2"}, user_id="bob")


@pytest.mark.parametrize("again", ["Where do I live?", "where do I live", "Where do I live now?"])
def test_an_earlier_question_is_no_answer(door: Doors, again: str) -> None:
    call(door, sent("UserPromptSubmit", prompt="Where do I live?"))
    for project in ("imprint", ""):
        assert (
            call(door, sent("UserPromptSubmit", prompt=again) | {"session_id": f"s-{project}"}, project=project) == ""
        )


def test_a_session_keeps_its_project_when_the_agent_changes_its_folder(door: Doors) -> None:
    call(door, sent("SessionStart"))
    call(door, sent("UserPromptSubmit", prompt="Hello.") | {"cwd": "/home/ada/imprint/docs"})
    page = door.get("/v1/sessions/claude-code/s1/messages").json()
    assert [one["group_id"] for one in page["items"]] == ["project:imprint"]


def test_what_was_injected_is_never_learnt_again(door: Doors, works: Works) -> None:
    call(door, sent("UserPromptSubmit", prompt="I live in Lisbon. I work as a nurse."))
    call(door, sent("SessionEnd"))
    works.settle()
    known = statements(door)
    injected = call(door, sent("UserPromptSubmit", prompt="Where do I live?") | {"session_id": "s2"})
    assert "Lisbon" in injected
    time.sleep(0.6)  # Servings are written by a thread of their own, half a second later at most.
    for hook, field in (("Stop", "last_assistant_message"), ("PostCompact", "compact_summary")):
        call(door, sent(hook, **{field: injected}) | {"session_id": "s2"})
    call(door, sent("SessionEnd") | {"session_id": "s2"})
    works.settle()
    assert statements(door) == known
    assert len(known) == 2


def test_an_answer_stays_below_what_the_agent_shows(door: Doors, works: Works) -> None:
    for number in range(60):
        content = f"Service number {number} listens on port {5000 + number} and " + "is written in Rust " * 12
        assert door.post("/v1/memories", {"user_id": "ada", "content": content}).is_success
    works.settle()
    text = call(door, sent("UserPromptSubmit", prompt="Which service listens on which port?"), project="")
    assert 500 < len(text) < 10_000


def test_a_late_context_is_left_out_and_the_prompt_is_recorded(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "DEADLINE_SECONDS", 0.05)
    monkeypatch.setattr(hooks, "_context", lambda *_: time.sleep(0.5) or "late")
    began = time.monotonic()
    assert call(door, sent("UserPromptSubmit", prompt="Hello.")) == ""
    assert time.monotonic() - began < 0.4
    assert contents(door) == [("user", "Hello.")]


def test_a_context_that_fails_stops_no_agent(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_context", lambda *_: 1 / 0)
    assert call(door, sent("UserPromptSubmit", prompt="Hello.")) == ""
    assert contents(door) == [("user", "Hello.")]


def test_a_key_that_may_only_publish_is_told_nothing(door: Doors, settings: Settings, works: Works) -> None:
    call(door, sent("UserPromptSubmit", prompt="I live in Lisbon."))
    call(door, sent("SessionEnd"))
    works.settle()
    key = key_of(settings, TENANT, ("publish",))
    told = sent("UserPromptSubmit", prompt="Where do I live?") | {"session_id": "s2"}
    answer = door.post(PATH, told, params={"user_id": "ada"}, key=key)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("params", "told", "pointer"),
    [
        ({}, {"session_id": "s1"}, "/user_id"),
        ({"user_id": "ada"}, {}, "/session_id"),
        ({"user_id": "ada"}, {"session_id": "a/../b"}, "/session_id"),
        ({"user_id": "a\u0001"}, {"session_id": "s1"}, "/user_id"),
    ],
)
def test_bad_input_is_named(door: Doors, params: dict[str, str], told: Json, pointer: str) -> None:
    answer = door.post(PATH, told, params=params)
    assert answer.status_code == 422
    assert pointer in [one["pointer"] for one in answer.json()["errors"]]


def test_the_ready_settings_call_this_service(door: Doors, root: Path) -> None:
    settings = json.loads((root / "deploy/hooks/claude-code.settings.json").read_text())
    for hook, [entry] in settings["hooks"].items():
        [handler] = entry["hooks"]
        if handler["type"] == "http":
            path = handler["url"].removeprefix("http://127.0.0.1:8070")
            assert door.post(path, sent(hook, prompt="Hello.")).status_code == 200
            assert set(re.findall(r"\$(\w+)", json.dumps(handler["headers"]))) == set(handler["allowedEnvVars"])
        else:
            assert (hook, handler["command"]) == ("SessionStart", "imprint hook --user me")
    assert {"UserPromptSubmit", "Stop", "PostCompact", "SessionEnd", "SessionStart"} == settings["hooks"].keys()


def test_the_settings_of_copilot_have_its_form(root: Path) -> None:
    settings = json.loads((root / "deploy/hooks/copilot-cli.json").read_text())
    handler = {
        "type": "object",
        "required": ["type", "command", "timeoutSec"],
        "properties": {"type": {"const": "command"}, "command": {"pattern": "^imprint hook --user me "}},
    }
    schema = {
        "properties": {
            "version": {"const": 1},
            "hooks": {"additionalProperties": {"type": "array", "items": handler, "minItems": 1}},
        }
    }
    jsonschema.validate(settings, schema)
    assert shutil.which("imprint", path=str(Path(sys.executable).parent))

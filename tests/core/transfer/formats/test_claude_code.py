"""Claude Code: what was said, by session and project, among the lines of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.transfer.formats import claude_code
from core.transfer.records import Conversation, Note
from core.types import Json
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, lines, read, reasons, said

SNAPSHOT = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False}


def line(kind: str, content: object, **more: object) -> Json:
    base = {"sessionId": "s", "cwd": "/home/ada/shop", "timestamp": "2026-01-02T03:04:05Z", "uuid": f"u{content}"}
    return {**base, "type": kind, "message": {"role": kind, "content": content}, **more}


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


def test_a_transcript_that_begins_with_lines_of_the_program_is_recognised(tmp_path: Path) -> None:
    """Lines of the program between messages do not divide their conversation."""
    values = [SNAPSHOT, {"type": "summary", "summary": "x", "leafUuid": "y"}, line("user", "One."), SNAPSHOT]
    found = read(lines(tmp_path / "s.jsonl", [*values, line("assistant", "Two.")]))
    [talk] = [one for one in found if isinstance(one, Conversation)]
    assert [turn.text for turn in talk.turns] == ["One.", "Two."]
    assert reasons(found) == {"a line of the type file-history-snapshot": 2, "a line of the type summary": 1}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (line("user", "<command-message>init is running…</command-message>"), claude_code.PUT_IN),
        (line("user", "<command-name>/init</command-name>\n<command-args></command-args>"), claude_code.PUT_IN),
        (line("user", "<local-command-stdout>done"), claude_code.PUT_IN),
        (line("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]), claude_code.PUT_IN),
        (line("user", "This session is being continued from a previous conversation that …"), claude_code.PUT_IN),
        (line("user", "Ada likes tea.", isCompactSummary=True), "a summary that the program made"),
        (line("user", "Caveat", isMeta=True), "a message of the program"),
        (line("user", "Done.", origin={"kind": "task-notification"}), claude_code.NOT_HUMAN),
        (line("assistant", [{"type": "text", "text": "API Error: 529 overloaded"}]), "an error of the API"),
        (line("assistant", "Nothing.", isApiErrorMessage=True), "an error of the API"),
        (line("assistant", [{"type": "thinking", "thinking": "x"}]), "a thought"),
        (line("user", [{"type": "tool_result", "content": "x"}]), "a tool's result"),
        (line("user", ""), "an empty message"),
    ],
)
def test_what_nobody_has_said_is_left_out_and_counted(tmp_path: Path, value: Json, reason: str) -> None:
    found = read(lines(tmp_path / "s.jsonl", [value, line("user", "Hi.", origin={"kind": "human"})]))
    assert (said(found), reasons(found)) == (["Hi."], {reason: 1})


def test_words_behind_what_the_program_put_in_are_kept(tmp_path: Path) -> None:
    text = "<system-reminder>hidden</system-reminder>\n<ide_opened_file>x</ide_opened_file>We use pnpm."
    found = read(lines(tmp_path / "s.jsonl", [line("user", text), line("user", "API Error: what does it mean?")]))
    assert said(found) == ["We use pnpm.", "API Error: what does it mean?"]
    assert reasons(found) == {claude_code.PUT_IN: 1}

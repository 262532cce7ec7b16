"""Claude Code: what was said, by session and project."""

from __future__ import annotations

from pathlib import Path

from core.transfer.records import Conversation, Note
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER, lines, read, said


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

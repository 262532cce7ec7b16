"""`imprint demo` as a user runs it: from nothing to the answer, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.demo import conversations

pytestmark = pytest.mark.slow

ANSWERS = {
    "Where does Maya live now?": ("memory", "Porto"),
    "Does Maya have any allergies?": ("memory", "allergic to cashews"),
    "How does Maya want to be answered?": ("memory", "always answer me in short bullet points"),
    "外婆什么时候过生日？": ("memory", "外婆"),
    "When does Maya fly to Chengdu, and with whom?": ("memory", "18 December with Lian"),
}
"""What the first result of each question must be, and say."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run answered, said on the way, and left in the folder for temporary files."""

    code: int
    answer: Any
    said: str
    left: list[Path]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run, called where settings lie about that must not count."""
    temporary, folder = tmp_path_factory.mktemp("tmp"), tmp_path_factory.mktemp("cwd")
    (folder / ".env").write_text("IMPRINT_DATABASE_APP_URL=postgresql://nobody@127.0.0.1:1/nothing\n")
    strange = {"IMPRINT_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing", "IMPRINT_HTTP_PORT": "1"}
    environment = {**os.environ, **strange, "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "api.cli.main", "demo", "--json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Run(done.returncode, json.loads(done.stdout), done.stderr, list(temporary.iterdir()))


def test_every_answer_cites_the_message_that_holds_it(run: Run) -> None:
    assert [question["query"] for question in run.answer["questions"]] == list(ANSWERS)
    for question in run.answer["questions"]:
        cited = [s["message_id"] for result in question["results"][:5] for s in result["sources"]]
        assert set(question["expects"]) & set(cited), question["query"]


def test_the_first_result_says_it(run: Run) -> None:
    for question in run.answer["questions"]:
        kind, words = ANSWERS[question["query"]]
        first = question["results"][0]
        assert first["type"] == kind, question["query"]
        assert words in first["content"]
        assert question["found_at"] == 1


def test_every_memory_says_why_it_is_there(run: Run) -> None:
    memories = [r for question in run.answer["questions"] for r in question["results"] if r["type"] == "memory"]
    assert memories
    for memory in memories:
        rules = {"consolidate_on_session_end v1", "extract_while_chatting v1", "write_episodes v1"}
        assert memory["why"]["rule"] in rules
        assert memory["why"]["agent"] in {"memory_consolidator", "memory_extractor", "episode_writer"}


def test_all_that_was_published_was_worked_once(run: Run) -> None:
    talk, counts = conversations.shipped_conversation(), run.answer["counts"]
    assert counts["events"]["message.added"] == len(talk.turns)
    assert counts["events"]["session.ended"] == len(talk.sessions)
    assert {row["status"] for row in counts["dispatches"]} == {"done"}
    made = sum(row["count"] for row in counts["memories"])
    assert made == counts["events"]["memory.created"]


def test_the_memories_are_few_and_what_has_changed_is_superseded(run: Run) -> None:
    by_status: dict[str, int] = {}
    for row in run.answer["counts"]["memories"]:
        by_status[row["status"]] = by_status.get(row["status"], 0) + row["count"]
    assert 12 <= by_status["active"] <= 42
    assert by_status["superseded"] >= 3  # the city, the employer, the role


def test_progress_is_told_and_nothing_is_left_behind(run: Run) -> None:
    assert "5 of 5 answers cite the turn that holds them." in run.said
    assert run.left == []

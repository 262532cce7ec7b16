"""`imprint import`: a report first, then everything once, however often it is run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from api.cli.commands.transfer import imports
from core.errors import Later
from core.storage.db import Database
from tests.commands import Imprint
from tests.core.transfer import vendors
from tests.core.transfer.vendors import NUMBER
from tests.doors import Doors
from tests.samples import TENANT
from tests.works import Works

TELLING = [
    {"role": "user", "content": text, "session_id": "s1"} for text in ("I live in Lisbon.", "My dog is called Bo.")
]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([vendors.chatgpt(number) for number in range(NUMBER)]))
    return path


def count(app: Database, table: str) -> int:
    with app.tenant(TENANT) as tx:
        return int(tx.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_a_dry_run_reports_and_sends_nothing(imprint: Imprint, app: Database, export: Path) -> None:
    done = imprint("import", str(export), "--user", "ada", "--dry-run", "--json")
    found = done.json
    assert (found["formats"], found["conversations"], found["messages"]) == (["chatgpt"], 37, 111)
    assert found["skipped"]["the user told ChatGPT not to remember it (is_do_not_remember)"] == 4
    assert found["skipped"]["a picture"] == 37
    assert (found["odd"], done.code) == (0, 0)
    assert found["first"].startswith("2023-11-14")
    assert count(app, "events") == 0
    shown = imprint("import", str(export), "--user", "ada", "--dry-run")
    assert "37 conversations with 111 messages" in shown.out
    assert "left out: 4 × the user told ChatGPT not to remember it (is_do_not_remember) (conversa" in shown.err
    assert "conversations.json#/3, " in shown.err


def test_a_second_import_changes_nothing(imprint: Imprint, app: Database, export: Path) -> None:
    first = imprint("import", str(export), "--user", "ada", "--yes", "--json").json
    assert (first["accepted"], first["duplicates"]) == (111 + 37 + first["statements"], 0)
    stored = count(app, "events"), count(app, "messages")
    again = imprint("import", str(export), "--user", "ada", "--yes", "--json").json
    assert (again["accepted"], again["duplicates"]) == (0, first["accepted"])
    assert (count(app, "events"), count(app, "messages")) == stored


def test_without_a_word_nothing_is_sent(imprint: Imprint, app: Database, export: Path) -> None:
    assert imprint("import", str(export), "--user", "ada", stdin="n\n").code == 1
    assert count(app, "events") == 0


def test_talks_become_memories_without_a_model(imprint: Imprint, door: Doors, works: Works, tmp_path: Path) -> None:
    path = tmp_path / "talk.ndjson"
    path.write_text("".join(json.dumps(one) + "\n" for one in TELLING))
    assert imprint("import", str(path), "--user", "ada", "--yes").code == 0
    works.settle()
    found = [one["content"] for one in door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]]
    assert any("Lisbon" in one for one in found)
    assert any("Bo" in one for one in found)


def test_memories_of_mem0_are_stored_and_found_by_their_tag(
    imprint: Imprint, door: Doors, works: Works, tmp_path: Path
) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": [{"id": "1", "memory": "Likes green tea", "user_id": "ada"}]}))
    assert imprint("import", str(path), "--user", "ada", "--yes").code == 0
    works.settle()
    [one] = door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
    assert set(one["tags"]) >= {"imported", "unreviewed"}


@pytest.mark.parametrize("words", [("--dry-run",), ("--yes",)])
def test_one_odd_message_is_named_and_the_others_are_imported(
    imprint: Imprint, app: Database, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The exit code tells scripts that something was not understood."""
    path = tmp_path / "talk.ndjson"
    values = [{"role": "robot", "content": "Beep."}, *TELLING, {"role": "user", "content": None}]
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    done = imprint("import", str(path), "--user", "ada", *words)
    assert done.code == 3
    assert "1 conversations with 2 messages" in done.out
    assert "'robot' is no role" in done.err
    assert "talk.ndjson#/0" in done.err
    assert "left out: 1 × a message without words (talk.ndjson#/3)" in done.err
    assert count(app, "messages") == (0 if words == ("--dry-run",) else 2)


def test_what_is_of_no_known_format_fails(imprint: Imprint, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"hello": "world"}]')
    done = imprint("import", str(path), "--user", "ada", "--dry-run")
    assert done.code == 1
    assert "of a known format" in done.err


def test_memories_about_the_user_of_another_service_are_the_persons_own(
    imprint: Imprint, door: Doors, works: Works, tmp_path: Path
) -> None:
    """Named and merged like what was said here, and in the profile."""
    talk = tmp_path / "talk.ndjson"
    talk.write_text(json.dumps({"role": "user", "content": "I am allergic to almonds.", "session_id": "s1"}))
    saved = [{"id": str(n), "content": content} for n, content in enumerate(("User is allergic to almonds.",
             "User lives in Lisbon.", "User's sister is called Maria."))]  # fmt: skip
    (tmp_path / "saved.json").write_text(json.dumps({"memories": saved, "memory_max_tokens": 1}))
    for name in ("talk.ndjson", "saved.json"):
        assert imprint("import", str(tmp_path / name), "--user", "ada", "--yes").code == 0
        works.settle()
    found = [one["content"] for one in door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]]
    assert sum("almonds" in content for content in found) == 1
    assert not [content for content in found if "User" in content]
    profile = door.get("/v1/users/ada/profile").text
    assert "almonds" in profile
    assert "Lisbon" in profile


def test_a_memory_that_has_expired_elsewhere_is_not_active_here(
    imprint: Imprint, door: Doors, works: Works, tmp_path: Path
) -> None:
    at = "2025-01-01T00:00:00Z"
    rows = [{"id": "1", "memory": "Likes green tea", "created_at": at, "expiration_date": "2025-02-01"},
            {"id": "2", "memory": "Has a boat", "created_at": at, "expiration_date": "2999-02-01"}]  # fmt: skip
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(rows))
    assert imprint("import", str(path), "--user", "ada", "--yes").code == 0
    works.settle()
    [boat] = door.get("/v1/memories", params={"user_id": "ada"}).json()["items"]
    assert boat["content"] == "ada has a boat"
    assert boat["expires_at"].startswith("2999-02-02")


def test_notes_become_documents_once(imprint: Imprint, door: Doors, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Notes\nUse pnpm.")
    for _ in range(2):
        done = imprint("import", str(tmp_path), "--user", "ada", "--yes", "--json")
        assert done.json["documents"] == 1
    assert len(door.get("/v1/documents").json()["items"]) == 1


@pytest.mark.parametrize(
    ("words", "reason"), [(("none.json",), "no file or folder"), (("x", "--only", "y"), "no format")]
)
def test_what_cannot_be_imported_is_said(imprint: Imprint, words: tuple[str, ...], reason: str) -> None:
    done = imprint("import", *words, "--user", "ada")
    assert done.code in {1, 2}
    assert reason in done.err


@pytest.mark.slow
def test_half_a_gigabyte_is_read_within_200_mib(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    one = json.dumps({**vendors.chatgpt(1), "padding": "x" * 200_000})
    with path.open("w") as file:
        file.write("[" + one)
        for _ in range(500_000_000 // len(one)):
            file.write(",\n" + one)
        file.write("]")
    assert path.stat().st_size > 500_000_000
    command = [sys.executable, "-m", "api.cli.main", "import", str(path), "--user", "ada", "--dry-run", "--json"]
    script = (
        f"import resource, subprocess; subprocess.run({command!r}, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 200 * 1024


def test_what_was_imported_is_in_the_list_of_imports(
    imprint: Imprint, door: Doors, app: Database, export: Path
) -> None:
    sent = imprint("import", str(export), "--user", "ada", "--yes", "--json").json
    [listed] = door.get("/v1/imports").json()["items"]
    assert (listed["user_id"], listed["formats"], listed["status"]) == ("ada", ["chatgpt"], "done")
    report = listed["report"]
    assert (report["messages"], report["accepted"], report["duplicates"]) == (111, sent["accepted"], 0)
    assert report["skipped"]["a picture"] == 37
    imprint("import", str(export), "--user", "ada", "--dry-run")
    assert len(door.get("/v1/imports").json()["items"]) == 1


def test_an_import_that_breaks_off_is_in_the_list_as_failed(
    imprint: Imprint, door: Doors, app: Database, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Later("The server has ended.")

    monkeypatch.setattr(imports, "_post", refuse)
    assert imprint("import", str(export), "--user", "ada", "--yes").code == 1
    [listed] = door.get("/v1/imports").json()["items"]
    assert (listed["status"], listed["report"]["accepted"]) == ("failed", 0)
    assert "interrupted" in listed["error"][0]["detail"]

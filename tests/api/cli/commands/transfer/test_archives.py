"""An archive of Imprint is checked here, uploaded, and followed until the workers have restored it."""

from __future__ import annotations

from pathlib import Path

from core.types import Json
from tests.commands import Imprint, working
from tests.core.transfer.rich import changed
from tests.doors import Doors
from tests.works import Works


def test_an_archive_of_imprint_is_restored_once_and_can_be_given_to_another_user(
    imprint: Imprint, door: Doors, works: Works, tmp_path: Path
) -> None:
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada owns a boat.", "tags": ["sea"]})
    path = tmp_path / "ada.zip"
    assert imprint("user", "export", "ada", "-o", str(path)).code == 0
    shown = imprint("import", str(path), "--user", "eve", "--dry-run")
    assert "1 statements" in shown.out
    assert door.get("/v1/imports").json()["items"] == []
    with working(works):
        done = imprint("import", str(path), "--user", "eve", "--yes", "--settle")
        again = imprint("import", str(path), "--user", "eve", "--yes")
    assert "1 of 1 lines restored, settled." in done.out
    assert "0 of 1 lines restored, 1 there already." in again.out
    found = door.get("/v1/memories", params={"user_id": "eve"}).json()["items"]
    assert [(one["content"], one["tags"]) for one in found] == [("Ada owns a boat.", ["sea"])]


def test_a_broken_archive_is_refused_with_the_place(imprint: Imprint, door: Doors, tmp_path: Path) -> None:
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada owns a boat."})

    def lie(found: dict[str, list[Json]]) -> None:
        found["memories"][0]["trust"] = "divine"

    path = tmp_path / "ada.zip"
    path.write_bytes(changed(door.get("/v1/users/ada/export").content, lie))
    done = imprint("import", str(path), "--user", "eve", "--yes")
    assert done.code == 1
    assert "/trust: memories.jsonl:1: Input should be" in done.err


def test_without_workers_it_says_that_nothing_happens(imprint: Imprint, door: Doors, tmp_path: Path) -> None:
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada owns a boat."})
    path = tmp_path / "ada.zip"
    path.write_bytes(door.get("/v1/users/ada/export").content)
    done = imprint("import", str(path), "--user", "eve", "--yes", "--timeout", "0.5")
    assert (done.code, "is still pending" in done.err) == (1, True)

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.commands.host import mirror
from core.config import Settings
from core.errors import Misconfigured
from core.storage.db import Database
from tests.factories import a_memory, carry_out
from tests.samples import TENANT
from tests.workers.mirrors import Desk, desk
from tests.works import at_work


@pytest.fixture
def folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the mirror, set for commands of this process."""
    found = tmp_path / "mirror"
    mirrored = settings.model_copy(update={"mirror_dir": found})
    monkeypatch.setattr(mirror, "Settings", lambda: mirrored)
    return found


def answer(*words: str) -> Any:
    done = CliRunner().invoke(mirror.commands, [*words, "--tenant", TENANT, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def stands(*words: str) -> dict[str, str]:
    return {row["file"]: row["stands"] for row in answer("show", *words)["items"]}


def test_it_says_where_the_files_are(folder: Path) -> None:
    assert answer("where") == {"path": str(folder), "git": False}
    assert answer("where", "--user", "a/b")["path"] == str(folder / TENANT / "a%2Fb")


def test_without_a_folder_it_says_what_to_set(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "Settings", lambda: settings)
    with pytest.raises(Misconfigured, match="IMPRINT_MIRROR_DIR"):
        CliRunner().invoke(mirror.commands, ["show"], catch_exceptions=False)


def test_it_shows_how_files_stand_and_has_them_brought_level(folder: Path, settings: Settings, app: Database) -> None:
    carry_out(app, a_memory("Ada has a cat."))
    with at_work(settings.model_copy(update={"mirror_dir": folder})) as works:
        here: Desk = desk(settings.model_copy(update={"mirror_dir": folder}), app, works)
        assert stands() == {"memory.md": "none", "learnings.md": "none"}
        assert answer("sync") == {"users": ["ada"], "edited": 0}
        works.settle()
        assert stands("--user", "ada") == {"memory.md": "level", "learnings.md": "none"}
        (row, _) = answer("show")["items"]
        assert (row["memories"], row["path"], row["user_id"]) == (1, str(here.path()), "ada")
        here.path().write_text(here.text().replace("a cat", "two cats"))
        assert stands()["memory.md"] == "edited"
        assert answer("sync", "--user", "ada")["edited"] == 1
        works.settle()
        assert "Ada has two cats." in here.rows()
        here.path().write_text("nothing")
        assert stands()["memory.md"].startswith("refused: It does not begin with front matter")
        here.path().unlink()
        assert stands()["memory.md"] == "missing"


def test_people_get_a_table(folder: Path, app: Database) -> None:
    carry_out(app, a_memory("Ada has a cat."))
    done = CliRunner().invoke(mirror.commands, ["show", "--tenant", TENANT], catch_exceptions=False)
    assert "memory.md" in done.output
    assert "none" in done.output

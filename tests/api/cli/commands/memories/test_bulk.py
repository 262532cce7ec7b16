"""`imprint memory bulk`: what would happen, a question, the work."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from api.cli.client import read
from core.storage.db import Database
from core.types import Json
from tests.commands import Imprint, working
from tests.factories import a_memory, carry_out
from tests.works import Works


@pytest.fixture
def memories(app: Database) -> list[str]:
    made = [a_memory("Ada plays the cello."), a_memory("Ada lives in Lisbon.")]
    carry_out(app, *made)
    return [str(one.id) for one in made]


def statuses(ids: list[str]) -> list[Json]:
    return [read(f"/v1/memories/{one}")["status"] for one in ids]


def test_a_preview_lists_rows_and_changes_nothing(imprint: Imprint, works: Works, memories: list[str]) -> None:
    with working(works):
        said = imprint("memory", "bulk", "archive", "--user", "ada", "--preview")
    assert said.code == 0, said.err
    assert "archive of 2 memories would leave 2 done, 0 unchanged, 0 refused." in said.out
    assert "Ada plays the cello." in said.out
    assert statuses(memories) == ["active", "active"]


def test_it_does_what_it_has_shown(imprint: Imprint, works: Works, memories: list[str]) -> None:
    with working(works):
        said = imprint("memory", "bulk", "archive", "--user", "ada", "--contains", "cello", "--yes")
        erased = imprint("memory", "bulk", "erase", "--id", memories[1][-8:], "--yes")
    assert "archive: 1 done" in said.out
    assert statuses(memories[:1]) == ["archived"]
    assert "erase: 1 done" in erased.out
    assert imprint("memory", "show", memories[1]).code != 0


def test_the_number_has_to_be_typed(
    imprint: Imprint, works: Works, memories: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with working(works):
        assert "add --yes" in imprint("memory", "bulk", "pin", "--user", "ada").err
        monkeypatch.setattr(
            "api.cli.commands.memories.bulk.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
        )
        monkeypatch.setattr("typer.prompt", lambda *_, **__: "7")
        refused = imprint("memory", "bulk", "pin", "--user", "ada")
    assert (refused.code, "Nothing was changed" in refused.err) == (1, True)
    assert not any(read(f"/v1/memories/{one}")["pinned"] for one in memories)


def test_wrong_words_are_refused(imprint: Imprint) -> None:
    assert "is not one of" in imprint("memory", "bulk", "burn", "--user", "ada").err
    assert "either by --id" in imprint("memory", "bulk", "pin").err

"""A mirror at work in the tests: a folder, the rules that keep it, and a person who edits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.memory.changes import Add, Change, Edit
from core.storage.db import Database
from core.types import Event
from tests.factories import EMBEDDER, carry_out, events_since, memory_row
from tests.samples import TENANT
from tests.works import Works, at_work
from workers.mirror_watcher import MirrorPoll


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a person edits the files of ada."""

    settings: Settings
    app: Database
    works: Works
    watch: MirrorPoll
    folder: Path

    def path(self, file: str = "memory.md") -> Path:
        return self.folder / file

    def text(self, file: str = "memory.md") -> str:
        return self.path(file).read_bytes().decode()

    def edit(self, change: Callable[[str], str], file: str = "memory.md") -> None:
        """Save the file with other text, written a while ago, and let everything follow."""
        self.path(file).write_bytes(change(self.text(file)).encode())
        self.age(file)
        self.notice()

    def age(self, file: str = "memory.md", seconds: float = 60) -> None:
        """As if it had been saved so long ago."""
        then = time.time() - seconds
        os.utime(self.path(file), (then, then))

    def notice(self) -> int:
        """Two looks, as a save must stand from one to the next; then all that follows. How many saves were noticed."""
        found = self.watch.look() + self.watch.look()
        self.works.settle()
        return found

    def keep(self, *wanted: Change) -> None:
        """Change what is remembered, and let everything follow."""
        carry_out(self.app, *wanted)
        self.works.settle()

    def rows(self) -> dict[str, Any]:
        """The active memories by what they say."""
        select = text("SELECT * FROM memories WHERE user_id = 'ada' AND status = 'active' ORDER BY id")
        with self.app.tenant(TENANT) as tx:
            return {row.content: row for row in tx.execute(select)}

    def versions(self, memory_id: UUID) -> list[tuple[str, str, str]]:
        """Each change of a memory: its name, its author, what it says since then."""
        select = text("SELECT * FROM memory_versions WHERE memory_id = :id ORDER BY version")
        with self.app.tenant(TENANT) as tx:
            rows = tx.execute(select, {"id": memory_id})
            return [(row.change, row.author["name"], row.snapshot["content"]) for row in rows]

    def told(self, event_type: str) -> list[Event]:
        with self.app.tenant(TENANT) as tx:
            return [event for event in events_since(tx, 0, 10_000) if event.event_type == event_type]

    def results(self, target: str) -> list[Any]:
        """What the dispatches of an agent have answered, oldest first; those that failed with their reason."""
        select = text("SELECT result, error FROM dispatches WHERE target = :target ORDER BY id")
        with self.app.tenant(TENANT) as tx:
            return [row.result or row.error for row in tx.execute(select, {"target": target})]


def desk(settings: Settings, app: Database, works: Works) -> Desk:
    """A desk on settings with a mirror; the rules that keep it are in force."""
    assert settings.mirror_dir is not None
    return Desk(settings, app, works, MirrorPoll(app, settings.mirror_dir), settings.mirror_dir / TENANT / "ada")


def line_of(text_of_file: str, words: str) -> str:
    """The line that holds these words."""
    (line,) = [line for line in text_of_file.splitlines(keepends=True) if words in line]
    return line


def ids(*adds: Add) -> list[UUID]:
    return [add.id for add in adds]


@pytest.fixture
def at_desk(settings: Settings, app: Database, tmp_path: Path) -> Iterator[Desk]:
    mirrored = settings.model_copy(update={"mirror_dir": tmp_path / "mirror"})
    with at_work(mirrored) as works:
        yield desk(mirrored, app, works)


CAT, LISBON, UMBRELLA = "Ada has a cat.", "Ada lives in Lisbon.", "Ada takes an umbrella on Fridays."


def level(at_desk: Desk) -> bool:
    """Whether looking again finds nothing to do."""
    before = len(at_desk.results("mirror_reader"))
    return at_desk.notice() == 0 and len(at_desk.results("mirror_reader")) == before


def without(words: str) -> Callable[[str], str]:
    return lambda said: said.replace(line_of(said, words), "")


def reworded(at_desk: Desk, memory_id: object, words: str) -> None:
    """The database changes a memory before anyone writes the file."""
    now = memory_row(at_desk.app, memory_id)  # type: ignore[arg-type]
    carry_out(at_desk.app, Edit(now.id, now.version, {"content": words}, "said later", EMBEDDER.embed([words])[0]))

"""A conversation becomes memories, these become files, and what people edit there, by whatever means, is taken over."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.config import Settings
from core.storage.db import Database
from tests.patience import PATIENCE_SECONDS
from tests.samples import accept_all, ended, said
from tests.workers.mirrors import Desk, desk, line_of
from tests.works import at_work
from workers.mirror_watcher import MirrorWatcher

OLD, NEW = "sister is called Anna", "sister is called Anne"
TALK = ("I live in Lisbon. My sister is called Anna.", "Please always answer in short bullet points.")
"""Two messages: an episode, which takes three, would quote what is edited here."""


@pytest.fixture
def at_desk(settings: Settings, app: Database, tmp_path: Path) -> Iterator[Desk]:
    """After a conversation that was learnt from."""
    mirrored = settings.model_copy(update={"mirror_dir": tmp_path / "mirror"})
    with at_work(mirrored) as works:
        found = desk(mirrored, app, works)
        accept_all(app, [*(said(content, speaker="Ada") for content in TALK), ended(message_count=3)])
        works.settle()
        yield found


def swap(text: str) -> str:
    assert OLD in text
    return text.replace(OLD, NEW)


def vim(*options: str) -> Callable[[Path], None]:
    """With its own ways to save: by renaming the old file away, or by writing over it; with backups or without."""

    def save(path: Path) -> None:
        words = [part for option in options for part in ("-c", f"set {option}")]
        command = ["vim", "-es", "-u", "NONE", "-N", *words, "-c", f"%s/{OLD}/{NEW}/", "-c", "wq", path.name]
        subprocess.run(command, cwd=path.parent, check=True, timeout=60, stdin=subprocess.DEVNULL)

    return save


def sed(path: Path) -> None:
    subprocess.run(["sed", "-i", f"s/{OLD}/{NEW}/", str(path)], check=True)


def ed(path: Path) -> None:
    subprocess.run(["ed", "-s", str(path)], input=f",s/{OLD}/{NEW}/\nw\nq\n", text=True, check=True)


def write_over(path: Path) -> None:
    path.write_text(swap(path.read_text()))


def rename_over(path: Path) -> None:
    """As editors that save atomically do: a new file beside it takes its name."""
    beside = path.with_name(".memory.md.x7f3a")
    beside.write_text(swap(path.read_text()))
    beside.replace(path)


def backup_and_create(path: Path) -> None:
    text = path.read_text()
    path.rename(path.with_name("memory.md~"))
    path.write_text(swap(text))


def remove_and_create(path: Path) -> None:
    text = path.read_text()
    path.unlink()
    path.write_text(swap(text))


def for_windows(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + swap(path.read_text()).replace("\n", "\r\n").encode())


def reformatted(path: Path) -> None:
    """As a formatter leaves it: other bullets, no space at line ends, front matter without quotes."""
    text = swap(path.read_text()).replace("\n- ", "\n* ").replace('"', "")
    path.write_text(text)


def with_old_times(path: Path) -> None:
    """As a copy that keeps its times is put back."""
    write_over(path)
    os.utime(path, (1, 1))


def needs(name: str, save: Callable[[Path], None], label: str) -> object:
    return pytest.param(save, id=label, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name} here"))


PATTERNS = [
    needs("vim", vim("backupcopy=no", "backup", "writebackup"), "vim renames"),
    needs("vim", vim("backupcopy=yes", "nobackup", "nowritebackup"), "vim writes over"),
    needs("sed", sed, "sed -i"),
    needs("ed", ed, "ed"),
    *(write_over, rename_over, backup_and_create, remove_and_create, for_windows, reformatted, with_old_times),
]


@pytest.mark.parametrize("save", PATTERNS)
def test_however_an_editor_saves_the_edit_is_taken_over(at_desk: Desk, save: Callable[[Path], None]) -> None:
    before = at_desk.rows()
    assert len(before) >= 3
    (sister,) = [row for content, row in before.items() if OLD in content]
    at_desk.watch.look()
    save(at_desk.path())
    assert at_desk.notice() == 1
    after = at_desk.rows()
    assert {content.replace(OLD, NEW) for content in before} == set(after)
    changed = after[sister.content.replace(OLD, NEW)]
    assert (changed.id, changed.version) == (sister.id, sister.version + 1)
    assert at_desk.versions(sister.id)[-1] == ("edit", "file", changed.content)
    assert NEW in at_desk.text()
    assert at_desk.notice() == 0


@pytest.mark.parametrize("pieces", [2, 7])
def test_a_file_that_is_written_piece_by_piece_is_read_when_it_is_whole(at_desk: Desk, pieces: int) -> None:
    """Truncated, then written in steps, each of which stands for longer than two looks are apart."""
    before, text = set(at_desk.rows()), swap(at_desk.text())
    at_desk.path().write_text("")
    for end in range(1, pieces + 1):
        at_desk.notice()
        at_desk.path().write_text(text[: len(text) * end // pieces] if end < pieces else text)
    at_desk.notice()
    assert set(at_desk.rows()) == {content.replace(OLD, NEW) for content in before}
    assert at_desk.told("mirror.refused") == []


def test_a_person_writes_down_moves_and_deletes_and_the_next_conversation_keeps_it(at_desk: Desk) -> None:
    text = at_desk.text()
    lisbon = line_of(text, "lives in Lisbon")
    text = text.replace(lisbon, "") + "\n## Plans\n\n- Ada wants to learn to sail.\n"
    at_desk.path().write_text(text)
    at_desk.notice()
    plan = at_desk.rows()["Ada wants to learn to sail."]
    assert plan.category == "plan"
    assert not any("lives in Lisbon" in content for content in at_desk.rows())
    accept_all(at_desk.app, [said("I work as a nurse.", session="s2", speaker="Ada"), ended("s2", message_count=3)])
    at_desk.works.settle()
    now = at_desk.text()
    assert f"- Ada wants to learn to sail. <!-- id:{plan.id} -->\n" in now
    assert "nurse" in now
    assert "lives in Lisbon" not in now


def test_the_watcher_notices_by_itself(at_desk: Desk) -> None:
    assert at_desk.settings.mirror_dir is not None
    watcher = MirrorWatcher(at_desk.app, at_desk.settings.mirror_dir)
    try:
        write_over(at_desk.path())
        end = time.monotonic() + PATIENCE_SECONDS
        while not at_desk.told("mirror.edited"):
            assert time.monotonic() < end, "nobody has noticed"
            time.sleep(0.1)
    finally:
        watcher.close()
    at_desk.works.settle()
    assert any(NEW in content for content in at_desk.rows())

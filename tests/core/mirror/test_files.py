from __future__ import annotations

import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import Later
from core.mirror import files
from core.mirror.front_matter import UnreadableFile


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=200))
@example("..")
@example(".git")
@example("a/../../b")
@example("con.")
@example("100%")
@example("%2E")
@example("外婆" * 100)
def test_any_name_is_that_of_one_folder_and_leads_nowhere_else(name: str) -> None:
    folder = files.folder_name(name)
    assert folder.isascii()
    assert "/" not in folder
    assert not folder.startswith((".", " "))
    assert len(folder) <= 180
    assert files.user_of_folder(folder) in {name, None}
    assert files.user_of_folder(folder) == name or len(folder.encode()) >= 140


@given(st.text(min_size=1, max_size=60).filter(lambda s: s.isprintable()))
def test_two_names_never_share_a_folder(name: str) -> None:
    others = {name + "x", name.swapcase(), name.replace("%", ""), f"%{name}", name + "." * 2} - {name, ""}
    assert files.folder_name(name) not in {files.folder_name(other) for other in others}


def test_plain_names_stay_readable() -> None:
    assert [files.folder_name(name) for name in ("ada", "Ada.Lovelace@x.org", "user-7", "a b")] == [
        *("ada", "Ada.Lovelace@x.org", "user-7", "a b")
    ]


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "memory.md"
    first = files.replace(path, "one\n", None)
    path.chmod(0o640)
    seen = files.read(path)
    assert seen is not None
    assert (seen.text, seen.digest) == (first.text, first.digest)
    files.replace(path, "two\n", seen)
    assert path.read_text() == "two\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["memory.md"]


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("more\n")


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def rename_over(path: Path) -> None:
    other = path.with_name("new")
    other.write_text("one\n")
    other.replace(path)


@pytest.mark.parametrize("act", [append, touch, rename_over, Path.unlink])
def test_what_was_written_meanwhile_is_not_written_over(tmp_path: Path, act: Callable[[Path], None]) -> None:
    path = tmp_path / "memory.md"
    path.write_text("one\n")
    seen = files.read(path)
    act(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(Later):
        files.replace(path, "two\n", seen)
    assert (path.read_bytes() if path.exists() else None) == before
    assert [entry.name for entry in tmp_path.iterdir()] == (["memory.md"] if before is not None else [])


def test_a_file_that_has_come_back_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_text("mine\n")
    with pytest.raises(Later, match="created again"):
        files.replace(path, "two\n", None)
    assert path.read_text() == "mine\n"


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    path, texts, stop = tmp_path / "memory.md", {"a" * 300_000, "b" * 300_000}, threading.Event()
    files.replace(path, "a" * 300_000, None)

    def write() -> None:
        n = 0
        while not stop.is_set():
            files.replace(path, sorted(texts)[n % 2], files.read(path))
            n += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert {path.read_text() for _ in range(300)} <= texts
    finally:
        stop.set()
        thread.join()


def test_what_a_dead_process_left_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / ".memory.md.tmp").write_text("half")
    files.replace(tmp_path / "memory.md", "whole\n", None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory.md"]


def test_only_plain_text_files_are_read(tmp_path: Path) -> None:
    assert files.read(tmp_path / "none" / "memory.md") is None
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "secret")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "zero.md").write_bytes(b"a\x00b")
    with (tmp_path / "large.md").open("wb") as large:
        large.truncate(files.LARGEST + 1)
    for name, why in (
        *(("link.md", "opened"), ("folder.md", "regular"), ("pipe.md", "regular")),
        *(("latin.md", "UTF-8 at byte 3"), ("zero.md", "zero"), ("large.md", "larger")),
    ):
        with pytest.raises(UnreadableFile, match=why):
            files.read(tmp_path / name)


@pytest.mark.parametrize(
    "stray", ["memory.md~", ".memory.md.swp", "#memory.md#", "memory.md.bak", ".memory.md.tmp", "4913", "other.md"]
)
def test_what_editors_leave_beside_a_file_is_not_seen(tmp_path: Path, stray: str) -> None:
    folder = tmp_path / "acme" / "ada"
    folder.mkdir(parents=True)
    (folder / stray).write_text("x")
    (tmp_path / ".git" / "x").mkdir(parents=True)
    (tmp_path / ".git" / "x" / "memory.md").write_text("x")
    assert list(files.stamps(tmp_path)) == []
    (folder / "memory.md").write_text("x")
    assert [path for path, _ in files.stamps(tmp_path)] == [str(folder / "memory.md")]
    assert files.remove(folder) == 2
    assert not folder.exists()


def test_a_stamp_changes_with_every_way_to_save(tmp_path: Path) -> None:
    folder = tmp_path / "acme" / "ada"
    folder.mkdir(parents=True)
    path = folder / "memory.md"
    path.write_text("one\n")
    os.utime(path, ns=(1, 1))

    def stamp() -> files.Stamp:
        return dict(files.stamps(tmp_path))[str(path)]

    seen = {stamp()}
    append(path)
    seen.add(stamp())
    rename_over(path)
    os.utime(path, ns=(1, 1))
    seen.add(stamp())
    if shutil.which("sed"):
        subprocess.run(["sed", "-i", "s/one/two/", str(path)], check=True)
        seen.add(stamp())
        assert path.read_text() == "two\n"
    assert len(seen) >= 3


def test_a_folder_that_is_a_link_is_not_followed_and_goes_without_what_is_behind_it(tmp_path: Path) -> None:
    behind, folder = tmp_path / "behind", tmp_path / "ada"
    behind.mkdir()
    (behind / "memory.md").write_text("Theirs.")
    folder.symlink_to(behind)
    with pytest.raises(UnreadableFile, match="symbolic link"):
        files.read(folder / "memory.md")
    assert files.remove(folder) == 1
    assert (folder.is_symlink(), (behind / "memory.md").read_text()) == (False, "Theirs.")

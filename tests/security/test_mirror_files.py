"""Mirror files are closed to other users of the machine, and nothing in them runs or is fetched when they are shown."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.mirror import arrangement, escaping, files, front_matter, git, markdown
from core.mirror.markdown import ShownMemory

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![seen](https://evil.example/pixel.png)",
    "![seen][pixel]",
    "[click](javascript:alert(1))",
    "[click](https://evil.example)",
    "<https://evil.example>",
    "<!-- a comment --> <b>bold</b>",
    "a < b, ![, ](, ][, \\<i>, \\![x](y), \\\\<u>, &lt;s>",
)

NAMES = {"tenant": "t", "user": "<script>x</script> ![a](http://b)", "file": "memory.md"}


def previewed(text: str) -> str:
    """What a preview that lets HTML through shows."""
    return MarkdownIt("commonmark", {"html": True, "linkify": False}).render(text)


@pytest.fixture
def loose() -> None:
    """The umask of most systems, by which new files are readable for everyone."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(root: Path) -> tuple[set[int], set[int]]:
    """The modes of all folders, and whether anybody else may do anything with a file."""
    found = [root, *root.rglob("*")]
    folders = {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_dir()}
    return folders, {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in found if path.is_file()}


@pytest.mark.usefixtures("loose")
def test_folders_and_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "mirror"
    place = files.folder(root, "acme", "ada") / "memory.md"
    seen = files.replace(place, "one\n", None)
    files.replace(place, "two\n", seen)
    assert modes(tmp_path / "deep") == ({0o700}, {0})


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.usefixtures("loose")
def test_so_is_everything_that_git_keeps(tmp_path: Path) -> None:
    root = tmp_path / "mirror"
    place = files.folder(root, "acme", "ada")
    files.replace(place / "memory.md", "one\n", None)
    assert git.commit(root, place, "first")
    assert git.purge(root, place) == "purged"
    folders, others = modes(root)
    assert (folders, others) == ({0o700}, {0})


@pytest.mark.parametrize("content", HOSTILE)
def test_no_statement_becomes_markup_in_a_preview(content: str) -> None:
    line = markdown.memory_line(ShownMemory(content), UUID(int=7))
    shown = previewed(line).replace(f"<!-- id:{UUID(int=7)} -->", "")
    for tag in ("<script", "<img", "<a ", "<b>", "<i>", "<u>", "<!--"):
        assert tag not in shown
    assert escaping.unescape(escaping.escape(content)) == content


@given(st.text(alphabet="<>![]()\\&#;:/abr-{}\n ", max_size=40))
def test_every_mixture_of_marks_is_read_back_and_shows_no_tag(content: str) -> None:
    text = escaping.escape(content)
    assert escaping.unescape(text) == content
    blocks = MarkdownIt("commonmark", {"html": True}).parse(f"- x{text}\n")
    within = [token for block in blocks for token in block.children or ()]
    assert not {token.type for token in (*blocks, *within)} & {"image", "link_open", "html_block"}
    assert {token.content for token in within if token.type == "html_inline"} <= {"<br>"}


def test_no_name_becomes_markup_in_a_preview() -> None:
    written = markdown.render(arrangement.fresh("memory.md", front_names()))
    shown = previewed(written)
    assert "<script" not in shown
    assert "<img" not in shown
    assert markdown.parse(written).front.values["user"] == NAMES["user"]


def front_names() -> dict[str, str]:
    return {key: NAMES.get(key, "1") for key in front_matter.KEYS}

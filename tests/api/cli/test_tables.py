"""Lists at any width: ids whole, words unbroken, one row a thing while it fits."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from api.cli import tables
from api.cli.tables import Column
from api.terminal import SafeConsole

COLUMNS = (Column("id"), Column("owner"), Column("memory", flexible=True))
ROWS = [
    ["89a34d44", "ada", "ada works as a data engineer at a company called Nordtec in the harbour district."],
    ["e658701b", "bob", "我住在杭州。"],
]


def printed(width: int, rows: list[list[str]], columns: tuple[Column, ...] = COLUMNS) -> list[str]:
    file = io.StringIO()
    tables.rows(columns, rows, SafeConsole(file=file, width=width, force_terminal=True, no_color=True))
    return file.getvalue().replace("\x1b[1;2m", "").replace("\x1b[0m", "").splitlines()


def test_a_row_takes_one_line_and_is_cut_behind_a_word() -> None:
    heading, first, second = printed(60, ROWS)
    assert heading.split() == ["id", "owner", "memory"]
    assert first == "89a34d44  ada    ada works as a data engineer at a company…"
    assert second == "e658701b  bob    我住在杭州。"


def test_where_it_is_too_narrow_a_text_stands_below_its_id() -> None:
    lines = printed(24, ROWS)
    assert lines[0] == "89a34d44 ada"
    assert lines[1] == "  ada works as a data"


@given(st.integers(10, 200), st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_no_id_is_ever_cut_and_no_word_is_broken(width: int, texts: list[str]) -> None:
    rows = [["89a34d44", "ada", text] for text in texts]
    lines = printed(width, rows)
    assert sum("89a34d44" in line for line in lines) == len(rows)
    words = {word for text in texts for word in tables.visible(text).split()}
    longest = max((cell_len(word) for word in words), default=0)
    if longest < width - len(tables.INDENT):
        assert all(cell_len(line) <= width for line in lines)


def test_a_pipe_gets_rows_in_full_without_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    file = io.StringIO()
    tables.rows(COLUMNS, ROWS, SafeConsole(file=file))
    assert file.getvalue().splitlines()[0] == f"89a34d44  ada  {ROWS[0][2]}"


def test_fields_continue_below_their_value() -> None:
    file = io.StringIO()
    console = SafeConsole(file=file, width=30, force_terminal=True, no_color=True)
    tables.fields([("name", "a b c d e f g h i j k l m n o p q"), ("x", 1)], console)
    assert [line.replace("\x1b[2m", "").replace("\x1b[0m", "") for line in file.getvalue().splitlines()] == [
        "name  a b c d e f g h i j k l",
        "      m n o p q",
        "x     1",
    ]

"""Lists and fields that fit the terminal: one row a thing, ids whole, no word broken.

Into a pipe, rows are written in full and without headings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from api.terminal import err, escape, out, say, visible

GAP: Final = 2
LEAST: Final = 16
"""Narrowest flexible column; below it, each row takes several lines."""

UNLIMITED: Final = 10_000
INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `flexible`: it takes what the others leave, and is cut behind a word; the others are never cut."""

    name: str
    flexible: bool = False
    right: bool = False
    style: str = ""


def rows(
    columns: Sequence[Column], table_rows: Iterable[Sequence[object]], console: Console = out, *, headings: bool = False
) -> None:
    """Print rows under headings; nothing where there are none. `headings`: into a pipe as well, for figures."""
    cells = [[" ".join(visible(str(cell)).split()) for cell in row] for row in table_rows]
    if not cells:
        return
    heads = [column.name for column in columns] if headings or console.is_terminal else ["" for _ in columns]
    natural = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    widths = _fit(columns, natural, width(console))
    if widths is None:
        for row in cells:
            _print_stacked(columns, row, console)
        return
    if any(heads):
        _print(console, columns, heads, widths, heading=True)
    for row in cells:
        _print(console, columns, row, widths)


def listed(
    columns: Sequence[Column], table_rows: Iterable[Sequence[object]], empty: str, following: str | None = None
) -> None:
    """Print the rows of a list; of one without any, `empty`. `following`: the cursor of its next page."""
    all_rows = list(table_rows)
    rows(columns, all_rows)
    if not all_rows:
        err.print(empty)
    if following:
        say(f"More: --after {escape(following)}", err)


def fields(pairs: Iterable[tuple[str, object]], console: Console = out, indent: str = "") -> None:
    """Print names with their values; long values continue below themselves."""
    items = [(name, str(value)) for name, value in pairs]
    first = max((cell_len(name) for name, _ in items), default=0)
    for name, value in items:
        head = Text(f"{indent}{name}{' ' * (first - cell_len(name))}{'  ' if first else ''}", style="dim")
        hanging(head, value, console)


def hanging(head: Text, value: str, console: Console = out) -> None:
    """Print a text beside a heading; its further lines stand below the first one."""
    room = max(LEAST, width(console) - head.cell_len)
    pieces = [piece for line in visible(value).splitlines() or [""] for piece in wrapped(line, room)]
    for number, piece in enumerate(pieces):
        start = head if number == 0 else Text(" " * head.cell_len)
        console.print(start + Text(piece), soft_wrap=True, highlight=False)


def width(console: Console = out) -> int:
    """Return the columns that a line may take."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else UNLIMITED


def cut(text: str, room: int) -> str:
    """Cut a text to a number of cells, behind a word where there is one."""
    if cell_len(text) <= room:
        return text
    kept = chop_cells(text, max(1, room - 1))[0]
    whole = kept if text[len(kept) : len(kept) + 1].isspace() else kept.rpartition(" ")[0]
    return f"{(whole or kept).rstrip()}…"


def wrapped(text: str, room: int) -> list[str]:
    """Break a text into lines between words; a word that is too long keeps its line to itself."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and cell_len(longer) > room:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def _fit(columns: Sequence[Column], natural: Sequence[int], room: int) -> list[int] | None:
    """Return the width of each column, or None where a row needs several lines."""
    left = (
        room
        - GAP * (len(columns) - 1)
        - sum(n for n, column in zip(natural, columns, strict=True) if not column.flexible)
    )
    flexible = sorted((n, i) for i, (n, column) in enumerate(zip(natural, columns, strict=True)) if column.flexible)
    widths = list(natural)
    for position, (needed, index) in enumerate(flexible):
        share = left // (len(flexible) - position)
        if share < min(needed, LEAST):
            return None
        widths[index] = min(needed, share)
        left -= widths[index]
    return widths if left >= 0 else None


def _print(
    console: Console, columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int], *, heading: bool = False
) -> None:
    line = Text()
    for position, (column, cell, room) in enumerate(zip(columns, cells, widths, strict=True)):
        content = cut(cell, room) if column.flexible else cell
        padding = " " * (room - cell_len(content))
        last = position == len(columns) - 1
        text = f"{padding}{content}" if column.right else content if last else f"{content}{padding}"
        line.append(text, style="bold dim" if heading else column.style)
        line.append("" if last else " " * GAP)
    line.rstrip()
    console.print(line, soft_wrap=True, highlight=False)


def _print_stacked(columns: Sequence[Column], cells: Sequence[str], console: Console) -> None:
    """Print a row over several lines: what must not be cut first, then the texts, indented."""
    line = Text()
    room = width(console)
    for column, cell in ((c, v) for c, v in zip(columns, cells, strict=True) if not c.flexible and v):
        if line and line.cell_len + 1 + cell_len(cell) > room:
            console.print(line, soft_wrap=True, highlight=False)
            line = Text(INDENT)
        line.append(" " if line.plain.strip() else "").append(cell, style=column.style)
    console.print(line, soft_wrap=True, highlight=False)
    for column, cell in ((c, v) for c, v in zip(columns, cells, strict=True) if c.flexible and v):
        for piece in wrapped(cell, max(1, room - len(INDENT))):
            console.print(Text(INDENT + piece, style=column.style), soft_wrap=True, highlight=False)

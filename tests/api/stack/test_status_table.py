from __future__ import annotations

import io
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from api.stack.status_table import DrawnScreen, table
from api.stack.supervisor import Watched

HOME = Path("/srv/imprint")


@dataclass
class Member:
    """A process, as far as the table shows it."""

    name: str
    pid: int | None
    where: str

    def start(self) -> None: ...

    def stop(self, grace_s: float) -> None: ...

    def alive(self) -> bool:
        return True

    def exit(self) -> str:
        return "running"


def watched(name: str, pid: int | None = 7, where: str = "here", **fields: float) -> Watched:
    return Watched(Member(name, pid, where), started=time.monotonic(), **fields)  # type: ignore[arg-type]


def cells(*entries: Watched) -> list[tuple[str, ...]]:
    """The rows of the table as they are printed."""
    console = Console(file=io.StringIO(), width=200)
    console.print(table(entries, "http://127.0.0.1:8070", HOME))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return [tuple(cell.strip() for cell in line.strip("│┃").split("│")) for line in lines if line.startswith("│")]


def test_a_process_is_shown_with_its_state_and_how_often_it_was_started_again() -> None:
    rows = cells(watched("router", restarts=3), watched("clock", due=1.0))
    assert rows == [("router", "7", "here", "running", "3"), ("clock", "7", "here", "waiting", "0")]


def test_a_server_that_is_not_ours_is_external() -> None:
    assert cells(watched("postgres", None, "db.example.com:5432")) == [
        ("postgres", "-", "db.example.com:5432", "external", "0")
    ]


def test_the_api_is_where_it_answers_and_a_log_is_named_from_the_home() -> None:
    rows = cells(watched("api", where=f"{HOME}/log/api.log"), watched("router", where=f"{HOME}/log/router.log"))
    assert [row[2] for row in rows] == ["http://127.0.0.1:8070", "log/router.log"]


def test_signs_of_markup_in_a_place_are_shown_as_they_are() -> None:
    assert cells(watched("router", where="[red]x[/red]"))[0][2] == "[red]x[/red]"


def screen(*, quiet: bool = False) -> tuple[DrawnScreen, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return DrawnScreen(quiet=quiet, out=Console(file=out, quiet=quiet), err=Console(file=err)), out, err


def test_the_screen_says_where_it_is_ready_and_how_to_end_it() -> None:
    shown, out, _ = screen()
    shown.show([watched("api")], "http://127.0.0.1:8070", HOME)
    assert f"Imprint is ready at http://127.0.0.1:8070; data and logs are in {HOME}." in out.getvalue()
    assert f"http://127.0.0.1:8070/console; log in with the key in {HOME}/run/api.key." in out.getvalue()
    assert out.getvalue().endswith("Ctrl-C ends all of it; the data stays.\n")


def test_a_complaint_is_one_line_however_it_was_written_and_is_made_even_if_quiet() -> None:
    shown, out, err = screen(quiet=True)
    shown.say("All is well.")
    shown.complain("It does\nnot   start [1].")
    assert (out.getvalue(), err.getvalue()) == ("", "It does not start [1].\n")

"""The status table: what runs where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from api.stack.supervisor import Watched
from api.terminal import SafeConsole, escape


class DrawnScreen:
    """Output of `imprint up`: the table when ready, a line for each change; with `quiet` nothing but errors."""

    def __init__(self, *, quiet: bool, out: Console | None = None, err: Console | None = None) -> None:
        self._out = out or SafeConsole(quiet=quiet, highlight=False)
        self._err = err or SafeConsole(stderr=True, highlight=False)

    def say(self, line: str) -> None:
        """Tell how things go."""
        self._out.print(escape(line), soft_wrap=True)

    def complain(self, line: str) -> None:
        """Tell what went wrong, on one line of standard error."""
        self._err.print(f"[red]{escape(' '.join(line.split()))}[/red]", soft_wrap=True)

    def show(self, watched: Sequence[Watched], http_url: str, home: Path) -> None:
        """Print the table of processes, and the locations of the API, data and logs."""
        self._out.print(table(watched, http_url, home))
        self.say(f"Imprint is ready at {http_url}; data and logs are in {home}.")
        self.say(f"The console is at {http_url}/console; log in with the key in {home / 'run' / 'api.key'}.")
        self.say("Ctrl-C ends all of it; the data stays.")


def table(watched: Sequence[Watched], http_url: str, home: Path) -> Table:
    """Name, pid, place, state and restarts of each process."""
    rows = Table()
    for heading in ("process", "pid", "where", "state", "restarts"):
        rows.add_column(heading, justify="right" if heading in {"pid", "restarts"} else "left", overflow="fold")
    for entry in watched:
        member = entry.member
        where = http_url if member.name == "api" else member.where.removeprefix(f"{home}/")
        state = entry.state if member.pid else "external"
        rows.add_row(member.name, str(member.pid or "-"), escape(where), state, str(entry.restarts))
    return rows

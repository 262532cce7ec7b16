"""Output of `imprint up`. The library that draws it is loaded with the first line: a quiet stack prints none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from api.stack.supervisor import Watched
from core import deferred


class Screen:
    """The table when ready, a line for each change; with `quiet` nothing but errors."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def say(self, line: str) -> None:
        """Print a line of progress."""
        if not self._quiet:
            self._screen.say(line)

    def complain(self, line: str) -> None:
        """Print an error, on one line of standard error."""
        self._screen.complain(line)

    def show(self, watched: Sequence[Watched], http_url: str, home: Path) -> None:
        """Print the table of processes, and the locations of the API, data and logs."""
        if not self._quiet:
            self._screen.show(watched, http_url, home)

    @cached_property
    def _screen(self) -> Any:
        return deferred.load("api.stack.status_table:DrawnScreen")(quiet=self._quiet)

"""A check of `imprint doctor`: the mistake that it finds, the way out, and its result within a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy.exc import DBAPIError

from api.cli.commands.host.checks.installation import Installation
from core.errors import ImprintError
from core.types import Json

State = Literal["ok", "warn", "fail"]

COLOURS: Final = {"ok": "green", "warn": "yellow", "fail": "red"}

SECONDS: Final = 10.0
"""Time limit of a check, if it has none of its own."""


class CheckWarning(Exception):
    """Raised by a check: the service works, but somebody should look at this."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check; `way_out`: what to do, if it is not ok."""

    name: str
    state: State
    detail: str
    way_out: str | None = None

    def as_json(self) -> Json:
        return {"name": self.name, "state": self.state, "detail": self.detail, "way_out": self.way_out}


def always(_installation: Installation) -> bool:
    """Return True: the check applies to every installation."""
    return True


@dataclass(frozen=True, slots=True)
class Check:
    """A check, and what the manual says about it.

    `look` returns what is well, raises CheckWarning for a warning, and an ImprintError for a failure. It only reads.
    `needs`: checks without whose success this one is skipped. `applies`: whether there is anything to look at.
    """

    name: str
    mistake: str
    way_out: str
    look: Callable[[Installation], str]
    needs: Sequence[str] = ()
    applies: Callable[[Installation], bool] = always
    seconds: float = SECONDS

    def run(self, installation: Installation) -> CheckResult:
        """Run the check; one that takes longer than its limit fails, and its thread is left behind."""
        results: list[CheckResult] = []
        thread = threading.Thread(
            target=lambda: results.append(self._result(installation)), name=f"check-{self.name}", daemon=True
        )
        thread.start()
        thread.join(self.seconds)
        if not results:
            return CheckResult(self.name, "fail", f"no answer within {self.seconds:g} s", self.way_out)
        return results[0]

    def _result(self, installation: Installation) -> CheckResult:
        try:
            return CheckResult(self.name, "ok", self.look(installation))
        except CheckWarning as warning:
            return CheckResult(self.name, "warn", str(warning), self.way_out)
        except ImprintError as error:
            return CheckResult(self.name, "fail", " ".join(error.detail.split()), self.way_out)
        except DBAPIError as error:
            return CheckResult(self.name, "fail", first_line(error), self.way_out)
        except Exception as error:  # noqa: BLE001 - an unforeseen error of one check must not hide the others
            return CheckResult(self.name, "fail", f"the check itself failed: {type(error).__name__}", self.way_out)


def first_line(error: DBAPIError) -> str:
    """Return the first line of a database error."""
    lines: Sequence[str] = str(error.orig).splitlines()
    return f"The database refuses: {lines[0] if lines else error}. Look at IMPRINT_DATABASE_URL and the server's log."

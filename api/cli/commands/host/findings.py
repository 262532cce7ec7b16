"""Findings of `imprint doctor`: one check, its result, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy.exc import DBAPIError

from core.errors import ImprintError
from core.types import Json

State = Literal["ok", "warn", "fail"]

COLOURS: Final = {"ok": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check and, if it failed, what to do."""

    name: str
    state: State
    detail: str

    def as_json(self) -> Json:
        return {"name": self.name, "state": self.state, "detail": self.detail}


def run_check(name: str, look: Callable[[], str]) -> CheckResult:
    """Run a check and return its finding; errors of this project say what to do."""
    try:
        return CheckResult(name, "ok", look())
    except ImprintError as error:
        return CheckResult(name, "fail", " ".join(error.detail.split()))
    except DBAPIError as error:
        return CheckResult(name, "fail", first_line(error))


def first_line(error: DBAPIError) -> str:
    """Return the first line of a database error."""
    lines: Sequence[str] = str(error.orig).splitlines()
    return f"The database refuses: {lines[0] if lines else error}. Look at IMPRINT_DATABASE_URL and the server's log."

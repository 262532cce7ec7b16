"""Messages of failed commands: one sentence and the way out, never a traceback."""

from __future__ import annotations

import os
from typing import Final

from core.errors import ImprintError

DEBUG: Final = "IMPRINT_LOG_LEVEL"
"""Set to `debug`, it lets an unexpected error show where it comes from."""

HINTS: Final = (
    ("/v1/memories", "`imprint memory list` prints ids."),
    ("/v1/sessions", "`imprint session list` prints ids."),
    ("/v1/documents", "`imprint documents list` prints ids."),
    ("/v1/dispatches", "`imprint dead list` and `imprint approvals list` print ids."),
    ("/v1/events", "`imprint events tail` shows places and ids."),
    ("/v1/forgettings", "`imprint memory forgettings` prints ids."),
    ("/v1/rebuilds", "`imprint memory rebuild --list` prints ids."),
)
"""Commands that print the ids of a kind, by the beginning of the path that was not found."""

COMMANDS: Final = (
    ("`GET /v1/rules` lists", "`imprint rules list` lists"),
    ("see /v1/receipts/", "see `imprint user receipt` "),
)
"""Words of the API, and those of the command line."""


def in_commands(detail: str, path: str = "", *, missing: bool = False) -> str:
    """Return what the service says with commands in place of routes; for something missing, with what prints ids."""
    for route, command in COMMANDS:
        detail = detail.replace(route, command)
    hint = next((hint for start, hint in HINTS if path.startswith(start)), "")
    return f"{detail} {hint}" if missing and hint and "`" not in detail else detail


def sentence(error: Exception) -> str | None:
    """Return what an error means and what to do; None: it is to be shown with its traceback."""
    if isinstance(error, ImprintError):
        return in_commands(error.detail)
    if os.environ.get(DEBUG, "").lower() == "debug":
        return None
    module = type(error).__module__
    if module.startswith(("sqlalchemy", "psycopg")):
        first = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        return f"The database refuses: {first} Check IMPRINT_DATABASE_URL; `imprint doctor` says whether it answers."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}. Check the path, and whether you may read and write there."
    text = " ".join(str(error).split())[:300]
    return (
        f"Unexpected: {text or 'no reason given'}. `imprint doctor` checks the installation; {DEBUG}=debug shows where."
    )

"""Questions before what cannot be taken back, or changes what is in force."""

from __future__ import annotations

import sys

import typer

from core.errors import ImprintError


class Unconfirmed(ImprintError, kind="Not confirmed"):
    """Nobody has confirmed it; nothing was done."""


def ask(question: str, refusal: str) -> None:
    """Go on only if a person at the terminal says yes. Unconfirmed: `refusal` says what was not done."""
    if not sys.stdin.isatty() or not typer.confirm(question, err=True):
        raise Unconfirmed(f"{refusal} Answer with `y`, or give `--yes`.")

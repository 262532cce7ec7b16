"""Questions before what cannot be taken back, or changes what is in force."""

from __future__ import annotations

import sys

import typer

from core.errors import ImprintError


def ask(question: str, refusal: ImprintError) -> None:
    """Raise the refusal unless a person at the terminal says yes."""
    if not sys.stdin.isatty() or not typer.confirm(question, err=True):
        raise refusal

"""Options that filter by fields of metadata or of `structured`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from core.types import Json

Metadata = Annotated[
    str | None, typer.Option(metavar="JSON", help='Fields of the metadata: {"project": ["atlas", "borealis"]}.')
]
Structured = Annotated[str | None, typer.Option(metavar="JSON", help="Fields that `structured` has; memories alone.")]


def parsed(metadata: str | None, structured: str | None) -> Json:
    """Return the filters of a request body that are given."""
    given = {"metadata": metadata, "structured": structured}
    return {name: _parsed(name, text) for name, text in given.items() if text is not None}


def _parsed(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise typer.BadParameter(f'--{name} is no JSON; write \'{{"project": "atlas"}}\'') from None

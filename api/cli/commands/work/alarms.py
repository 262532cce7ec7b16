"""`imprint alarms`: raised alarms, and what each alarm has counted last."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import tables
from api.cli.client import AsJson, finish_if_json, moment, read
from api.cli.tables import Column
from core.types import Json

COLUMNS = (
    *(Column("rule", style="bold"), Column("of"), Column("since"), Column("looked", style="dim")),
    Column("counts", flexible=True),
)

Rule = Annotated[str | None, typer.Option(help="Only alarms of this rule.")]
Raised = Annotated[bool, typer.Option("--raised", help="Only raised alarms, without last looks.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]


def alarms(rule: Rule = None, raised: Raised = False, limit: Limit = 100, as_json: AsJson = False) -> None:
    """List raised alarms, and what each alarm has counted last, by rule.

    Example: imprint alarms --raised
    """
    answer = finish_if_json(as_json, read("/v1/alarms", rule=rule, raised=raised, limit=limit))
    empty = "No alarm is raised." if raised else "No alarm has been looked at."
    tables.listed(COLUMNS, map(_row, answer["items"]), empty)


def _row(item: Json) -> list[str]:
    subject = item["for_each"] if item["key"] is None else f"{item['for_each']} {item['key']}"
    since = moment(item["raised_at"])[:16] if item["raised_at"] else "quiet"
    return [item["rule"], subject, since, moment(item["looked_at"])[:16], _counts(item)]


def _counts(item: Json) -> str:
    if item["partial"]:
        return "too many rows to count"
    return ", ".join(f"{name} {'unknown' if n is None else f'{n:g}'}" for name, n in item["counts"].items())

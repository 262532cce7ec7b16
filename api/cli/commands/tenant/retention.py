"""`imprint tenant retention`: show and change how long a tenant keeps what."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.table import Table

from api.cli.client import AsJson, finish_if_json, moment, open_client
from api.cli.confirming import Unconfirmed
from api.terminal import err, out
from core.errors import Invalid, Problem
from core.tenancy.retention import Retention
from core.types import Json

PATH: Final = "/v1/tenant/retention"

FOREVER: Final = "forever"
"""In place of a number of days: no end."""

Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=DAYS]...", help="Days to keep each kind; NAME=forever keeps it; quotes=keep|drop."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def retention(changes: Changes = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Show how long everything is kept, or change it; what would leave at the next sweep is shown first.

    Example: imprint tenant retention messages_days=30 quotes=drop
    """
    with open_client() as client:
        standing = client.get(PATH)
        if changes:
            chosen = _with_changes(standing["retention"], changes)
            _confirm(client.put(PATH, chosen, dry_run=True)["due"], yes=yes)
            standing = client.put(PATH, chosen)
    finish_if_json(as_json, standing)
    out.print(_table(standing))


def _confirm(due: Json, *, yes: bool) -> None:
    leaving = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in due.items() if count)
    if not leaving or yes:
        return
    err.print(f"At the next sweep, within ten minutes, these leave for good: {leaving}.", highlight=False)
    if not typer.confirm("Change it?", err=True):
        raise Unconfirmed("Nothing was changed. Answer yes, or give `--yes`.")


def _with_changes(standing: Json, changes: list[str]) -> Json:
    """Return all times after the change. Invalid: not `name=value`, or not a number of days."""
    chosen = dict(standing)
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals or name not in Retention.model_fields:
            raise Invalid([Problem(f"/{name}", f"write NAME=DAYS; names are {', '.join(Retention.model_fields)}")])
        if name == "quotes":
            chosen[name] = value
        elif value == FOREVER:
            chosen[name] = None
        elif value.isdecimal():
            chosen[name] = int(value)
        else:
            raise Invalid([Problem(f"/{name}", f"{value!r} is neither a whole number of days nor `{FOREVER}`")])
    return chosen


def _table(standing: Json) -> Table:
    table = Table("kind", "days kept", "due now", "left so far", "last")
    for name, value in standing["retention"].items():
        kind = name.removesuffix("_days")
        left = standing["removed"].get(kind, {})
        table.add_row(
            kind.replace("_", " "),
            FOREVER if value is None else str(value),
            f"{standing['due'][kind]:,}" if kind in standing["due"] else "",
            f"{left['total']:,}" if left else "",
            moment(left["at"]) if left else "",
        )
    return table

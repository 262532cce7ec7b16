"""`imprint memory forgettings` and `imprint memory unforget`: requests to forget that can still be undone."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import ids, tables
from api.cli.client import AsJson, finish_if_json, moment, read
from api.cli.tables import Column
from api.terminal import out
from core.types import Json

User = Annotated[str | None, typer.Option("--user", help="Only what this user asked for.")]
Limit = Annotated[int, typer.Option(help="Number of results.")]
ForgettingId = Annotated[str, typer.Argument(parser=ids.typed, metavar="ID", help="The id, as shown by `forgettings`.")]
COLUMNS = (
    *(Column("id", style="bold"), Column("user"), Column("forgotten"), Column("final", style="dim")),
    Column("what"),
)


def forgettings(user: User = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the requests to forget that can still be undone, newest first.

    Example: imprint memory forgettings --user ada
    """
    answer = finish_if_json(as_json, read("/v1/forgettings", user_id=user, limit=limit))
    items = [(item, [moment(item[name])[:16] for name in ("at", "final_at")]) for item in answer["items"]]
    rows = ([ids.short(item["id"]), item["user_id"], *times, _extent(item)] for item, times in items)
    tables.listed(COLUMNS, rows, "Nothing that was forgotten can be undone.")


def unforget(forgetting_id: ForgettingId, as_json: AsJson = False) -> None:
    """Bring back what a request to forget erased, while its undo window is open.

    Example: imprint memory unforget 1d5743a6
    """
    done = finish_if_json(as_json, ids.call("post", "forgetting", forgetting_id, "/v1/forgettings/{id}/undo", {}))
    out.print(f"Brought back: {_extent(done)}.", highlight=False)


def _extent(item: Json) -> str:
    return f"{item['messages']} messages, {item['memories']} memories"

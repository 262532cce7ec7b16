"""`imprint memory forgettings` and `imprint memory unforget`: requests to forget that can still be undone."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.client import AsJson, finish_if_json, moment, open_client, read
from api.terminal import err, escape, out
from core.types import Json

User = Annotated[str | None, typer.Option("--user", help="Only what this user asked for.")]
Limit = Annotated[int, typer.Option(help="Number of results.")]
ForgettingId = Annotated[str, typer.Argument(help="The id, as shown by `forgettings`.")]


def forgettings(user: User = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the requests to forget that can still be undone, newest first.

    Example: imprint memory forgettings --user ada
    """
    answer = finish_if_json(as_json, read("/v1/forgettings", user_id=user, limit=limit))
    if not answer["items"]:
        err.print("Nothing that was forgotten can be undone.")
    for item in answer["items"]:
        out.print(f"{item['id']} [cyan]{escape(item['user_id'])}[/] {_extent(item)}", highlight=False)
        out.print(f"  [dim]{moment(item['at'])}, final {moment(item['final_at'])}[/]", highlight=False)


def unforget(forgetting_id: ForgettingId, as_json: AsJson = False) -> None:
    """Bring back what a request to forget erased, while its undo window is open.

    Example: imprint memory unforget 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    with open_client() as client:
        done = client.post(f"/v1/forgettings/{forgetting_id}/undo", {})
    finish_if_json(as_json, done)
    out.print(f"Brought back: {_extent(done)}.", highlight=False)


def _extent(item: Json) -> str:
    return f"{item['messages']} messages, {item['memories']} memories"

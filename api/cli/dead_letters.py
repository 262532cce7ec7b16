"""`imprint dead`: dispatches that failed permanently."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from api.cli import ids, tables
from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, read, show_items
from api.cli.tables import Column
from api.terminal import as_json as json_text
from api.terminal import err

commands = typer.Typer(help="Dead letters: list and retry dispatches that failed permanently.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(parser=ids.typed, metavar="ID", help="Id as printed by `imprint dead list`.")]
Rule = Annotated[str | None, typer.Option(help="Only dispatches of this rule.")]
Target = Annotated[str | None, typer.Option(help="Only dispatches to this agent.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
All = Annotated[bool, typer.Option("--all", help="All dead letters that match --rule and --target.")]

COLUMNS = (
    *(Column("id", style="bold"), Column("agent"), Column("failed", style="dim")),
    Column("reason", flexible=True),
)

PAGE = 1_000
"""Dead letters replayed in one request: as many as the server takes."""


@commands.command("list")
def list_(rule: Rule = None, target: Target = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List dispatches that failed permanently, newest first, with the reason.

    Example: imprint dead list --target webhook_sender
    """
    answer = finish_if_json(as_json, read("/v1/dispatches", status="dead", rule=rule, target=target, limit=limit))
    items = answer["items"]
    if not items:
        err.print("There are no dead letters.")
    tables.rows(COLUMNS, map(_row, items))


@commands.command("show")
def show(dispatch_id: Id, as_json: AsJson = False) -> None:
    """Show a dispatch with its parameters and the reason.

    Example: imprint dead show 1d5743a6
    """
    item = finish_if_json(as_json, ids.read("dispatch", dispatch_id, "/v1/dispatches/{id}"))
    tables.fields((name, _text(value)) for name, value in item.items() if value is not None)


@commands.command("replay")
def replay(
    dispatch_ids: Annotated[
        list[str] | None, typer.Argument(parser=ids.typed, metavar="ID", help="Ids as printed by `imprint dead list`.")
    ] = None,
    everything: All = False,
    rule: Rule = None,
    target: Target = None,
    as_json: AsJson = False,
) -> None:
    """Retry dead letters from their first attempt: the given ones, or all that match.

    Examples: imprint dead replay 1d5743a6
    imprint dead replay --all --target webhook_sender
    """
    if bool(dispatch_ids) == everything:
        raise typer.BadParameter("Name dead letters by their ids, or give --all.")
    with open_client() as client:
        replayed = _all(client, rule, target) if everything else _retry_each(client, dispatch_ids or [])
    if as_json:
        show_items(replayed)
        return
    for dispatch_id in replayed:
        err.print(f"{ids.short(dispatch_id)} is tried again.", highlight=False)
    if not replayed:
        err.print("There is no such dead letter.")


def _row(item: dict[str, Any]) -> list[str]:
    return [
        ids.short(item["id"]),
        item["target"],
        moment(item["ended_at"])[:16],
        item["error"] or "no reason was stored",
    ]


def _text(value: Any) -> str:
    return json_text(value) if isinstance(value, dict | list) else str(value)


def _retry_each(client: Client, dispatch_ids: list[str]) -> list[str]:
    found = [ids.resolve(client, "dispatch", one) for one in dispatch_ids]
    for dispatch_id in found:
        client.post(f"/v1/dispatches/{dispatch_id}/retry", {})
    return found


def _all(client: Client, rule: str | None, target: str | None) -> list[str]:
    """Replay page by page; a dispatch that fails again is not retried twice."""
    wanted = {name: value for name, value in {"rule": rule, "target": target}.items() if value is not None}
    found: list[str] = []
    while True:
        answer = client.post("/v1/dispatches/replay", {"filter": wanted, "limit": PAGE})
        fresh = [one for one in answer["ids"] if one not in found]
        found += fresh
        if not fresh or answer["matched"] <= len(answer["ids"]):
            return found

"""`imprint dead`: dispatches that failed permanently."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.pretty import Pretty

from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, read, short, show_items, whole_id
from api.terminal import err, escape, out

commands = typer.Typer(help="Dead letters: list and retry dispatches that failed permanently.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(parser=whole_id, metavar="ID", help="Id as printed by `imprint dead list`.")]
Rule = Annotated[str | None, typer.Option(help="Only dispatches of this rule.")]
Target = Annotated[str | None, typer.Option(help="Only dispatches to this agent.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
All = Annotated[bool, typer.Option("--all", help="All dead letters that match --rule and --target.")]

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
        return
    for item in items:
        # Lines and not a table: an id that is cut off cannot be replayed.
        ended = f"attempt {item['attempt']}, {moment(item['ended_at'])}"
        out.print(
            f"[bold]{item['id']}[/]  {escape(item['target'])} [dim]{escape(item['rule'] or '–')}, {ended}[/]",
            soft_wrap=True,
        )
        out.print(f"  {escape(short(item['error'] or 'no reason kept', 300))}", soft_wrap=True, highlight=False)


@commands.command("show")
def show(dispatch_id: Id, as_json: AsJson = False) -> None:
    """Show a dispatch with its parameters and the reason.

    Example: imprint dead show 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    item = finish_if_json(as_json, read(f"/v1/dispatches/{dispatch_id}"))
    for name, value in item.items():
        shown = Pretty(value) if isinstance(value, dict) else escape(str(value if value is not None else "–"))
        out.print(f"[bold]{name:<15}[/]", shown, highlight=False, soft_wrap=True)


@commands.command("replay")
def replay(
    dispatch_ids: Annotated[
        list[str] | None, typer.Argument(parser=whole_id, metavar="ID", help="Ids as printed by `imprint dead list`.")
    ] = None,
    everything: All = False,
    rule: Rule = None,
    target: Target = None,
    as_json: AsJson = False,
) -> None:
    """Retry dead letters from their first attempt: the given ones, or all that match.

    Examples: imprint dead replay 01a201d5-e5cb-7040-9e09-b43e1d5743a6
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
        err.print(f"{dispatch_id} is tried again.", highlight=False)
    if not replayed:
        err.print("There is no such dead letter.")


def _retry_each(client: Client, dispatch_ids: list[str]) -> list[str]:
    for dispatch_id in dispatch_ids:
        client.post(f"/v1/dispatches/{dispatch_id}/retry", {})
    return dispatch_ids


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

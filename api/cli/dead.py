"""The dead letters: dispatches that were given up."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.pretty import Pretty
from rich.table import Table

from api.cli.client import AsJson, connected, err, moment, out, read, short, show_json

commands = typer.Typer(help="What was given up, with its reason.", no_args_is_help=True, add_completion=False)

Rule = Annotated[str | None, typer.Option(help="Only what this rule wanted.")]
Target = Annotated[str | None, typer.Option(help="Only what this agent should have done.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]


@commands.command("list")
def list_(rule: Rule = None, target: Target = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Dispatches that were given up, newest first."""
    items = read("/v1/dispatches", status="dead", rule=rule, target=target, limit=limit)["items"]
    if as_json:
        show_json(items)
        return
    if not items:
        err.print("Nothing was given up.")
        return
    table = Table("id", "rule", "target", "attempts", "ended", "reason")
    for item in items:
        reason = escape(short(item["error"] or ""))
        table.add_row(item["id"], item["rule"], item["target"], str(item["attempt"]), moment(item["ended_at"]), reason)
    out.print(table)


@commands.command("show")
def show(dispatch_id: str, as_json: AsJson = False) -> None:
    """One dispatch, with its parameters and its reason."""
    item = read(f"/v1/dispatches/{dispatch_id}")
    if as_json:
        show_json(item)
        return
    for name, value in item.items():
        shown = Pretty(value) if isinstance(value, dict) else escape(str(value if value is not None else "–"))
        out.print(f"[bold]{name:<15}[/]", shown, highlight=False, soft_wrap=True)


@commands.command("replay")
def replay(dispatch_ids: Annotated[list[str], typer.Argument(help="Ids, as `imprint dead list` shows them.")]) -> None:
    """Try dead letters again, from their first attempt on."""
    with connected() as client:
        for dispatch_id in dispatch_ids:
            client.post(f"/v1/dispatches/{dispatch_id}/retry", {})
        err.print(f"{dispatch_id} is tried again.")

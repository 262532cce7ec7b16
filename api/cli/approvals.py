"""What waits for somebody's word: see it, say yes or no."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.client import AsJson, connected, err, moment, out, read, short, show_json

commands = typer.Typer(help="What waits for somebody's word.", no_args_is_help=True, add_completion=False)

Rule = Annotated[str | None, typer.Option(help="Only what this rule wants.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
Id = Annotated[str, typer.Argument(help="Id, as `imprint approvals list` shows it.")]
WORDS = 60
"""How many characters of an action are shown."""

Comment = Annotated[str | None, typer.Option("--comment", "-m", help="Kept beside the decision.")]


@commands.command("list")
def list_(rule: Rule = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """What is held until someone approves it, newest first."""
    items = read("/v1/dispatches", status="held", hold="approval", rule=rule, limit=limit)["items"]
    if as_json:
        show_json(items)
        return
    if not items:
        err.print("Nothing waits for approval.")
        return
    for item in items:
        # Lines and not a table: an id that is cut off cannot be approved.
        out.print(f"[bold]{item['id']}[/]  {escape(item['rule'])}", highlight=False)
        out.print(f"  would      {escape(_doing(item))}", highlight=False)
        out.print(f"  because of {escape(item['event_type'])} {escape(item['event_id'])}", highlight=False)
        out.print(f"  since      {moment(item['created_at'])}, until {moment(item['expires_at'])}", highlight=False)


@commands.command("approve")
def approve(dispatch_id: Id, comment: Comment = None) -> None:
    """Say yes: it is carried out now."""
    _decide(dispatch_id, "approve", comment)
    err.print(f"{dispatch_id} is approved.")


@commands.command("reject")
def reject(dispatch_id: Id, comment: Comment = None) -> None:
    """Say no: neither it nor what was to come after it is done."""
    _decide(dispatch_id, "reject", comment)
    err.print(f"{dispatch_id} is rejected.")


def _decide(dispatch_id: str, word: str, comment: str | None) -> None:
    with connected() as client:
        client.post(f"/v1/dispatches/{dispatch_id}/{word}", {"comment": comment})


def _doing(item: dict[str, Any]) -> str:
    """The action in a few words: who would do what with which parameters."""
    kind, given = item["action_type"], item["params"]
    if kind == "notify":
        return short(f"notify {given['channel']}: {given['template']}", WORDS)
    if kind == "webhook":
        return short(f"post to {given['url']}", WORDS)
    if kind == "celery":
        return short(f"send {given['task']} to {given['queue']} {_plain(given['kwargs'])}", WORDS)
    if kind == "emit":
        return short(f"emit {given['event_type']} {_plain(given['payload'])}", WORDS)
    return short(f"run {item['target']} {_plain(given)}", WORDS)


def _plain(values: dict[str, Any] | None) -> str:
    return json.dumps(values, ensure_ascii=False) if values else ""

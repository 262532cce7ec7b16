"""`imprint approvals`: listing dispatches held for approval, approving and rejecting them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from api.cli.client import AsJson, finish_if_json, moment, open_client, read, short
from api.terminal import err, escape, out

commands = typer.Typer(help="Actions waiting for approval.", no_args_is_help=True, add_completion=False)

Rule = Annotated[str | None, typer.Option(help="Only actions of this rule.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
Id = Annotated[str, typer.Argument(help="Id as shown by `imprint approvals list`.")]
WORDS = 60
"""Maximum characters shown of an action."""

Comment = Annotated[str | None, typer.Option("--comment", "-m", help="Comment, stored with the decision.")]


@commands.command("list")
def list_(rule: Rule = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the actions waiting for approval, newest first.

    Example: imprint approvals list --rule careful
    """
    answer = finish_if_json(as_json, read("/v1/dispatches", status="held", hold="approval", rule=rule, limit=limit))
    items = answer["items"]
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
    """Approve an action, which is then carried out.

    Example: imprint approvals approve 01a201d5-e5cb-7040-9e09-b43e1d5743a6 -m "checked"
    """
    _decide(dispatch_id, "approve", comment)
    err.print(f"{dispatch_id} is approved.")


@commands.command("reject")
def reject(dispatch_id: Id, comment: Comment = None) -> None:
    """Reject an action and the actions that would have followed it.

    Example: imprint approvals reject 01a201d5-e5cb-7040-9e09-b43e1d5743a6 -m "too broad"
    """
    _decide(dispatch_id, "reject", comment)
    err.print(f"{dispatch_id} is rejected.")


def _decide(dispatch_id: str, word: str, comment: str | None) -> None:
    with open_client() as client:
        client.post(f"/v1/dispatches/{dispatch_id}/{word}", {"comment": comment})


def _doing(item: dict[str, Any]) -> str:
    """Describe the action in a few words: agent and parameters."""
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

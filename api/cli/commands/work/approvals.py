"""`imprint approvals`: listing dispatches held for approval, approving and rejecting them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from api.cli import ids, lazy, tables
from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, read, short
from api.cli.tables import Column
from api.terminal import err

commands = lazy.group("Actions waiting for approval.")

Rule = Annotated[str | None, typer.Option(help="Only actions of this rule.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
Id = Annotated[str, typer.Argument(parser=ids.typed, metavar="ID", help="Id as printed by `imprint approvals list`.")]
WORDS = 200
"""Maximum characters shown of an action."""

COLUMNS = (*(Column("id", style="bold"), Column("rule"), Column("until", style="dim")), Column("would", flexible=True))

Comment = Annotated[str | None, typer.Option("--comment", "-m", help="Comment, stored with the decision.")]


@commands.command("list")
def list_(rule: Rule = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the actions waiting for approval, newest first.

    Example: imprint approvals list --rule careful
    """
    answer = finish_if_json(as_json, read("/v1/dispatches", status="held", hold="approval", rule=rule, limit=limit))
    with open_client() as client:
        rows = [_row(item, _effect(client, item)) for item in answer["items"]]
    tables.listed(COLUMNS, rows, "Nothing waits for approval.")


@commands.command("approve")
def approve(dispatch_id: Id, comment: Comment = None, as_json: AsJson = False) -> None:
    """Approve an action, which is then carried out.

    Example: imprint approvals approve 1d5743a6 -m "checked"
    """
    done = finish_if_json(as_json, _decide(dispatch_id, "approve", comment))
    err.print(f"{ids.short(done['id'])} is approved.", highlight=False)


@commands.command("reject")
def reject(dispatch_id: Id, comment: Comment = None, as_json: AsJson = False) -> None:
    """Reject an action and the actions that would have followed it.

    Example: imprint approvals reject 1d5743a6 -m "too broad"
    """
    done = finish_if_json(as_json, _decide(dispatch_id, "reject", comment))
    err.print(f"{ids.short(done['id'])} is rejected.", highlight=False)


@commands.command("show")
def show(dispatch_id: Id, as_json: AsJson = False) -> None:
    """Show an action in full: what it would do, why, until when, and which keys may decide.

    Example: imprint approvals show 1d5743a6
    """
    item = finish_if_json(as_json, ids.read("dispatch", dispatch_id, "/v1/dispatches/{id}"))
    columns = ("id", "rule", "status", "hold", "created_at", "expires_at")
    pairs = [(name, item[name]) for name in columns if item[name] is not None]
    because = f"{item['event_type']} {item['event_id']}"
    deciders = ", ".join(decider["name"] or decider["id"] for decider in item.get("may_decide", ()))
    with open_client() as client:
        would = _effect(client, item, 1_000)
    tables.fields([*pairs, ("because of", because), ("would", would), ("may decide", deciders or "nobody")])


def _row(item: dict[str, Any], would: str) -> list[str]:
    return [ids.short(item["id"]), item["rule"], moment(item["expires_at"])[:16], would]


def _effect(client: Client, item: dict[str, Any], limit: int = WORDS) -> str:
    """Describe what the action changes, where the service can tell; else the action."""
    if item["action_type"] != "run_agent":
        return _doing(item, limit)
    answer = client.get(f"/v1/dispatches/{item['id']}/effect")
    kind, effect = answer["kind"], answer["effect"]
    if kind == "feedback" and "after" in effect:
        changes = (
            f"{name}: {_word(effect['before'][name])} → {_word(value)}" for name, value in effect["after"].items()
        )
        return short(f"{effect['verdict']} {ids.short(effect['memory_id'])}: {'; '.join(changes)}", limit)
    if kind == "feedback":
        return short(f"fail: {effect['refused']}", limit)
    if kind == "forgetting":
        extent = f"{effect['messages']} messages and {effect['memories']} memories"
        return f"forget {extent} (scope {effect['scope']}), asked for in session {effect['session_id']}"
    return _doing(item, limit)


def _decide(dispatch_id: str, decision: str, comment: str | None) -> Any:
    return ids.call("post", "dispatch", dispatch_id, f"/v1/dispatches/{{id}}/{decision}", {"comment": comment})


def _doing(item: dict[str, Any], limit: int = WORDS) -> str:
    """Describe the action in a few words: agent and parameters."""
    kind, given = item["action_type"], item["params"]
    if kind == "notify":
        return short(f"notify {given['channel']}: {given['template']}", limit)
    if kind == "webhook":
        return short(f"post to {given['url']}", limit)
    if kind == "celery":
        return short(f"send {given['task']} to {given['queue']} {_plain(given['kwargs'])}", limit)
    if kind == "emit":
        return short(f"emit {given['event_type']} {_plain(given['payload'])}", limit)
    return short(f"run {item['target']} {_plain(given)}", limit)


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(values: dict[str, Any] | None) -> str:
    return json.dumps(values, ensure_ascii=False) if values else ""

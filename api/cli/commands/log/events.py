"""`imprint events`: follow the log, trace one event, replay some."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote

import typer
from rich.tree import Tree

from api.cli import condition_view, ids, lazy, tables
from api.cli.client import AsJson, Client, Refused, finish_if_json, moment, open_client, short, show_json_line
from api.cli.commands.log.replay import replay
from api.cli.tables import Column
from api.terminal import err, escape, out
from core.types import Json

commands = lazy.group("The log: follow it live, trace an event, replay some.")

commands.command("replay")(replay)

PAGE = 500

SENT = ("traceparent", "partitionkey")
"""Extensions of an event that are shown beside it."""

RETRY_SECONDS = 1.0

COLUMNS = (Column("place", style="dim"), Column("time", style="dim"), Column("event", flexible=True))

SERVER_FAULT = 500
"""The first status of a fault that may pass."""

Types = Annotated[str, typer.Option(help="Only these types, comma-separated; wildcards such as memory.* are allowed.")]
Session = Annotated[str | None, typer.Option(help="Only events of this session.")]
User = Annotated[str | None, typer.Option(help="Only events of this user.")]
Last = Annotated[int, typer.Option(min=0, max=PAGE, help="Number of stored events to start with.")]


def last_events(client: Client, types: str, session_id: str | None, user_id: str | None, last: int) -> list[Json]:
    """Return the newest stored events of the wanted types, oldest first."""
    events: dict[int, Json] = {}
    named: list[str | None] = [name.strip() for name in types.split(",") if name.strip()]
    for event_type in named or [None]:
        page = client.get("/v1/events", type=event_type, limit=last, session_id=session_id, user_id=user_id)
        events |= {item["seq"]: item for item in page["items"]}
    return [events[seq] for seq in sorted(events)[-last:]]


def follow(client: Client, after: str, **query: str | None) -> Iterator[Json]:
    """Yield the events after a position as they come; a lost connection is opened again where it ended."""
    while True:
        try:
            for position, event in client.stream("/v1/stream", after=after, **query):
                after = position
                if event is not None:
                    yield event
        except Refused as refused:
            if refused.status is not None and refused.status < SERVER_FAULT and refused.retry_after_s is None:
                raise
            err.print(f"[dim]{escape(refused.title)} Trying again.[/]")
        time.sleep(RETRY_SECONDS)


@commands.command("tail")
def tail(
    types: Types = "", session: Session = None, user: User = None, last: Last = 10, as_json: AsJson = False
) -> None:
    """Follow the log live; Ctrl-C ends it. With --json, one event per line.

    Example: imprint events tail --user ada
    """
    query = {"types": types or None, "session_id": session, "user_id": user}
    show = show_json_line if as_json else _show
    with open_client() as client, suppress(KeyboardInterrupt):
        after = next(client.stream("/v1/stream", follow=False))[0]
        stored = last_events(client, types, session, user, last) if last else []
        for event in stored:
            show(event)
        displayed = {event["seq"] for event in stored}
        for event in follow(client, after, **query):
            if event["seq"] not in displayed:  # It came between the position and the list.
                show(event)


@commands.command("trace")
def trace(
    event_id: Annotated[str, typer.Argument(metavar="EVENT", help="Id of an event, or its place in the log.")],
    as_json: AsJson = False,
) -> None:
    """Show everything that followed from an event: rules with conditions, dispatches, changes, further events.

    Example: imprint events trace 412
    """
    with open_client() as client:
        whole = ids.event(client, event_id)
        answer = finish_if_json(as_json, client.get(f"/v1/events/{quote(whole, safe='')}/trace"))
    out.print(_tree(answer), highlight=False)


def _show(event: Json) -> None:
    text = event["payload"].get("content") or ", ".join(f"{k}={v}" for k, v in event["payload"].items())
    kind = f"{'  ' * event['hop']}{event['event_type']}"
    sent = "".join(f" {name}={short(event[name])}" for name in SENT if event[name])
    tables.rows(COLUMNS, [[f"{event['seq']:>7}", moment(event["time"])[5:], f"{kind} {text}{sent}"]])


def _tree(answer: Json) -> Tree:
    event = answer["event"]
    tree = Tree(
        f"[bold cyan]{event['event_type']}[/] {event['seq']} [dim]{escape(event['id'])} {escape(event['source'])}[/]"
    )
    for name in SENT:
        if event[name]:
            tree.add(f"[dim]{name}[/] {escape(short(event[name]))}")
    content = event["payload"].get("content")
    if content:
        tree.add(f"“{escape(short(content, 200))}”")
    _add_rules(tree, answer["rules"])
    _add_consequences(tree, answer)
    for item in answer["replays"]:
        label = f"[bold]replay[/] {item['mode']} {item['status']} [dim]{moment(item['created_at'])} {item['id']}[/]"
        branch = tree.add(label)
        _add_rules(branch, item["rules"])
        _add_consequences(branch, item)
    return tree


def _add_consequences(tree: Tree, answer: Json) -> None:
    _add_dispatches(tree, answer["dispatches"])
    changes = tree.add(f"changes ({len(answer['changes'])})")
    for change in answer["changes"]:
        line = f"[green]{change['change']}[/] {escape(change['content'])} [dim]{escape(change['reason'] or '')}[/]"
        changes.add(f"{line} [dim]{ids.short(change['memory_id'])}[/]")
    followed = tree.add(f"followed by ({len(answer['followed_by'])})")
    for event in answer["followed_by"]:
        followed.add(f"[cyan]{event['event_type']}[/] {escape(_subject(event))} [dim]{event['seq']}[/]")


def _add_rules(tree: Tree, rules: list[Json]) -> None:
    branch = tree.add(f"rules considered ({len(rules)})")
    for rule in rules:
        colour = {"fired": "green", "gathered": "yellow", "held": "yellow"}.get(rule["verdict"], "dim")
        reason = f": {escape(rule['reason'])}" if rule["reason"] else ""
        at = branch.add(f"{escape(rule['rule'])} v{rule['version']} [{colour}]{rule['verdict']}[/]{reason}")
        if rule.get("tree"):
            condition_view.add(at, rule["tree"])


def _add_dispatches(tree: Tree, dispatches: list[Json]) -> None:
    branch = tree.add(f"dispatches ({len(dispatches)})")
    for dispatch in dispatches:
        colour = {"done": "green", "dead": "red"}.get(dispatch["status"], "yellow")
        result = ", ".join(
            f"{name} {n}" for name, n in (dispatch["result"] or {}).items() if n not in ({}, [], "", None)
        )
        outcome = dispatch["error"] if dispatch["error"] and dispatch["status"] != "done" else result
        line = f"{dispatch['target']} [{colour}]{dispatch['status']}[/] attempt {dispatch['attempt']}"
        branch.add(
            f"{line} {escape(outcome or '')} "
            f"[dim]{escape(dispatch['rule'] or 'the service itself')} {ids.short(dispatch['id'])}[/]"
        )


def _subject(event: Json) -> str:
    kind, _, name = (event["subject"] or "").partition(":")
    return f"{kind} {ids.short(name)}" if name else kind

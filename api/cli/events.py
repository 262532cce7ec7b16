"""`imprint events`: follow the log, and trace one event."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import typer
from rich.tree import Tree

from api.cli import condition_view
from api.cli.client import AsJson, Client, moment, open_client, read, short, show_json, show_json_line
from api.terminal import escape, out
from core.types import Json

commands = typer.Typer(help="The log: follow it live, trace an event.", no_args_is_help=True, add_completion=False)

POLL_SECONDS = 0.5
PAGE = 500

LATE_SECONDS = 5.0
"""An event's place in the log is given before its commit, so one may appear behind another that was shown already:
what was new in this time is read again."""

Types = Annotated[str, typer.Option(help="Only these types, comma-separated; wildcards such as memory.* are allowed.")]
Session = Annotated[str | None, typer.Option(help="Only events of this session.")]
User = Annotated[str | None, typer.Option(help="Only events of this user.")]
Last = Annotated[int, typer.Option(min=0, max=PAGE, help="Number of stored events to start with.")]


class Follower:
    """Reads new events of the log once each, including those committed after a later one."""

    def __init__(self, client: Client, types: list[str], session_id: str | None, user_id: str | None) -> None:
        self._client = client
        self._types: list[str | None] = [*types] or [None]
        self._wanted = {"session_id": session_id, "user_id": user_id}
        self._shown: set[int] = set()
        self._newest: deque[tuple[float, int]] = deque()
        self._floor = 0

    def begin(self, last: int) -> list[Json]:
        """Return the `last` stored events, oldest first; `poll` returns later ones."""
        found: dict[int, Json] = {}
        for event_type in self._types:
            page = self._client.get("/v1/events", type=event_type, limit=PAGE, **self._wanted)
            found |= {item["seq"]: item for item in page["items"]}
            if page["next"] is not None:  # What lies before a full page is old, and must not be taken for late.
                self._floor = max(self._floor, page["items"][-1]["seq"])
        self._mark(found)
        return [found[seq] for seq in sorted(found)[-last:]] if last else []

    def poll(self) -> list[Json]:
        """Return the events not read before, in the order of the log."""
        found = {item["seq"]: item for event_type in self._types for item in self._above_floor(event_type)}
        fresh = {seq: item for seq, item in found.items() if seq not in self._shown}
        self._mark(fresh)
        return [fresh[seq] for seq in sorted(fresh)]

    def _above_floor(self, event_type: str | None) -> Iterator[Json]:
        """Yield events newest first, down to those that can no longer be preceded by late commits."""
        after: str | None = None
        while True:
            page = self._client.get("/v1/events", type=event_type, limit=PAGE, after=after, **self._wanted)
            for item in page["items"]:
                if item["seq"] <= self._floor:
                    return
                yield item
            after = page["next"]
            if after is None:
                return

    def _mark(self, found: dict[int, Json]) -> None:
        """Remember the events read, and forget those behind the window."""
        now = time.monotonic()
        self._shown |= found.keys()
        self._newest.append((now, max(self._shown, default=0)))
        while self._newest[0][0] < now - LATE_SECONDS:
            self._floor = max(self._floor, self._newest.popleft()[1])
        self._shown = {seq for seq in self._shown if seq >= self._floor}


@commands.command("tail")
def tail(
    types: Types = "", session: Session = None, user: User = None, last: Last = 10, as_json: AsJson = False
) -> None:
    """Follow the log live; Ctrl-C ends it. With --json, one event per line.

    Example: imprint events tail --user ada
    """
    wanted = [word.strip() for word in types.split(",") if word.strip()]
    show = show_json_line if as_json else _show
    with open_client() as client, suppress(KeyboardInterrupt):
        follower = Follower(client, wanted, session, user)
        for event in follower.begin(last):
            show(event)
        while True:
            for event in follower.poll():
                show(event)
            time.sleep(POLL_SECONDS)


@commands.command("trace")
def trace(event_id: str, as_json: AsJson = False) -> None:
    """Show everything that followed from an event: rules with conditions, dispatches, changes, further events.

    Example: imprint events trace 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    answer = read(f"/v1/events/{event_id}/trace")
    if as_json:
        show_json(answer)
    else:
        out.print(_tree(answer))


def _show(event: Json) -> None:
    told = event["payload"].get("content") or ", ".join(f"{k}={v}" for k, v in event["payload"].items())
    place = f"{event['seq']:>7} {moment(event['time'])} {'  ' * event['hop']}"
    line = f"[dim]{place}[/][cyan]{event['event_type']}[/] {escape(short(str(told)))} [dim]{escape(event['id'])}[/]"
    out.print(line, highlight=False, soft_wrap=True)


def _tree(answer: Json) -> Tree:
    event = answer["event"]
    tree = Tree(f"[bold cyan]{event['event_type']}[/] {escape(event['id'])} [dim]{escape(event['source'])}[/]")
    content = event["payload"].get("content")
    if content:
        tree.add(f"“{escape(short(content, 200))}”")
    _add_rules(tree, answer["rules"])
    _add_dispatches(tree, answer["dispatches"])
    changes = tree.add(f"changes ({len(answer['changes'])})")
    for change in answer["changes"]:
        line = f"[green]{change['change']}[/] {escape(change['content'])} [dim]{escape(change['reason'] or '')}[/]"
        changes.add(f"{line} [dim]{change['memory_id']}[/]")
    followed = tree.add(f"followed by ({len(answer['followed_by'])})")
    for one in answer["followed_by"]:
        followed.add(f"[cyan]{one['event_type']}[/] {escape(one['subject'] or '')} [dim]{one['id']}[/]")
    return tree


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
    for one in dispatches:
        colour = {"done": "green", "dead": "red"}.get(one["status"], "yellow")
        result = ", ".join(f"{name} {n}" for name, n in (one["result"] or {}).items())
        said = one["error"] if one["error"] and one["status"] != "done" else result
        asked = f"{one['target']} [{colour}]{one['status']}[/] attempt {one['attempt']}"
        branch.add(f"{asked} {escape(said or '')} [dim]{escape(one['rule'] or 'the service itself')} {one['id']}[/]")

"""`imprint memory bulk`: one action on many memories; what would happen first, then a question, then the work."""

from __future__ import annotations

import sys
from typing import Annotated, Final
from uuid import uuid4

import typer

from api.cli import ids, progress
from api.cli.client import AsJson, Client, finish_if_json, open_client, present, show_json
from api.terminal import err, escape, say
from core.types import Category, Json, Status

JOBS: Final = "/v1/memories/bulk/jobs"


SHOWN_ROWS: Final = 10
"""Rows that are listed of a preview, and refused ones of a result."""

ACTIONS: Final = ("pin", "unpin", "archive", "restore", "merge", "erase")

Action = Annotated[str, typer.Argument(help=f"What to do: {', '.join(ACTIONS)}.", show_default=False)]
Ids = Annotated[list[str] | None, typer.Option("--id", help="A memory by its id; may be repeated.")]
User = Annotated[str | None, typer.Option(help="Memories of this user.")]
Group = Annotated[str | None, typer.Option(help="Memories of this group.")]
Of = Annotated[Category | None, typer.Option(help="Only memories of this category.")]
Standing = Annotated[Status | None, typer.Option(help="Default: active.")]
Containing = Annotated[str | None, typer.Option("--contains", help="Substring of the content; requires --user.")]
Reason = Annotated[str | None, typer.Option(help="Reason, stored in the history.")]
Evidence = Annotated[bool, typer.Option("--evidence", help="Of an erasure: also blank the cited messages.")]
Preview = Annotated[bool, typer.Option("--preview", help="Only show what would happen.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def bulk(
    action: Action,
    memory_ids: Ids = None,
    user: User = None,
    group: Group = None,
    category: Of = None,
    status: Standing = None,
    contains: Containing = None,
    reason: Reason = None,
    evidence: Evidence = False,
    preview: Preview = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Pin, unpin, archive, restore, merge or erase many memories: show what would happen, ask, and do it.

    Example: imprint memory bulk archive --user ada --category plan --reason "Outdated."
    """
    if action not in ACTIONS:
        raise typer.BadParameter(f"{action!r} is not one of {', '.join(ACTIONS)}.", param_hint="ACTION")
    chosen = present({"user_id": user, "group_id": group, "category": category, "status": status, "q": contains})
    if bool(memory_ids) == bool(chosen):
        raise typer.BadParameter("Name the memories: either by --id, or by a filter such as --user.")
    body: Json = {"action": action, "reason": reason, "evidence": evidence}
    with open_client() as client:
        body |= (
            {"ids": [ids.resolve(client, "memory", ids.typed(memory_id)) for memory_id in memory_ids]}
            if memory_ids
            else {"filter": chosen}
        )
        _preview_and_run(client, body, only_preview=preview, yes=yes, as_json=as_json)


def _follow(client: Client, job: Json, *, quiet: bool) -> Json:
    title, parts = "preview" if job["preview"] else job["action"], ("rows", "done", "unchanged", "refused")
    return progress.follow(client, JOBS, job, "job", title, parts, quiet=quiet)


def _preview_and_run(client: Client, body: Json, *, only_preview: bool, yes: bool, as_json: bool) -> None:
    tried = _follow(client, client.post(JOBS, body, idempotency_key=_key()), quiet=as_json)
    if as_json and (only_preview or not yes):
        show_json(tried)
        return
    if not as_json:
        _show_preview(client, tried)
    if only_preview:
        return
    if not yes:
        _ask(tried)
    confirm = {"confirm": tried["rows"]} if tried["action"] == "erase" else {}
    done = _follow(client, client.post(f"{JOBS}/{tried['id']}/run", confirm, idempotency_key=_key()), quiet=as_json)
    finish_if_json(as_json, done)
    _show_result(client, done)


def _key() -> str:
    """Return a key of its own: a request that is repeated because its answer was lost begins nothing more."""
    return f"cli-{uuid4()}"


def _ask(tried: Json) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("There is no terminal to ask for confirmation: add --yes.")
    typed = typer.prompt(f"Type {tried['rows']} to {tried['action']} these memories", default="", show_default=False)
    if typed.strip() != str(tried["rows"]):
        err.print("Nothing was changed.")
        raise typer.Exit(1)


def _show_preview(client: Client, job: Json) -> None:
    say(f"[bold]{job['action']}[/] of {job['rows']:,} memories would leave {_numbers(job)}.")
    if job["chosen"].get("more"):
        say("[yellow]More match; these are the newest.[/]")
    if job["along"]:
        say(f"[yellow]{job['along']:,} memories that nobody chose say the same or rest on these, and go with them.[/]")
    for warning in job["warnings"]:
        say(f"[yellow]{escape(warning)}[/]")
    rows = client.get(f"{JOBS}/{job['id']}/rows?limit={SHOWN_ROWS}")["items"]
    fetched = client.post("/v1/memories/fetch", {"ids": [row["memory_id"] for row in rows]})
    contents = {memory["id"]: memory["content"] for memory in fetched["items"]}
    for row in rows:
        content = contents.get(row["memory_id"], "")
        say(f"  {ids.short(row['memory_id'])} {row['outcome']} {escape(content)} [dim]{escape(row['detail'] or '')}[/]")
    if job["rows"] > len(rows):
        say(f"  [dim]and {job['rows'] - len(rows):,} more[/]")


def _show_result(client: Client, job: Json) -> None:
    say(f"[bold]{job['action']}[/]: {_numbers(job)}. [dim]Job {job['id']}[/]")
    for row in client.get(f"{JOBS}/{job['id']}/rows?outcome=refused&limit={SHOWN_ROWS}")["items"]:
        say(f"  {ids.short(row['memory_id'])} refused: {escape(row['detail'] or '')}")


def _numbers(job: Json) -> str:
    return ", ".join(f"{job[name]:,} {name}" for name in ("done", "unchanged", "refused"))

"""`imprint memory rebuild`: rebuild the memories of a user from the log, show the difference, apply it or not."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import file_input, ids, tables
from api.cli.client import AsJson, Client, Refused, finish_if_json, moment, open_client, period_end, present, show_json
from api.cli.tables import Column
from api.terminal import escape, out
from core.errors import ImprintError
from core.types import Json

POLL_SECONDS = 0.5
SHOWN = 20
"""Statements shown of each kind of difference; `--json` has all of them."""

User = Annotated[str | None, typer.Option("--user", help="Owner of the memories.")]
Rules = Annotated[
    Path | None, typer.Option("--rules", help="A folder of rules, or a file with one; default: the rules in force.")
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Use only events up to this day or time.")]
Extractor = Annotated[
    str | None, typer.Option("--extractor", help="`offline`, `llm` or `both`; default: as configured.")
]
Embedding = Annotated[str | None, typer.Option("--embedding", help="`local`, `openai` or `hash`, used for judging.")]
Apply = Annotated[
    str | None, typer.Option("--apply", parser=ids.typed, metavar="ID", help="Apply the rebuild with this id.")
]
Drop = Annotated[
    str | None, typer.Option("--drop", parser=ids.typed, metavar="ID", help="Drop the rebuild with this id.")
]
List = Annotated[bool, typer.Option("--list", help="List the rebuilds that are there, newest first.")]
COLUMNS = (Column("id", style="bold"), Column("user"), Column("status"), Column("since", style="dim"))
Yes = Annotated[bool, typer.Option("--yes", help="Apply it without asking.")]


class NotRebuilt(ImprintError):
    """The rebuild failed."""


def rebuild(
    user: User = None,
    rules: Rules = None,
    as_of: AsOf = None,
    extractor: Extractor = None,
    embedding: Embedding = None,
    apply: Apply = None,
    drop: Drop = None,
    list_: List = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild a user's memories from the log, next to the current ones; show the difference, then apply or drop it.

    Example: imprint memory rebuild --user ada
    """
    if sum(value is not None for value in (user, apply, drop, list_ or None)) != 1:
        raise typer.BadParameter("give one of --user, --apply, --drop and --list")
    with open_client() as client:
        if list_:
            _show_list(client.get("/v1/rebuilds"), as_json=as_json)
        elif apply is not None:
            path = f"/v1/rebuilds/{ids.resolve(client, 'rebuild', apply)}/apply"
            _tell(client.post(path, {}), as_json=as_json)
        elif drop is not None:
            _tell(client.delete(f"/v1/rebuilds/{ids.resolve(client, 'rebuild', drop)}"), as_json=as_json)
        else:
            request = {
                "user_id": user,
                "as_of": period_end(as_of, "--as-of"),
                "extractor": extractor,
                "embedding": embedding,
            }
            _make(client, {**request, "rules": _documents(rules)}, yes=yes, as_json=as_json)


def _make(client: Client, request: Json, *, yes: bool, as_json: bool) -> None:
    made = client.post("/v1/rebuilds", present(request))
    while made["status"] == "running":
        time.sleep(POLL_SECONDS)
        _require_alive(client, made["id"])
        made = client.get(f"/v1/rebuilds/{made['id']}")
    if as_json:
        show_json(made)
    else:
        _show(made)
    if yes:
        _tell(client.post(f"/v1/rebuilds/{made['id']}/apply", {}), as_json=as_json)


def _require_alive(client: Client, rebuild_id: str) -> None:
    """Fail with the reason if the worker has given up."""
    try:
        trace = client.get(f"/v1/events/{rebuild_id}/trace")
    except Refused:
        return
    dead = [d for d in trace.get("dispatches", ()) if d["status"] == "dead"]
    if dead:
        raise NotRebuilt(f"{dead[0]['target']} gave up: {dead[0]['error']}")


def _documents(path: Path | None) -> list[Any] | None:
    if path is None:
        return None
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    return [file_input.read_json(file) for file in files]


def _show(made: Json) -> None:
    difference = made["difference"]
    for change, sign, kind in (("added", "+", "green"), ("gone", "-", "red")):
        for item in difference[change][:SHOWN]:
            out.print(f"[{kind}]{sign} {escape(item['content'])}[/]", highlight=False)
    for item in difference["changed"][:SHOWN]:
        line = f"[yellow]~ {escape(item['from'])} → {escape(item['to'])}[/]"
        out.print(line, highlight=False)
    numbers = ", ".join(f"{len(difference[change])} {change}" for change in ("added", "gone", "changed"))
    out.print(f"{numbers}, {difference['same']} the same, {difference['kept']} left alone.", highlight=False)
    out.print(f"Nothing has changed yet. imprint memory rebuild --apply {ids.short(made['id'])}", highlight=False)


def _show_list(answer: Json, *, as_json: bool) -> None:
    items = finish_if_json(as_json, answer)["items"]
    rows = ([ids.short(item["id"]), item["user_id"], item["status"], moment(item["created_at"])] for item in items)
    tables.listed(COLUMNS, rows, "There is no rebuild; `imprint memory rebuild --user NAME` starts one.")


def _tell(answer: Json, *, as_json: bool) -> None:
    finish_if_json(as_json, answer)
    counts = answer.get("changes")
    out.print(f"{answer['status'].capitalize()}{f': {counts}' if counts else ''}.", highlight=False)

"""`imprint dead`: dispatches that failed permanently: groups, retrying, retrying with other parameters, discarding."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import confirming, file_input, ids, lazy, tables
from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, present, read
from api.cli.tables import Column
from api.terminal import as_json as json_text
from api.terminal import err

commands = lazy.group("Dead letters: list and retry dispatches that failed permanently.")

Id = Annotated[str, typer.Argument(parser=ids.typed, metavar="ID", help="Id as printed by `imprint dead list`.")]
Rule = Annotated[str | None, typer.Option(help="Only dispatches of this rule.")]
Target = Annotated[str | None, typer.Option(help="Only dispatches to this agent.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
All = Annotated[bool, typer.Option("--all", help="All dead letters that match --rule and --target.")]

COLUMNS = (
    *(Column("id", style="bold"), Column("agent"), Column("failed", style="dim")),
    Column("reason", flexible=True),
)

Group = Annotated[str | None, typer.Option(help="Only this group, as printed by `imprint dead groups`.")]

GROUPS = (
    *(Column("group", style="bold"), Column("number", right=True), Column("agent"), Column("last", style="dim")),
    *(Column("rules"), Column("reason", flexible=True)),
)

PAGE = 1_000
"""Dead letters replayed in one request: as many as the server takes."""


@commands.command("list")
def list_(rule: Rule = None, target: Target = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List dispatches that failed permanently, newest first, with the reason.

    Example: imprint dead list --target webhook_sender
    """
    answer = finish_if_json(as_json, read("/v1/dispatches", status="dead", rule=rule, target=target, limit=limit))
    tables.listed(COLUMNS, map(_row, answer["items"]), "There are no dead letters.")


@commands.command("groups")
def groups(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the groups of dead letters: those of one agent whose errors differ in ids, numbers and quotes alone.

    Example: imprint dead groups
    """
    answer = finish_if_json(as_json, read("/v1/dispatches/groups", limit=limit))
    items = sorted(answer["items"], key=lambda item: item["last_at"] or "", reverse=True)
    tables.listed(GROUPS, map(_group_row, items), "There are no dead letters.")


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
    group: Group = None,
    as_json: AsJson = False,
) -> None:
    """Retry dead letters from their first attempt: the given ones, or all that match.

    Examples: imprint dead replay 1d5743a6
    imprint dead replay --all --target webhook_sender
    """
    if bool(dispatch_ids) == everything:
        raise typer.BadParameter("Name dead letters by their ids, or give --all.")
    with open_client() as client:
        filters = present({"rule": rule, "target": target, "fingerprint": group})
        replayed = _all(client, filters) if everything else _retry_each(client, dispatch_ids or [])
    finish_if_json(as_json, {"items": replayed, "next": None})
    for dispatch_id in replayed:
        err.print(f"{ids.short(dispatch_id)} is tried again.", highlight=False)
    if not replayed:
        err.print("There is no such dead letter.")


@commands.command("edit")
def edit(
    dispatch_id: Id,
    params: Annotated[Path, typer.Option("--params", help="File with the parameters as JSON; - reads them here.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the parameters.")] = False,
    as_json: AsJson = False,
) -> None:
    """Retry a dead letter with other parameters, as a dispatch of its own that takes its place.

    `imprint dead show ID --json` prints the parameters; masked values that are left as they are, stay.

    Example: imprint dead edit 1d5743a6 --params fixed.json
    """
    changed = _params(params)
    with open_client() as client:
        resolved_id = ids.resolve(client, "dispatch", dispatch_id)
        made = client.post(f"/v1/dispatches/{resolved_id}/retry-edited", {"params": changed, "dry_run": dry_run})
    made = finish_if_json(as_json, made)
    if dry_run:
        err.print("These parameters are valid.")
    else:
        held = " once it is approved" if made["hold"] == "approval" else ""
        err.print(f"{ids.short(resolved_id)} is tried again as {ids.short(made['id'])}{held}.", highlight=False)


@commands.command("discard")
def discard(
    rule: Rule = None,
    target: Target = None,
    group: Group = None,
    comment: Annotated[str | None, typer.Option("--comment", "-m", help="Comment, stored with each.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Discard them without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Discard dead letters that match, at most 1,000 at once, with the actions that waited for them.

    Example: imprint dead discard --group 5c1f0a9be2d47713 -m "the shop is gone"
    """
    body = {"filter": present({"rule": rule, "target": target, "fingerprint": group}), "limit": PAGE}
    with open_client() as client:
        would = client.post("/v1/dispatches/discard", {**body, "dry_run": True})
        if would["matched"] and not yes:
            confirming.ask(f"Discard {would['matched']} dead letters?", "Nothing was discarded.")
        done = client.post("/v1/dispatches/discard", {**body, "confirm": would["matched"], "comment": comment})
    done = finish_if_json(as_json, done)
    more = " Others match as well." if done["more"] else ""
    err.print(f"{done['discarded']} dead letters are discarded.{more}", highlight=False)


def _params(file: Path) -> Any:
    try:
        return file_input.read_json(file)
    except file_input.NotJson as error:
        raise typer.BadParameter(error.detail) from None


def _group_row(item: dict[str, Any]) -> list[str]:
    number = f"{item['letters']['count']}{'+' if item['letters']['more'] else ''}"
    rules, reason = ", ".join(item["rules"]), item["error"] or "no reason was stored"
    return [item["fingerprint"], number, item["target"], moment(item["last_at"])[:16], rules, reason]


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
    resolved_ids = [ids.resolve(client, "dispatch", dispatch_id) for dispatch_id in dispatch_ids]
    for dispatch_id in resolved_ids:
        client.post(f"/v1/dispatches/{dispatch_id}/retry", {})
    return resolved_ids


def _all(client: Client, filters: dict[str, str]) -> list[str]:
    """Replay page by page; a dispatch that fails again is not retried twice."""
    replayed: list[str] = []
    while True:
        answer = client.post("/v1/dispatches/replay", {"filter": filters, "limit": PAGE})
        fresh = [dispatch_id for dispatch_id in answer["ids"] if dispatch_id not in replayed]
        replayed += fresh
        if not fresh or answer["matched"] <= len(answer["ids"]):
            return replayed

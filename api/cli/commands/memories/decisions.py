"""Verdicts on statements, undo, and related memories."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import ids, tables
from api.cli.client import AsJson, finish_if_json, moment, open_client
from api.cli.ids import MemoryId
from api.cli.tables import Column
from api.terminal import err, escape, out
from core.types import Json

User = Annotated[str | None, typer.Option(help="Only of this user.")]
Kind = Annotated[str | None, typer.Option(help="Only of this kind: merge, confirm, supersede, ignore …")]
Memory = Annotated[str | None, typer.Option(parser=ids.typed, metavar="ID", help="Only about this memory.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
Near = Annotated[int, typer.Option(min=1, max=100)]
Depth = Annotated[int, typer.Option(min=1, max=2, help="Maximum number of steps.")]
Undone = Annotated[
    str | None, typer.Argument(parser=ids.typed, metavar="[MEMORY_ID]", help="The memory whose latest change to undo.")
]
ChangeId = Annotated[
    str | None,
    typer.Option("--change", parser=ids.typed, metavar="ID", help="Or the id of a change, as shown by `decisions`."),
]
Version = Annotated[int | None, typer.Option(help="Undo the change that made this version of the memory.")]
Reason = Annotated[str, typer.Option(help="Reason, stored in the history.")]
Keep = Annotated[bool, typer.Option("--keep", help="With --change: keep the absorbed statement as a separate memory.")]


COLUMNS = (
    *(Column("id", style="bold"), Column("verdict", style="cyan"), Column("day", style="dim")),
    Column("statement and reason", flexible=True),
)
RELATED = (
    *(Column("id", style="bold"), Column("score"), Column("by", style="dim", flexible=True)),
    Column("memory", flexible=True),
)


def decisions(
    user: User = None, kind: Kind = None, memory: Memory = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List verdicts on statements that were related to a stored memory or were not stored, newest first.

    Example: imprint memory decisions --user ada --kind merge
    """
    with open_client() as client:
        about = ids.resolve(client, "memory", memory) if memory else None
        answer = client.get("/v1/memories/decisions", user_id=user, kind=kind, memory_id=about, limit=limit)
    items = finish_if_json(as_json, answer)["items"]
    tables.listed(COLUMNS, map(_row, items), "Nothing was decided.")


def undo(
    memory_id: Undone = None,
    change: ChangeId = None,
    version: Version = None,
    reason: Reason = "",
    keep: Keep = False,
    as_json: AsJson = False,
) -> None:
    """Undo a memory's latest change, or any change by its id.

    Example: imprint memory undo --change 1d5743a6
    """
    if (memory_id is None) == (change is None):
        raise typer.BadParameter("Name a memory, or a change with --change.")
    if change:
        body = {"reason": reason, "keep": keep}
        done = ids.call("post", "change", change, "/v1/memories/decisions/{id}/undo", body)
    else:
        body = {"reason": reason, "version": version}
        done = ids.call("post", "memory", memory_id or "", "/v1/memories/{id}/undo", body)
    finish_if_json(as_json, done)
    for memory in done["memories"]:
        stands = f"[dim]{memory['status']}, v{memory['version']}[/]"
        out.print(f"[bold]{ids.short(memory['id'])}[/] {stands} {escape(memory['content'])}", highlight=False)
    err.print(f"Undone. `imprint memory undo --change {ids.short(done['change_id'])}` takes this back.")


def related(memory_id: MemoryId, depth: Depth = 1, limit: Near = 20, as_json: AsJson = False) -> None:
    """List the memories related to one, closest first, with the path to each.

    Example: imprint memory related 1d5743a6
    """
    answer = ids.read("memory", memory_id, "/v1/memories/{id}/related", depth=depth, limit=limit)
    items = finish_if_json(as_json, answer)["items"]
    rows = ([ids.short(memory["id"]), f"{memory['score']:.2f}", _way(memory), memory["content"]] for memory in items)
    tables.listed(RELATED, rows, "Nothing is related to it.")


def _row(item: Json) -> list[str]:
    verdict = item["kind"] + (" (undone)" if item["undone_by"] else "")
    quote = f"“{item['said']}” " if item["said"] else ""
    return [ids.short(item["change_id"] or "–"), verdict, moment(item["at"])[:10], f"{quote}{item['reason']}"]


def _way(item: Json) -> str:
    return " → ".join((f"{hop['by']} it" if hop["outward"] is False else str(hop["by"])) for hop in item["path"])

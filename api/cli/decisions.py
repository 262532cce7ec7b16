"""Verdicts on statements, undo, and related memories."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.client import AsJson, MemoryId, finish_if_json, moment, open_client, read, short, whole_id
from api.terminal import err, escape, out
from core.types import Json

User = Annotated[str | None, typer.Option(help="Only of this user.")]
Kind = Annotated[str | None, typer.Option(help="Only of this kind: merge, confirm, supersede, ignore …")]
Memory = Annotated[str | None, typer.Option(help="Only about this memory.")]
Limit = Annotated[int, typer.Option(min=1, max=500)]
Near = Annotated[int, typer.Option(min=1, max=100)]
Depth = Annotated[int, typer.Option(min=1, max=2, help="Maximum number of steps.")]
Undone = Annotated[
    str | None, typer.Argument(parser=whole_id, metavar="[MEMORY_ID]", help="The memory whose latest change to undo.")
]
ChangeId = Annotated[str | None, typer.Option("--change", help="Or the id of a change, as shown by `decisions`.")]
Version = Annotated[int | None, typer.Option(help="Undo the change that made this version of the memory.")]
Reason = Annotated[str, typer.Option(help="Reason, stored in the history.")]
Keep = Annotated[bool, typer.Option("--keep", help="With --change: keep the absorbed statement as a separate memory.")]


def decisions(
    user: User = None, kind: Kind = None, memory: Memory = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List verdicts on statements that were related to a stored memory or were not stored, newest first.

    Example: imprint memory decisions --user ada --kind merge
    """
    answer = read("/v1/memories/decisions", user_id=user, kind=kind, memory_id=memory, limit=limit)
    items = finish_if_json(as_json, answer)["items"]
    if not items:
        err.print("Nothing was decided.")
        return
    for item in items:
        verdict = item["kind"] + (" (undone)" if item["undone_by"] else "")
        out.print(f"{item['change_id'] or '–'} [cyan]{verdict}[/] [dim]{moment(item['at'])}[/]", highlight=False)
        out.print(f"  “{escape(short(item['said'] or '–', 200))}” [dim]{escape(item['reason'])}[/]", soft_wrap=True)


def undo(
    memory_id: Undone = None,
    change: ChangeId = None,
    version: Version = None,
    reason: Reason = "",
    keep: Keep = False,
    as_json: AsJson = False,
) -> None:
    """Undo a memory's latest change, or any change by its id.

    Example: imprint memory undo --change 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    if (memory_id is None) == (change is None):
        raise typer.BadParameter("Name a memory, or a change with --change.")
    with open_client() as client:
        if change:
            done = client.post(f"/v1/memories/decisions/{change}/undo", {"reason": reason, "keep": keep})
        else:
            done = client.post(f"/v1/memories/{memory_id}/undo", {"reason": reason, "version": version})
    finish_if_json(as_json, done)
    for one in done["memories"]:
        out.print(f"{one['id']} [dim]{one['status']}, v{one['version']}[/] {escape(one['content'])}", soft_wrap=True)
    err.print(f"Undone. `imprint memory undo --change {done['change_id']}` takes this back.")


def related(memory_id: MemoryId, depth: Depth = 1, limit: Near = 20, as_json: AsJson = False) -> None:
    """List the memories related to one, closest first, with the path to each.

    Example: imprint memory related 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    answer = finish_if_json(as_json, read(f"/v1/memories/{memory_id}/related", depth=depth, limit=limit))
    items = answer["items"]
    if not items:
        err.print("Nothing has to do with it.")
    for item in items:
        way = " → ".join(_hop(hop) for hop in item["path"])
        out.print(
            f"{item['score']:.2f} {escape(item['content'])} [dim]{way}, {item['id']}[/]",
            soft_wrap=True,
            highlight=False,
        )


def _hop(hop: Json) -> str:
    return f"{hop['by']} it" if hop["outward"] is False else str(hop["by"])

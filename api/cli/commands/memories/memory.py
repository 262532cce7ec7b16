"""`imprint memory`: list and show memories, their history and origin."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from api.cli import ids, lazy, tables
from api.cli.client import AsJson, finish_if_json, moment, read, short
from api.cli.commands.memories import bulk, decisions, edits, forgettings, stats
from api.cli.commands.memories.rebuild import rebuild
from api.cli.field_filters import Metadata, Structured
from api.cli.ids import MemoryId
from api.cli.tables import Column
from api.terminal import escape, out
from core.types import Category, Json, Status

commands = lazy.group(
    "Memories: list, edit, forget, explain.",
    {
        "reembed": (
            "api.cli.commands.memories.reembed:reembed",
            "Make the vectors of the model that IMPRINT_EMBEDDING names here, beside those that are in use.",
        )
    },
)
commands.command("add")(edits.add)
commands.command("edit")(edits.edit)
commands.command("pin")(edits.pin)
commands.command("delete")(edits.delete)
commands.command("forget", help=edits.FORGET)(edits.delete)
commands.command("bulk")(bulk.bulk)
commands.command("rebuild")(rebuild)
lazy.add_placeholders(commands)
commands.command("decisions")(decisions.decisions)
commands.command("undo")(decisions.undo)
commands.command("related")(decisions.related)
commands.command("forgettings")(forgettings.forgettings)
commands.command("unforget")(forgettings.unforget)
commands.command("stats")(stats.stats)

User = Annotated[str | None, typer.Option(help="Only memories of this user.")]
Group = Annotated[str | None, typer.Option(help="Only memories of this group.")]
Session = Annotated[str | None, typer.Option(help="Only memories that cite this session.")]
Of = Annotated[Category | None, typer.Option(help="Only memories of this category.")]
Standing = Annotated[Status | None, typer.Option(help="Default: active.")]
Containing = Annotated[str | None, typer.Option("--contains", help="Substring of the content; requires --user.")]
Since = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Happened or said then or later.")]
Until = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Happened or said before.")]
Ordered = Annotated[str, typer.Option("--order", help="newest, oldest, said, importance, updated, strength, uses, …")]
After = Annotated[str | None, typer.Option(help="Cursor shown with the previous page.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Memories per page.")]

SHOWN = (
    *("id", "user_id", "subject", "kind", "category", "topic", "attribute", "value"),
    *("importance", "confidence", "strength", "trust", "status"),
    *("occurred_at", "valid_from", "valid_to", "recorded_at", "version"),
)

COLUMNS = (
    Column("id", style="bold"),
    Column("owner"),
    Column("category", style="dim"),
    Column("memory", flexible=True),
)


@commands.command("list")
def list_(
    user: User = None,
    group: Group = None,
    session: Session = None,
    category: Of = None,
    status: Standing = None,
    contains: Containing = None,
    since: Since = None,
    until: Until = None,
    structured: Structured = None,
    metadata: Metadata = None,
    order: Ordered = "newest",
    after: After = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List memories, newest first, one a line, each with the end of its id: all that other commands need of it.

    Example: imprint memory list --user ada --category preference
    """
    time = {"from": since, "to": until, "structured": structured, "metadata": metadata, "order": order}
    query = time | {"user_id": user, "group_id": group, "session_id": session, "q": contains, "after": after}
    answer = finish_if_json(as_json, read("/v1/memories", **query, category=category, status=status, limit=limit))
    rows = ([ids.short(memory["id"]), *_about(memory)] for memory in answer["items"])
    tables.listed(COLUMNS, rows, "No memory fits.", answer["next"])


@commands.command("show")
def show(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Show a memory with its evidence.

    Example: imprint memory show 1d5743a6
    """
    memory = finish_if_json(as_json, ids.read("memory", memory_id, "/v1/memories/{id}"))
    out.print(f"[bold]{escape(memory['content'])}[/]", highlight=False)
    names = [name for name in SHOWN if memory[name] is not None]
    times = ("_at", "_from", "_to")
    pairs = [(name, moment(memory[name]) if name.endswith(times) else memory[name]) for name in names]
    tables.fields(
        [*pairs, *(("source", f"“{source['quote']}” {_place(source)}") for source in memory["sources"])], indent="  "
    )


@commands.command("history")
def history(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Show every version of a memory, oldest first: what changed, by whom, and why.

    Example: imprint memory history 1d5743a6
    """
    answer = finish_if_json(as_json, ids.read("memory", memory_id, "/v1/memories/{id}/history"))
    for version in answer["items"]:
        line = f"[cyan]{version['change']}[/] v{version['version']}, {moment(version['at'])} by {_author(version)}"
        out.print(f"{line}: {escape(version['reason'])}", highlight=False)
        tables.hanging(Text("  "), str(version["snapshot"].get("content", "")))


@commands.command("why")
def why(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Explain why a memory exists: for each change, the event, rule and agent, or the person, behind it.

    Example: imprint memory why 1d5743a6
    """
    answer = finish_if_json(as_json, ids.read("memory", memory_id, "/v1/memories/{id}/why"))
    memory = answer["memory"]
    tree = Tree(f"[bold]{escape(memory['content'])}[/] [dim]{memory['status']}[/]")
    evidence = tree.add("rests on")
    for source in memory["sources"]:
        evidence.add(f"“{escape(source['quote'])}” [dim]{escape(_place(source))}[/]")
    for step in answer["steps"]:
        _add_step(tree, step)
    out.print(tree)


def _add_step(tree: Tree, step: Json) -> None:
    by = f" by {_author(step)}" if "author" in step else ""
    line = f"[cyan]{step['change']}[/] v{step['version']}, {moment(step['at'])}{by}: {escape(step['reason'])}"
    branch = tree.add(line)
    if "dispatch" not in step:
        return
    event, dispatch = step["event"], step["dispatch"]
    if event:
        branch.add(f"event {escape(event['event_type'])} [dim]{event['seq']}[/]")
    branch.add(f"rule {escape(step['rule']['name'])} v{step['rule']['version']}")
    branch.add(
        f"agent {dispatch['target']} [dim]dispatch {ids.short(dispatch['id'])}, attempt {dispatch['attempt']}[/]"
    )
    for call in step["model_calls"]:
        tokens = f"{call['input_tokens']} + {call['output_tokens']} tokens"
        description = f"model {escape(call['model'])}, prompt {escape(call['prompt'])}"
        branch.add(f"{description}, {tokens}: {escape(short(call['outcome']))}")


def _author(step: Json) -> str:
    return escape(str(step["author"].get("key_name") or step["author"]["name"]))


def _about(memory: Json) -> list[str]:
    """Return owner, category and content for a line; a memory that is not active says so."""
    mark = f"{memory['category']} ({memory['status']})" if memory["status"] != Status.ACTIVE else memory["category"]
    return [memory["user_id"] or memory["group_id"], mark, memory["content"]]


def _place(source: Json) -> str:
    if not source["session_id"]:
        return f"request {source['message_id']}"
    return f"{source['session_id']}, message {source['message_id']}"

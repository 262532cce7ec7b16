"""`imprint memory`: list and show memories, their history and origin."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer
from rich.tree import Tree

from api.cli import decisions, forgettings, lazy, memory_edits, stats
from api.cli.client import AsJson, MemoryId, finish_if_json, moment, read, short
from api.cli.lazy import CommandTable, LazyGroup
from api.cli.rebuild import rebuild
from api.terminal import err, escape, out
from core.types import Category, Json, Status


class MemoryCommands(LazyGroup):
    """Commands about memories; the one that accesses the database directly is loaded on first call."""

    table: ClassVar[CommandTable] = {
        "reembed": (
            "api.cli.reembed:reembed",
            "Make the vectors of the model that IMPRINT_EMBEDDING names here, beside those that are in use.",
        )
    }


commands = typer.Typer(
    cls=MemoryCommands,
    help="Memories: list, edit, forget, explain.",
    no_args_is_help=True,
    add_completion=False,
)
commands.command("add")(memory_edits.add)
commands.command("edit")(memory_edits.edit)
commands.command("pin")(memory_edits.pin)
commands.command("delete")(memory_edits.delete)
commands.command("forget", help=memory_edits.FORGET)(memory_edits.delete)
commands.command("rebuild")(rebuild)
lazy.add_placeholders(commands, MemoryCommands.table)
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
After = Annotated[str | None, typer.Option(help="Cursor shown with the previous page.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Memories per page.")]

SHOWN = (
    *("user_id", "subject", "kind", "category", "topic", "attribute", "value"),
    *("importance", "confidence", "strength", "trust", "status"),
    *("occurred_at", "valid_from", "valid_to", "recorded_at", "version"),
)


@commands.command("list")
def list_(
    user: User = None,
    group: Group = None,
    session: Session = None,
    category: Of = None,
    status: Standing = None,
    contains: Containing = None,
    after: After = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List memories, newest first, each with its id.

    Example: imprint memory list --user ada --category preference
    """
    wanted = {"user_id": user, "group_id": group, "session_id": session, "q": contains, "after": after}
    answer = finish_if_json(as_json, read("/v1/memories", **wanted, category=category, status=status, limit=limit))
    for memory in answer["items"]:
        out.print(f"{memory['id']} {escape(short(memory['content'], 200))} [dim]{_about(memory)}[/]", soft_wrap=True)
    if not answer["items"]:
        err.print("No memory fits.")
    if answer["next"]:
        err.print(f"More: --after {answer['next']}", highlight=False, soft_wrap=True)


@commands.command("show")
def show(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Show a memory with its evidence.

    Example: imprint memory show 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    memory = finish_if_json(as_json, read(f"/v1/memories/{memory_id}"))
    out.print(f"[bold]{escape(memory['content'])}[/]", soft_wrap=True, highlight=False)
    for name in SHOWN:
        if memory[name] is not None:
            value = moment(memory[name]) if name.endswith(("_at", "_from", "_to")) else memory[name]
            out.print(f"  {name:<12} {escape(str(value))}", highlight=False)
    for source in memory["sources"]:
        out.print(f"  [dim]“{escape(source['quote'])}” {escape(_place(source))}[/]", soft_wrap=True, highlight=False)


@commands.command("history")
def history(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Show every version of a memory, oldest first: what changed, by whom, and why.

    Example: imprint memory history 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    answer = finish_if_json(as_json, read(f"/v1/memories/{memory_id}/history"))
    for version in answer["items"]:
        line = f"[cyan]{version['change']}[/] v{version['version']}, {moment(version['at'])} by {_author(version)}"
        out.print(f"{line}: {escape(version['reason'])}", soft_wrap=True, highlight=False)
        out.print(f"  {escape(str(version['snapshot'].get('content', '')))}", soft_wrap=True, highlight=False)


@commands.command("why")
def why(memory_id: MemoryId, as_json: AsJson = False) -> None:
    """Explain why a memory exists: for each change, the event, rule and agent, or the person, behind it.

    Example: imprint memory why 01a201d5-e5cb-7040-9e09-b43e1d5743a6
    """
    answer = finish_if_json(as_json, read(f"/v1/memories/{memory_id}/why"))
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
        branch.add(f"event {escape(event['event_type'])} [dim]{escape(event['id'])}[/]")
    branch.add(f"rule {escape(step['rule']['name'])} v{step['rule']['version']}")
    branch.add(f"agent {dispatch['target']} [dim]dispatch {dispatch['id']}, attempt {dispatch['attempt']}[/]")
    for call in step["model_calls"]:
        tokens = f"{call['input_tokens']} + {call['output_tokens']} tokens"
        asked = f"model {escape(call['model'])}, prompt {escape(call['prompt'])}"
        branch.add(f"{asked}, {tokens}: {escape(short(call['outcome']))}")


def _author(step: Json) -> str:
    """Return the author of a change: an agent, a key, a file."""
    return escape(str(step["author"]["name"]))


def _about(memory: Json) -> str:
    marks = [memory["category"], memory["topic"], escape(memory["user_id"])]
    marks += [memory["status"]] if memory["status"] != Status.ACTIVE else []
    return ", ".join(marks)


def _place(source: Json) -> str:
    if not source["session_id"]:
        return f"request {source['message_id']}"
    return f"{source['session_id']}, message {source['message_id']}"

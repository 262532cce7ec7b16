"""One memory: what it says, what it rests on, why it is there."""

from __future__ import annotations

import typer
from rich.markup import escape
from rich.tree import Tree

from api.cli import decisions, figures
from api.cli.client import AsJson, moment, out, read, short, show_json
from api.cli.rebuild import rebuild
from api.cli.reembed import reembed
from core.types import Json

commands = typer.Typer(help="One memory, and why it exists.", no_args_is_help=True, add_completion=False)
commands.command("rebuild")(rebuild)
commands.command("reembed")(reembed)
commands.command("decisions")(decisions.decisions)
commands.command("undo")(decisions.undo)
commands.command("related")(decisions.related)
commands.command("stats")(figures.stats)

SHOWN = (
    *("user_id", "subject", "kind", "category", "topic", "attribute", "value"),
    *("importance", "confidence", "strength", "trust", "status"),
    *("occurred_at", "valid_from", "valid_to", "recorded_at", "version"),
)


@commands.command("show")
def show(memory_id: str, as_json: AsJson = False) -> None:
    """One memory with its evidence."""
    memory = read(f"/v1/memories/{memory_id}")
    if as_json:
        show_json(memory)
        return
    out.print(f"[bold]{escape(memory['content'])}[/]", soft_wrap=True, highlight=False)
    for name in SHOWN:
        if memory[name] is not None:
            value = moment(memory[name]) if name.endswith(("_at", "_from", "_to")) else memory[name]
            out.print(f"  {name:<12} {escape(str(value))}", highlight=False)
    for source in memory["sources"]:
        out.print(f"  [dim]“{escape(source['quote'])}” {escape(_place(source))}[/]", soft_wrap=True, highlight=False)


@commands.command("why")
def why(memory_id: str, as_json: AsJson = False) -> None:
    """Why a memory exists: for each change the event, the rule and the agent behind it."""
    answer = read(f"/v1/memories/{memory_id}/why")
    if as_json:
        show_json(answer)
        return
    memory = answer["memory"]
    tree = Tree(f"[bold]{escape(memory['content'])}[/] [dim]{memory['status']}[/]")
    evidence = tree.add("rests on")
    for source in memory["sources"]:
        evidence.add(f"“{escape(source['quote'])}” [dim]{escape(_place(source))}[/]")
    for step in answer["steps"]:
        _add_step(tree, step)
    out.print(tree)


def _add_step(tree: Tree, step: Json) -> None:
    line = f"[cyan]{step['change']}[/] v{step['version']}, {moment(step['at'])}: {escape(step['reason'])}"
    branch = tree.add(line)
    if "dispatch" not in step:
        return
    event, dispatch = step["event"], step["dispatch"]
    if event:
        branch.add(f"event {event['event_type']} [dim]{escape(event['id'])}[/]")
    branch.add(f"rule {step['rule']['name']} v{step['rule']['version']}")
    branch.add(f"agent {dispatch['target']} [dim]dispatch {dispatch['id']}, attempt {dispatch['attempt']}[/]")
    for call in step["model_calls"]:
        tokens = f"{call['input_tokens']} + {call['output_tokens']} tokens"
        asked = f"model {escape(call['model'])}, prompt {escape(call['prompt'])}"
        branch.add(f"{asked}, {tokens}: {escape(short(call['outcome']))}")


def _place(source: Json) -> str:
    if not source["session_id"]:
        return f"request {source['message_id']}"
    return f"{source['session_id']}, message {source['message_id']}"

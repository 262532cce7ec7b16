"""`imprint`: every command in one table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from core.errors import ImprintError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "up": ("api.cli.service:up", "The whole stack on this machine; Ctrl-C ends all of it, the data stays."),
    "demo": ("api.cli.demo:demo", "From nothing to the answer: a conversation, memories, five questions."),
    "publish": ("api.cli.publish:publish", "Publish events: from arguments, a file or standard input."),
    "search": ("api.cli.search:search", "Ask what is known."),
    "context": ("api.cli.context:context", "What an agent should see now, within a limit of tokens."),
    "documents": ("api.cli.documents:commands", "The knowledge base: documents."),
    "events": ("api.cli.events:commands", "The log: follow it live, trace one event."),
    "rules": ("api.cli.rules:commands", "The rules in force: read them, change them."),
    "memory": ("api.cli.memory:commands", "One memory, and why it exists."),
    "mirror": ("api.cli.mirror:commands", "The Markdown files of what is remembered: where they are, how they stand."),
    "user": ("api.cli.user:commands", "Everything that is held of one user."),
    "approvals": ("api.cli.approvals:commands", "What waits for somebody's word: see it, say yes or no."),
    "dead": ("api.cli.dead:commands", "What was given up, with its reason."),
    "costs": ("api.cli.costs:costs", "What models have cost, by rule, agent, user or model."),
    "doctor": ("api.cli.doctor:doctor", "Look at everything Imprint needs, and say the way out."),
    "serve": ("api.cli.serve:serve", "The HTTP door (one process)."),
    "router": ("api.cli.service:router", "The router (one process): rules decide on what is new."),
    "worker": ("api.cli.service:worker", "A Celery worker for one queue."),
    "clock": ("api.cli.service:clock", "The clock (one process): sends again what is owed."),
    "db": ("api.cli.service:db_commands", "The database."),
    "keys": ("api.cli.service:key_commands", "Keys, and the tenants they belong to."),
    "model": ("api.cli.service:model_commands", "The local embedding model."),
}
"""What each command is called, where it is, and its line in the overview."""


class Commands(TyperGroup):
    """Loads only the command that is called: with all of them, `imprint --help` would take ten times as long."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, _load(*COMMANDS[name]) if name else None, rest


app = typer.Typer(
    name="imprint",
    cls=Commands,
    help="Long-term memory for AI agents: events in, rules decide, workers remember.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def main() -> None:
    """Exit code 0: fine, 1: failed, 2: wrong usage."""
    try:
        app()
    except ImprintError as error:
        said = Console(stderr=True, highlight=False)
        said.print(f"[red]{type(error).__name__}[/]: {escape(error.detail)}", soft_wrap=True)
        sys.exit(1)


def _load(place: str, line: str) -> Any:
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)  # Also where it has one command: `imprint db upgrade`.
    alone = typer.Typer(add_completion=False)
    alone.command(help=found.__doc__ or line)(found)
    return typer.main.get_command(alone)


def _placeholder() -> None:
    """Stands in the overview for a command that is not loaded."""


for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_placeholder)

if __name__ == "__main__":
    main()

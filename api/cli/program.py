"""`imprint`: the table of all commands."""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]
from typer.exceptions import Abort, TyperException

from api.cli import failures, lazy
from api.cli.lazy import CommandTable, LazyGroup
from api.terminal import as_json, err, escape, out, say
from core import deferred
from core.errors import ImprintError

COMMANDS: CommandTable = {
    "up": ("api.cli.local_stack:up", "The whole stack on this machine; Ctrl-C ends all of it, the data stays."),
    "demo": (
        "api.cli.commands.host.demo:demo",
        "From nothing to the answer: a conversation, memories, five questions.",
    ),
    "publish": ("api.cli.commands.log.publish:publish", "Publish events: from arguments, a file or standard input."),
    "hook": ("api.cli.commands.log.hook:hook", "Report what a coding agent's hook was sent, and print the answer."),
    "import": ("api.cli.commands.transfer.imports:import_", "Import conversations and memories of other services."),
    "search": ("api.cli.commands.search.search:search", "Search memories, messages and documents."),
    "ask": ("api.cli.commands.search.ask:ask", "Answer a question from memory; exit code 4 if it is not known."),
    "context": ("api.cli.commands.search.context:context", "The context of an agent within a token limit."),
    "documents": ("api.cli.commands.search.documents:commands", "The knowledge base: documents."),
    "mcp": ("api.cli.commands.host.mcp:mcp", "MCP over standard input and output, for agents that start a command."),
    "events": ("api.cli.commands.log.events:commands", "The log: follow it live, trace an event, replay some."),
    "rules": ("api.cli.commands.rules.rules:commands", "The rules in force: show and change them."),
    "memory": ("api.cli.commands.memories.memory:commands", "Memories: list, edit, forget, explain."),
    "profile": ("api.cli.commands.sessions.profile:profile", "What is known of a user or a group, in sections."),
    "session": ("api.cli.commands.sessions.session:commands", "Sessions: list, show, end, delete."),
    "mirror": ("api.cli.commands.host.mirror:commands", "The Markdown mirror: location and state of its files."),
    "user": ("api.cli.commands.sessions.user:commands", "A user: profile, people, export, erasure, receipts."),
    "group": ("api.cli.commands.sessions.group:commands", "A group: export, erasure."),
    "tenant": (
        "api.cli.commands.tenant.tenant:commands",
        "Settings of a tenant: webhooks, channels, secrets, limits. Moving it.",
    ),
    "prompts": (
        "api.cli.commands.tenant.prompts:commands",
        "Prompts of the tenant's own: versions, preview, share of sessions.",
    ),
    "approvals": ("api.cli.commands.work.approvals:commands", "Actions that wait for approval: list, approve, reject."),
    "dead": (
        "api.cli.commands.work.dead_letters:commands",
        "Dead letters: list and retry dispatches that failed permanently.",
    ),
    "alarms": ("api.cli.commands.work.alarms:alarms", "Alarms: those that are raised, and what each has counted last."),
    "costs": ("api.cli.commands.work.costs:costs", "Cost of model calls by rule, agent, user or model."),
    "status": ("api.cli.commands.work.status:status", "Readiness of the service and length of its queues."),
    "doctor": ("api.cli.commands.host.doctor:doctor", "Check the machine, the settings and the running installation."),
    "bench": (
        "api.cli.commands.host.bench:bench",
        "Measure the running service with a tenant of its own, erased afterwards.",
    ),
    "completion": ("api.cli.completion:completion", "Print the completion script of bash, zsh or fish."),
    "config": ("api.cli.commands.host.config:commands", "Check and show the settings."),
    "backup": ("api.cli.commands.host.backup:backup", "Back up this home: database, keys."),
    "restore": ("api.cli.commands.host.backup:restore", "Restore a backup into an empty home."),
    "serve": ("api.cli.serve:serve", "The HTTP API, in one or more processes."),
    "router": ("api.cli.commands.host.service:router", "The router (one process): applies the rules to new events."),
    "worker": ("api.cli.commands.host.service:worker", "A Celery worker for one queue."),
    "clock": (
        "api.cli.commands.host.service:clock",
        "The clock (one process): fires schedules, resends due dispatches.",
    ),
    "db": ("api.cli.commands.host.service:db_commands", "The database."),
    "keys": ("api.cli.commands.host.service:key_commands", "API keys and their tenants."),
    "model": ("api.cli.commands.host.service:model_commands", "The local embedding model."),
}
"""Name, location and help line of each command."""

LOGGING = ("serve", "router", "worker", "clock", "completion")
"""Commands that show no warnings: processes write them to their log, and a script is read by a shell."""

DISTRIBUTION = "imprint-service"


class Commands(LazyGroup):
    """All commands; warns about unknown settings before running one."""

    table: ClassVar[CommandTable] = COMMANDS

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name and name not in LOGGING and "--help" not in rest:
            _warn_of_unknown_settings()
        return name, command, rest


app = typer.Typer(
    name="imprint",
    cls=Commands,
    help="Long-term memory for AI agents: events in, rules decide, workers remember.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _show_version(requested: bool) -> None:
    if requested:
        out.print(f"imprint {deferred.load('importlib.metadata:version')(DISTRIBUTION)}", highlight=False)
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]


@app.callback()
def about(version: Version = False) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run a command. Exit code 0: success, 1: failure, 2: usage. With `--json`, errors are JSON on standard error."""
    program = "--json" in sys.argv
    completion_init()
    try:
        code = app(standalone_mode=not program)
    except Abort:  # Only with --json: else Typer has said so and ended.
        _write_error("Interrupted; what was accepted stays accepted.", [])
        code = 1
    except TyperException as error:  # Likewise.
        _write_error(getattr(error, "format_message", error.__str__)(), [])
        code = getattr(error, "exit_code", 2)
    except Exception as error:
        if "serve" in sys.argv[1:2] and not isinstance(error, ImprintError):
            raise
        _report(error, as_program=program)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def _report(error: Exception, *, as_program: bool) -> None:
    """Say what went wrong and what to do. The error itself: its place is asked for."""
    message = failures.sentence(error)
    if message is None:
        raise error
    if not as_program:
        say(f"[red]Error:[/] {escape(message)}", err)
        return
    faults = [
        {"pointer": problem.pointer, "detail": problem.detail} for problem in getattr(error, "problems", None) or []
    ]
    _write_error(getattr(error, "title", message) if faults else message, faults)


def _write_error(detail: str, faults: list[dict[str, str]]) -> None:
    sys.stderr.write(as_json({"error": {"detail": detail, "errors": faults}}) + "\n")


def _warn_of_unknown_settings() -> None:
    """Warn about variables that look like settings but are none; commands report unreadable settings themselves."""
    try:
        names = deferred.load("core.config:unknown")()
    except ImprintError:
        return
    for sentence in names:
        say(f"[yellow]Warning:[/] {escape(sentence)}", err)


lazy.add_placeholders(app)

if __name__ == "__main__":
    main()

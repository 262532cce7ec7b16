"""`imprint`: every command in one table."""

from __future__ import annotations

import sys

import typer

from api.cli import service
from api.cli.client import err
from core.errors import ImprintError, Invalid

app = typer.Typer(
    name="imprint",
    help="Long-term memory for AI agents: events in, rules decide, workers remember.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (service.up, service.serve, service.router, service.worker, service.clock):
    app.command()(command)
app.add_typer(service.db_commands, name="db")
app.add_typer(service.key_commands, name="keys")
app.add_typer(service.model_commands, name="model")


def main() -> None:
    """Exit code 0: fine, 1: failed, 2: wrong usage."""
    try:
        app()
    except Invalid as error:
        for problem in error.problems:
            err.print(f"[red]{problem.pointer or '/'}[/]: {problem.detail}", soft_wrap=True)
        sys.exit(1)
    except ImprintError as error:
        err.print(f"[red]{type(error).__name__}[/]: {error.detail}", soft_wrap=True, markup=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

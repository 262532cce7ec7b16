"""Commands loaded by name on first call, so that no command waits for the imports of another."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from core import deferred

CommandTable = Mapping[str, tuple[str, str]]
"""Location of each command, as `module:name`, and its help line."""


class LazyGroup(TyperGroup):
    """A group of commands that loads a command only when it is called."""

    table: ClassVar[CommandTable] = {}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        entry = self.table.get(name or "")
        return name, command if entry is None else _command(*entry), rest


def group(text: str, table: CommandTable | None = None) -> typer.Typer:
    """Return a group with this help; the commands of the table are loaded when they are called."""
    kind = type("Group", (LazyGroup,), {"table": table or {}})
    return typer.Typer(cls=kind, help=text, no_args_is_help=True, add_completion=False)


def add_placeholders(app: typer.Typer) -> None:
    """Add the commands of the table of its class to the help of an app."""
    for name, (_, line) in getattr(app.info.cls, "table", {}).items():
        app.command(name, help=line)(_placeholder)


def _command(entry: str, line: str) -> Any:
    loaded = deferred.load(entry)
    gc.freeze()
    gc.enable()
    if isinstance(loaded, typer.Typer):
        return typer.main.get_group(loaded)  # Also where it has one command: `imprint db upgrade`.
    single = typer.Typer(add_completion=False)
    single.command(help=loaded.__doc__ or line)(loaded)
    return typer.main.get_command(single)


def _placeholder() -> None:
    """Stand in the help for a command that is not loaded."""

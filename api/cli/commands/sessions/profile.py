"""`imprint profile`: what is known of a user or a group, in sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import quote

import typer

from api.cli import tables
from api.cli.client import AsJson, finish_if_json, moment, read
from api.terminal import escape, out

Fresh = Annotated[bool, typer.Option("--fresh", help="Build the profile again now.")]
IsGroup = Annotated[bool, typer.Option("--group", help="The name is that of a group.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A user, or with --group a group.")]

OF_USER = """Show the profile of a user by section: as `imprint profile`.

Example: imprint user profile ada --fresh
"""


def profile(name: Name, group: IsGroup = False, fresh: Fresh = False, as_json: AsJson = False) -> None:
    """Show what is known of a user or a group by section; with `--json`, each entry has its memories.

    Example: imprint profile ada
    """
    _show("groups" if group else "users", name, fresh=fresh, as_json=as_json)


def of_user(user: str, fresh: Fresh = False, as_json: AsJson = False) -> None:
    _show("users", user, fresh=fresh, as_json=as_json)


def _show(kind: str, name: str, *, fresh: bool, as_json: bool) -> None:
    view = finish_if_json(as_json, read(f"/v1/{kind}/{quote(name, safe='')}/profile", fresh=fresh))
    built = f"version {view['version']}, {moment(view['built_at'])}"
    out.print(f"[bold]{escape(name)}[/] [dim]{built}[/]", highlight=False)
    for section, value in view["attributes"].items():
        lines = list(_entries(value))
        if lines:
            out.print(f"[cyan]{escape(section)}[/]", highlight=False)
            tables.fields(lines, indent="  ")


def _entries(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and value of each line of a section; a statement has no name."""
    if isinstance(value, dict) and ("value" in value or "content" in value):
        yield name, f"{'not ' if value.get('negated') else ''}{value.get('content') or value['value']}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _entries(inner, f"{name}.{key}".strip("."))
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _entries(inner, name)
            else:
                yield name, str(inner)

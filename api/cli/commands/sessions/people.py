"""`imprint user people`, `about`, `same`, `apart`: people whom a user speaks of, under all their names."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import ids, tables
from api.cli.client import AsJson, call, finish_if_json, moment, read
from api.terminal import escape, out, say
from core.types import Json

User = Annotated[str, typer.Argument(metavar="USER", help="Whose people.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help='A name, or a role such as "my mother".')]
Others = Annotated[list[str], typer.Argument(metavar="NAME…", help="Other names.")]
Part = Annotated[str | None, typer.Option("--find", metavar="PART", help="Part of a name.")]
Most = Annotated[int, typer.Option("--limit", min=1, max=200, help="Memories shown.")]


def people(user: User, find: Part = None, as_json: AsJson = False) -> None:
    """List the people whom a user's messages and memories introduce by more than one name or role.

    Example: imprint user people ada
    """
    listed = finish_if_json(as_json, read("/v1/entities", user_id=user, q=find, limit=1000))
    if not listed["items"]:
        say("Nobody is known under more than one name.")
    tables.fields((entity["name"], ", ".join(_forms(entity))) for entity in listed["items"])


def about(user: User, name: Name, limit: Most = 20, as_json: AsJson = False) -> None:
    """Show all that is remembered of somebody, by whatever name it was said, the latest first.

    Example: imprint user about ada "my mother"
    """
    page = finish_if_json(as_json, read("/v1/entities/about", user_id=user, name=name, limit=limit))
    out.print(f"[bold]{escape(page['entity']['name'])}[/] [dim]{escape(', '.join(_forms(page['entity'])))}[/]")
    for memory in page["items"]:
        day = moment(memory["valid_from"] or memory["occurred_at"])[:10]
        ended = "" if memory["status"] == "active" else f" [dim]({memory['status']})[/]"
        out.print(f"[dim]{ids.short(memory['id'])} {day}[/] {escape(memory['content'])}{ended}", highlight=False)
    if page["next"]:
        say("[dim]There are more; see --limit.[/]")


def same(user: User, name: Name, others: Others, as_json: AsJson = False) -> None:
    """Decide that several names are one person's.

    Example: imprint user same ada Evelyn "my mother" Eve
    """
    _decide("merge", {"user_id": user, "names": [name, *others]}, as_json=as_json)


def apart(user: User, name: Name, others: Others, as_json: AsJson = False) -> None:
    """Decide that a name is not of who has these others.

    Example: imprint user apart ada Tom "my boss"
    """
    _decide("separate", {"user_id": user, "name": name, "others": others}, as_json=as_json)


def _decide(verb: str, body: Json, *, as_json: bool) -> None:
    entity = finish_if_json(as_json, call("post", f"/v1/entities/{verb}", body))
    tables.fields([(entity["name"], ", ".join(_forms(entity)))])


def _forms(entity: Json) -> list[str]:
    """Return the other names and the roles of an entity as people read them."""
    names = [other["name"] for other in entity["names"] if other["name"] != entity["name"]]
    roles = [f"{role['of']}'s {role['role']}" if role["of"] else role["role"] for role in entity["roles"]]
    return [*names, *roles]

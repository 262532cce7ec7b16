"""Editing memories by hand: add, edit, pin, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import confirming, ids
from api.cli.client import AsJson, call, finish_if_json, open_client, present, short, show_json
from api.cli.ids import MemoryId
from api.terminal import err, escape, out, say
from core.types import Category, Json, Topic

Owner = Annotated[str, typer.Option("--user", help="Owner of the memory.")]
Group = Annotated[str | None, typer.Option(help="Group in which it was said.")]
Of = Annotated[Category | None, typer.Option(help="Default: derived from the content.")]
About = Annotated[Topic | None, typer.Option(help="Default: derived from the content.")]
Importance = Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Repeatable.")]
Content = Annotated[str | None, typer.Option(help="New content.")]
Version = Annotated[int | None, typer.Option(help="Refuse if the memory is at another version.")]
Reason = Annotated[str | None, typer.Option(help="Reason, stored in the history.")]
Off = Annotated[bool, typer.Option("--off", help="Unpin it.")]
Evidence = Annotated[bool, typer.Option("--evidence", help="Also erase the text of the messages it cites.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def add(
    content: Annotated[str, typer.Argument(help="The statement.")],
    user: Owner,
    group: Group = None,
    category: Of = None,
    topic: About = None,
    importance: Importance = None,
    tags: Tags = None,
    as_json: AsJson = False,
) -> None:
    """Remember a statement; it is judged like any other.

    Example: imprint memory add "Ada prefers tea." --user ada
    """
    given: Json = {"user_id": user, "group_id": group, "category": category, "topic": topic, "importance": importance}
    body = present(given) | {"content": content}
    answer = call("post", "/v1/memories", body | ({"tags": tags} if tags else {}))
    if as_json:
        show_json(answer)
    elif answer["memory"] is None:
        say(f"Not kept: {escape(str(answer['reason']))}", err)
    else:
        _show(answer["memory"])


def edit(
    memory_id: MemoryId,
    content: Content = None,
    category: Of = None,
    topic: About = None,
    importance: Importance = None,
    tags: Tags = None,
    version: Version = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Edit a memory; earlier versions stay in its history.

    Example: imprint memory edit 1d5743a6 --content "Ada prefers green tea."
    """
    given: Json = {"content": content, "category": category, "topic": topic, "importance": importance, "tags": tags}
    changed = present(given)
    if not changed:
        raise typer.BadParameter("Say what to change: --content, --category, --topic, --importance or --tag.")
    beside = present({"version": version, "reason": reason})
    memory = ids.call("patch", "memory", memory_id, "/v1/memories/{id}", changed | beside)
    _show(finish_if_json(as_json, memory))


def pin(memory_id: MemoryId, off: Off = False, reason: Reason = None, as_json: AsJson = False) -> None:
    """Pin a memory so that it does not fade, or unpin it.

    Example: imprint memory pin 1d5743a6
    """
    pinned = {"pinned": not off, "reason": reason}
    _show(finish_if_json(as_json, ids.call("post", "memory", memory_id, "/v1/memories/{id}/pin", pinned)))


FORGET = """Erase a memory permanently: another name of `delete`.

Example: imprint memory forget 1d5743a6 --evidence --yes
"""


def delete(memory_id: MemoryId, evidence: Evidence = False, yes: Yes = False, as_json: AsJson = False) -> None:
    """Erase a memory permanently; the answer is a signed receipt.

    Example: imprint memory delete 1d5743a6 --evidence --yes
    """
    with open_client() as client:
        path = f"/v1/memories/{ids.resolve(client, 'memory', memory_id)}"
        if not yes:
            _confirm(client.get(path))
        receipt = client.delete(path, evidence=evidence)
    finish_if_json(as_json, receipt)
    body = receipt["receipt"]
    out.print(f"Erased at {escape(body['at'])}, receipt {body['id']}.", highlight=False)


def _confirm(memory: Json) -> None:
    err.print(escape(short(memory["content"], 200)), highlight=False)
    confirming.ask("Erase this for good?", "Nothing was erased.")


def _show(memory: Json) -> None:
    stands = f"[dim]{memory['status']}, v{memory['version']}[/]"
    out.print(f"[bold]{ids.short(memory['id'])}[/] {escape(memory['content'])} {stands}", highlight=False)

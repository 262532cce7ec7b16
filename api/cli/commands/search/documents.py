"""`imprint documents`: the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import file_input, ids, lazy, tables
from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, present, read, short
from api.cli.ids import DocumentId
from api.cli.tables import Column
from api.terminal import err, escape, out, write
from core.types import Json

commands = lazy.group("The knowledge base: documents.")

SUFFIXES = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain"}
"""Media types by file extension; for others the content decides."""

Files = Annotated[list[Path], typer.Argument(help="Text or Markdown files; - for standard input.")]
User = Annotated[str | None, typer.Option(help="Owner; without user and group, the whole tenant can find them.")]
Group = Annotated[str | None, typer.Option(help="Group that owns them.")]
Title = Annotated[str | None, typer.Option(help="Title; default: from the document.")]
Uri = Annotated[str | None, typer.Option(help="Source; default: the path of the file as given.")]
Only = Annotated[str | None, typer.Option(help="Only documents of this user.")]
OnlyGroup = Annotated[str | None, typer.Option(help="Only documents of this group.")]
After = Annotated[str | None, typer.Option(help="`next` of the previous page.")]
Limit = Annotated[int, typer.Option(min=1, max=200)]
Passages = Annotated[bool, typer.Option("--passages", help="Show its passages.")]


COLUMNS = (
    *(Column("id", style="bold"), Column("owner"), Column("changed", style="dim"), Column("", style="dim")),
    Column("title", flexible=True),
)


@commands.command("add")
def add(
    files: Files, user: User = None, group: Group = None, title: Title = None, uri: Uri = None, as_json: AsJson = False
) -> None:
    """Add files; a file added before is updated, or left alone if it has not changed.

    Example: imprint documents add handbook.md notes.txt --user ada
    """
    if len(files) > 1 and (title is not None or uri is not None):
        raise typer.BadParameter("--title and --uri are for one file.")
    given = present({"user_id": user, "group_id": group, "title": title, "uri": uri})
    texts = [(file, file_input.read(file)) for file in files]
    with open_client() as client:
        answers = [_send(client, file, content, given) for file, content in texts]
    finish_if_json(as_json, {"items": answers, "next": None})
    for answer in answers:
        _say(
            f"{answer['fate']:<9} [bold]{ids.short(answer['id'])}[/] {escape(answer['title'])} [dim]{_about(answer)}[/]"
        )
        for passage in answer["apart"]:
            err.print(f"  passage {passage['passage']} is not shown: {escape(passage['reason'])}")


@commands.command("list")
def list_documents(
    user: Only = None, group: OnlyGroup = None, after: After = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List documents, newest first.

    Example: imprint documents list --user ada
    """
    answer = finish_if_json(as_json, read("/v1/documents", user_id=user, group_id=group, after=after, limit=limit))
    empty = "There is no document; `imprint documents add FILE` adds one."
    tables.listed(COLUMNS, map(_row, answer["items"]), empty, answer["next"])


@commands.command("show")
def show(document_id: DocumentId, passages: Passages = False, as_json: AsJson = False) -> None:
    """Show a document: its text, or its passages.

    Example: imprint documents show 1d5743a6 --passages
    """
    answer = finish_if_json(as_json, ids.read("document", document_id, "/v1/documents/{id}", passages=passages))
    if not passages:
        write(answer["content"].rstrip("\n") + "\n")
        return
    for passage in answer["passages"]:
        hidden = "" if passage["served"] else " [red]not shown[/]"
        heading = " › ".join(passage["headings"])
        _say(f"[bold]{passage['passage']}[/]{hidden} [dim]{escape(heading)}[/] {escape(short(passage['content']))}")


@commands.command("delete")
def delete(document_id: DocumentId, as_json: AsJson = False) -> None:
    """Erase a document permanently.

    Example: imprint documents delete 1d5743a6
    """
    answer = finish_if_json(as_json, ids.call("delete", "document", document_id, "/v1/documents/{id}"))
    out.print(f"Erased, with {_passages(answer)}.", highlight=False)


def _send(client: Client, file: Path, content: str, given: Json) -> Json:
    body: Json = {"content": content} | given
    if file != file_input.STDIN:
        body.setdefault("uri", file.as_posix())
    if file.suffix.lower() in SUFFIXES:
        body["media_type"] = SUFFIXES[file.suffix.lower()]
    answer: Json = client.post("/v1/documents", body)
    return answer


def _row(document: Json) -> list[str]:
    day, owner = moment(document["updated_at"])[:10], document["user_id"] or document["group_id"] or "everyone's"
    about = f"v{document['version']}, {_passages(document)}"
    return [ids.short(document["id"]), owner, day, about, document["title"]]


def _passages(document: Json) -> str:
    return "1 passage" if document["passages"] == 1 else f"{document['passages']} passages"


def _about(document: Json) -> str:
    owner = document["user_id"] or document["group_id"] or "everyone's"
    return f"v{document['version']}, {_passages(document)}, {escape(owner)}"


def _say(line: str) -> None:
    out.print(line, highlight=False)

"""`imprint search`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

import typer
from rich.text import Text

from api.cli import field_filters, ids, tables
from api.cli.client import AsJson, call, finish_if_json, moment, present
from api.cli.field_filters import Metadata, Structured
from api.terminal import escape, out, say
from core.search import recipes
from core.types import Json

CONTENT_CELLS = 200
"""Longest text shown of a result, and of what it cites."""

INDENT = "   "


class Sought(StrEnum):
    """A type of results."""

    MEMORIES = "memories"
    MESSAGES = "messages"
    DOCUMENTS = "documents"
    UNITS = "units"


User = Annotated[str | None, typer.Option(help="Owner of the memory to search.")]
Group = Annotated[str | None, typer.Option(help="Group whose memory to search.")]
Session = Annotated[str | None, typer.Option(help="Only results from this session.")]
Limit = Annotated[int | None, typer.Option(min=1, max=200, help="Results per page.  [default: the recipe's, or 10]")]
After = Annotated[str | None, typer.Option(help="Cursor shown with the previous page.")]
Method = Annotated[Literal["hybrid", "keyword", "vector"], typer.Option(help="Search method.")]
Named = Annotated[recipes.Name, typer.Option("--recipe", help="Name of a search recipe.")]
GroupBy = Annotated[Literal["session", "group"] | None, typer.Option(help="Group the results by session or group.")]
Include = Annotated[list[Sought] | None, typer.Option(help="Type of results; repeatable.  [default: the recipe's]")]
Explain = Annotated[bool, typer.Option("--explain", help="Explain the parts of each score and what was searched.")]


def search(
    query: str,
    user: User = None,
    group: Group = None,
    session: Session = None,
    recipe: Named = "default",
    limit: Limit = None,
    after: After = None,
    method: Method = "hybrid",
    group_by: GroupBy = None,
    include: Include = None,
    metadata: Metadata = None,
    structured: Structured = None,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Search memories, messages, documents and units; each result has its id and its evidence.

    Example: imprint search "Where does Ada live?" --user ada
    """
    if user is None and group is None:
        raise typer.BadParameter("Say whose memory to search: --user, --group or both.")
    fields: Json = {"user_id": user, "group_id": group, "session_id": session, "limit": limit, "after": after}
    fields |= {"group_by": group_by, "include": include}
    body = present(fields) | field_filters.parsed(metadata, structured)
    body |= {"query": query, "recipe": recipe, "method": method, "explain": explain}
    answer = finish_if_json(as_json, call("post", "/v1/search", body))
    _show_all(answer)
    if explain:
        _show_why(answer["explain"])
    out.print(f"[dim]{len(answer['results'])} of {answer['total']} in {answer['took_ms']:.0f} ms[/]", highlight=False)
    if answer["next"]:
        say(f"[dim]More: --after {escape(answer['next'])}[/]")


def _show_all(answer: Json) -> None:
    results = answer["results"]
    for group in answer.get("groups", [{"results": range(len(results))}]):
        for by in ("session", "group"):
            if f"{by}_id" in group:
                name = escape(group[f"{by}_id"] or f"no {by}")
                say(f"[bold cyan]{name}[/] [dim]{group['score']:.2f}[/]")
        for index in group["results"]:
            _show(index + 1, results[index])


def _show(number: int, result: Json) -> None:
    """Print one result: id, content, what it is, evidence, and with --explain the parts of its score."""
    colour = "green" if result["type"] == "memory" else "blue"
    head = Text.assemble(
        (f"{number:2} ", "bold"), (ids.short(result["id"]), "bold"), " ", (result["type"], colour), " "
    )
    tables.hanging(head, tables.cut(" ".join(result["content"].split()), CONTENT_CELLS))
    say(f"[dim]{INDENT}{_about(result)}[/]")
    for source in result["sources"] if result["type"] == "memory" else []:
        room = tables.width() - len(f"{INDENT}“” {source['session_id']}")
        quote = tables.cut(" ".join(source["quote"].split()), min(CONTENT_CELLS, max(tables.LEAST, room)))
        say(f"[dim]{INDENT}“{escape(quote)}” {escape(source['session_id'])}[/]")
    parts = result["scores"].get("parts")
    if parts:
        terms = " + ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
        ranks = ", ".join(f"{rank}. by {arm}" for arm, rank in result["scores"]["ranks"].items())
        say(f"{INDENT}[yellow]{result['score']:.2f} = {terms}[/]" + (f" [dim]{ranks}[/]" if ranks else ""))


def _show_why(explained: Json) -> None:
    looked_at = ", ".join(f"{count} {kind}" for kind, count in explained["considered"].items())
    filters = ", ".join(_filters(explained["filters"]))
    say(f"[yellow]{explained['recipe']['name']}, {explained['method']}: {looked_at or 'nothing'}[/]")
    say(f"[dim]{escape(filters)}[/]")


def _filters(filters: Json) -> Iterator[str]:
    for name, value in filters.items():
        yield f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"


def _about(result: Json) -> str:
    if result["type"] == "document":
        return escape(" › ".join(dict.fromkeys((result["title"], *result["headings"]))))
    if result["type"] == "unit":
        return f"{escape(result['subject'])}, {moment(result['occurred_at'])[:16]}"
    if result["type"] == "memory":
        since = moment(result["valid_from"] or result["occurred_at"])[:10]
        return f"{result['category']}, {result['topic']}, {since}"
    return f"{escape(result['speaker'] or result['role'])}, {moment(result['occurred_at'])[:16]}"

"""Asking from the command line."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.markup import escape

from api.cli.client import AsJson, connected, moment, out, short, show_json
from core.types import Json

QUOTE_LENGTH = 200

User = Annotated[str | None, typer.Option(help="Whose memory to search.")]
Group = Annotated[str | None, typer.Option(help="Which group's memory to search.")]
Session = Annotated[str | None, typer.Option(help="Only what was said in this session.")]
Limit = Annotated[int, typer.Option(min=1, max=200)]
Method = Annotated[Literal["hybrid", "keyword", "vector"], typer.Option(help="How to search.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each part gave to the score.")]


def search(
    query: str,
    user: User = None,
    group: Group = None,
    session: Session = None,
    limit: Limit = 10,
    method: Method = "hybrid",
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Ask what is known: memories and messages, each with its evidence."""
    if user is None and group is None:
        raise typer.BadParameter("Say whose memory to search: --user, --group or both.")
    asked = {"user_id": user, "group_id": group, "session_id": session}
    body: Json = {name: value for name, value in asked.items() if value is not None}
    body |= {"query": query, "limit": limit, "method": method, "explain": explain}
    with connected() as client:
        answer = client.post("/v1/search", body)
    if as_json:
        show_json(answer)
        return
    for number, result in enumerate(answer["results"], 1):
        _show(number, result)
    out.print(f"[dim]{len(answer['results'])} of {answer['total']} in {answer['took_ms']:.0f} ms[/]", highlight=False)


def _show(number: int, result: Json) -> None:
    """One result: what it says, how sure, on which words it rests, and with --explain where the score comes from."""
    colour = "green" if result["type"] == "memory" else "blue"
    said = escape(short(result["content"], QUOTE_LENGTH))
    _say(f"[bold]{number:2}[/] [{colour}]{result['type']}[/] {said} [dim]{_about(result)}[/]")
    for source in result["sources"] if result["type"] == "memory" else []:
        _say(f"      [dim]“{escape(short(source['quote'], QUOTE_LENGTH))}” {escape(source['session_id'])}[/]")
    parts = result["scores"].get("parts")
    if parts:
        shown = " + ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
        _say(f"      [yellow]{result['score']:.2f} = {shown}[/]")


def _about(result: Json) -> str:
    if result["type"] == "document":
        return escape(" › ".join(dict.fromkeys((result["title"], *result["headings"]))))
    if result["type"] == "memory":
        since = moment(result["valid_from"] or result["occurred_at"])[:10]
        return f"{result['category']}, {result['topic']}, {since}"
    return f"{escape(result['speaker'] or result['role'])}, {moment(result['occurred_at'])[:16]}"


def _say(line: str) -> None:
    out.print(line, soft_wrap=True, highlight=False)

"""`imprint context`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from api.cli import field_filters
from api.cli.client import AsJson, call, finish_if_json, present
from api.cli.field_filters import Metadata, Structured
from api.terminal import escape, out, say
from core.types import Json

User = Annotated[str | None, typer.Option(help="Owner of the context.")]
Group = Annotated[str | None, typer.Option(help="Group of the context.")]
Session = Annotated[str | None, typer.Option(help="Current session.")]
Tokens = Annotated[int | None, typer.Option(min=64, help="Token limit.")]
Model = Annotated[str | None, typer.Option(help="Name of the model; its context window is the limit.")]
Form = Annotated[Literal["messages", "anthropic", "text"], typer.Option("--format", help="Output format.")]
Adaptive = Annotated[bool, typer.Option("--adaptive", help="Let the query determine the number of memories.")]
Guidance = Annotated[bool, typer.Option("--guidance", help="Tell the model how to use what is remembered.")]
Why = Annotated[bool, typer.Option("--why", help="Show what each section leaves out.")]


def context(
    query: Annotated[str | None, typer.Argument(help="Default: the latest user message of the session.")] = None,
    user: User = None,
    group: Group = None,
    session: Session = None,
    max_tokens: Tokens = None,
    model: Model = None,
    form: Form = "text",
    adaptive: Adaptive = False,
    metadata: Metadata = None,
    structured: Structured = None,
    guidance: Guidance = False,
    why: Why = False,
    as_json: AsJson = False,
) -> None:
    """Build the context an agent would get: instructions, profile, memories, knowledge, summary, plan, recent messages.

    Example: imprint context "What should I cook?" --user ada --max-tokens 2000
    """
    if user is None and group is None:
        raise typer.BadParameter("Say whose context to build: --user, --group or both.")
    request: Json = {"user_id": user, "group_id": group, "session_id": session, "query": query}
    request |= {"max_tokens": max_tokens, "model": model, "format": form, "adaptive": adaptive}
    request |= {"guidance": True} if guidance else {}
    request |= field_filters.parsed(metadata, structured)
    answer = finish_if_json(as_json, call("post", "/v1/context", present(request)))
    _show(answer)
    for section in answer["sections"]:
        _about(section, why=why)
    summary = (
        f"{answer['total_tokens']} of {answer['limit']} tokens ({answer['counter']}) in {answer['took_ms']:.0f} ms"
    )
    out.print(f"[dim]{summary}[/]", highlight=False)


def _show(answer: Json) -> None:
    if "text" in answer:
        out.print(escape(answer["text"]), soft_wrap=True, highlight=False)
        return
    for message in [*answer.get("system", ()), *answer["messages"]]:
        content = message.get("content", message.get("text"))
        for text in [content] if isinstance(content, str) else [block["text"] for block in content]:
            say(f"[green]{message.get('role', 'system')}[/] {escape(text)}")


def _about(section: Json, *, why: bool) -> None:
    out.print(f"[dim]{section['name']}: {section['tokens']} of {section['allowed']} tokens[/]", highlight=False)
    for omission in section["left_out"] if why else []:
        out.print(f"[dim]  without {escape(omission['ref'])}: {escape(omission['why'])}[/]", highlight=False)

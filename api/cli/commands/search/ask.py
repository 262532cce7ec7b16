"""`imprint ask`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from api.cli import ids, tables
from api.cli.client import AsJson, call, moment, present, show_json
from api.terminal import escape, out, say
from core.types import Json

NOT_KNOWN = 4
"""Exit code of a question that nothing answers."""

QUOTE_CELLS = 200
"""Longest text shown of what an answer rests on."""

User = Annotated[str | None, typer.Option(help="Whose memory; `I` in the question means this user.")]
Group = Annotated[str | None, typer.Option(help="Group whose memory to ask.")]
Session = Annotated[str | None, typer.Option(help="Look only at this session.")]
By = Annotated[Literal["model", "statement"] | None, typer.Option(help="Who answers.  [default: a model, if any]")]
Least = Annotated[
    float | None, typer.Option(min=0, max=1, help="Certainty from which a statement is an answer.  [default: 0.5]")
]


def ask(
    question: str,
    user: User = None,
    group: Group = None,
    session: Session = None,
    by: By = None,
    min_certainty: Least = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from what is remembered, with what the answer rests on. Exit code 4: it is not known.

    Example: imprint ask "Where does Ada live?" --user ada
    """
    if user is None and group is None:
        raise typer.BadParameter("Say whose memory to ask: --user, --group or both.")
    fields: Json = {"user_id": user, "group_id": group, "session_id": session, "by": by, "min_certainty": min_certainty}
    body = {"question": question, **present(fields)}
    given = call("post", "/v1/answer", body)
    if as_json:
        show_json(given)
        raise typer.Exit(NOT_KNOWN if given["answer"] is None else 0)
    if given["note"]:
        say(f"[yellow]No model answered: {escape(given['note'])}[/]")
    if given["answer"] is None:
        say("Not known.")
        raise typer.Exit(NOT_KNOWN)
    say(escape(given["answer"]))
    for source in given["sources"]:
        quote = escape(tables.cut(" ".join(source["content"].split()), QUOTE_CELLS))
        say(f"[dim]{ids.short(source['id'])} {source['type']}, {moment(source['occurred_at'])[:10]}: {quote}[/]")
    certainty = "" if given["certainty"] is None else f", certainty {given['certainty']:.2f}"
    out.print(f"[dim]by {given['by']}{certainty}, {given['took_ms']:.0f} ms[/]", highlight=False)

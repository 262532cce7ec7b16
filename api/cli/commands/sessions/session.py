"""`imprint session`: list sessions, show one."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer
from rich.text import Text

from api.cli import completion, confirming, lazy, tables
from api.cli.client import AsJson, finish_if_json, moment, open_client, read
from api.cli.tables import Column
from api.terminal import err, escape, out, say
from core.types import Json

commands = lazy.group("Sessions: list, show, end, delete.")

User = Annotated[str | None, typer.Option(help="Only sessions of this user.")]
Group = Annotated[str | None, typer.Option(help="Only sessions of this group.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Sessions per page.")]
After = Annotated[str | None, typer.Option(help="Cursor shown with the previous page.")]
COLUMNS = (
    *(Column("session", style="bold"), Column("owner"), Column("messages", right=True), Column("state")),
    Column("last", style="dim"),
)
SessionId = Annotated[
    str, typer.Argument(help="Id as printed by `imprint session list`.", autocompletion=completion.sessions)
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Last = Annotated[int, typer.Option(min=1, max=500, help="Number of newest messages to show.")]


@commands.command("list")
def list_(
    user: User = None, group: Group = None, after: After = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List sessions, most recently active first.

    Example: imprint session list --user ada
    """
    answer = finish_if_json(as_json, read("/v1/sessions", user_id=user, group_id=group, after=after, limit=limit))
    tables.listed(COLUMNS, map(_row, answer["items"]), "There is no session.", answer["next"])


@commands.command("show")
def show(session_id: SessionId, last: Last = 50, as_json: AsJson = False) -> None:
    """Show a session with its summary, if any, and its newest messages.

    Example: imprint session show chat-17 --last 20
    """
    path = f"/v1/sessions/{quote(session_id, safe='')}"
    with open_client() as client:
        session = client.get(path)
        messages = client.get(f"{path}/messages", last=last)["items"]
        summary = client.find(f"{path}/summary")
    finish_if_json(as_json, {**session, "summary": summary, "messages": {"items": messages, "next": None}})
    _show_session(session)
    if summary:
        text = str(summary.get("text") or summary.get("summary") or summary.get("content") or "")
        tables.hanging(Text("Summary ", style="bold"), text)
    for message in messages:
        hidden = " [red]hidden[/]" if message["hidden"] else ""
        caller = escape(message["speaker"] or message["role"])
        head = Text.from_markup(f"[dim]{moment(message['occurred_at'])[5:16]}[/] [cyan]{caller}[/]{hidden} ")
        tables.hanging(head, _content(message))


@commands.command("end")
def end(session_id: SessionId, as_json: AsJson = False) -> None:
    """End a session that is open: publishes `session.ended`, on which rules summarise it and learn from it.

    Example: imprint session end chat-17
    """
    with open_client() as client:
        session = client.get(f"/v1/sessions/{quote(session_id, safe='')}")
        payload = {"session_id": session_id, "user_id": session["user_id"]}
        event = {"event_type": "session.ended", "source": "imprint-cli", "payload": payload}
        answer = client.post("/v1/events", event | {"subject": f"session:{session_id}"})
    finish_if_json(as_json, answer)
    say(f"Ended. Follow it: imprint events trace {answer['events'][0]['id']}")


@commands.command("delete")
def delete(session_id: SessionId, yes: Yes = False, as_json: AsJson = False) -> None:
    """Erase a session permanently: its messages, summaries and episodes. Memories stay, without their quotes.

    Example: imprint session delete chat-17 --yes
    """
    path = f"/v1/sessions/{quote(session_id, safe='')}"
    with open_client() as client:
        if not yes:
            session = client.get(path)
            confirming.ask(
                f"Erase {session['message_count']} messages of {session_id} for good?", "Nothing was erased."
            )
        answer = client.delete(path)
    finish_if_json(as_json, answer)
    tables.fields((name, f"{count:,} erased") for name, count in answer["erased"].items() if count)


def _content(message: Json) -> str:
    """Return the text of a message with the names of its files, unless they stand in it."""
    files = [f"[file: {name}]" for name in message.get("attachments", ())]
    return " ".join(filter(None, [message["content"], *(file for file in files if file not in message["content"])]))


def _show_session(session: Json) -> None:
    whose = escape(", ".join(filter(None, (session["user_id"], session["group_id"]))))
    ended = f"ended {moment(session['ended_at'])}" if session["ended_at"] else f"last {moment(session['last_at'])}"
    summary = f"{session['message_count']} messages, {ended}"
    out.print(f"[bold]{escape(session['id'])}[/] {whose} [dim]{summary}[/]", highlight=False)
    for warning in session.get("warnings", ()):
        say(f"[yellow]{escape(warning)}[/]", err)


def _row(session: Json) -> list[str]:
    ended = session["ended_at"] is not None
    at = moment(session["ended_at"] if ended else session["last_at"])[:16]
    whose = ", ".join(filter(None, (session["user_id"], session["group_id"])))
    return [session["id"], whose, str(session["message_count"]), "ended" if ended else "open", at]

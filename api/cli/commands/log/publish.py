"""`imprint publish`: one event from arguments, or many from a file or standard input."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import file_input, progress
from api.cli.client import AsJson, Client, Refused, moment, open_client, patiently, present, short, show_json
from api.terminal import out, say
from core.errors import ImprintError, Problem
from core.types import Json

BATCH = 500
"""Events sent in one request: half of what a server takes unless it is set otherwise."""

WAITING = ("running", "retrying", "pending", "held")
NAMED = 5
"""Dispatches named where settling takes too long."""

SESSION_TYPES = ("message.added", "session.started", "session.ended")

File = Annotated[Path | None, typer.Argument(help="JSON, a JSON array or NDJSON; - or omitted: standard input.")]
Type = Annotated[str | None, typer.Option("--type", help="Publish one event of this type, built from the options.")]
Source = Annotated[str, typer.Option(help="Publisher; source and id identify the event.")]
EventId = Annotated[str | None, typer.Option("--id", help="Id of the event; default: a new one.")]
Text = Annotated[str | None, typer.Option(help="payload.content; without --type the event is message.added.")]
Extra = Annotated[str | None, typer.Option(help="Additional payload fields as a JSON object.")]
Session = Annotated[str | None, typer.Option(help="payload.session_id")]
User = Annotated[str | None, typer.Option(help="payload.user_id")]
Role = Annotated[str | None, typer.Option(help="payload.role of a message: user, assistant, system or tool.")]
Speaker = Annotated[str | None, typer.Option(help="payload.speaker: name of the speaker.")]
Settle = Annotated[bool, typer.Option("--settle", help="Wait until all resulting work has ended.")]
Timeout = Annotated[float, typer.Option(help="Maximum wait of --settle, in seconds.")]


class Unsettled(ImprintError):
    """The work that follows from the events has not ended in time; `imprint status` shows what is still open."""


class NotEvents(ImprintError, kind="No events"):
    """The input cannot be read as events."""


def publish(
    file: File = None,
    type_: Type = None,
    source: Source = "imprint-cli",
    event_id: EventId = None,
    session: Session = None,
    user: User = None,
    role: Role = None,
    speaker: Speaker = None,
    content: Text = None,
    payload: Extra = None,
    settle: Settle = False,
    timeout: Timeout = 60,
    as_json: AsJson = False,
) -> None:
    """Publish events: one from --type and the other options, or those in a file or on standard input.

    Example: imprint publish --session s1 --user ada --content "I moved to Lisbon." --settle
    """
    fields = {"session_id": session, "user_id": user, "role": role, "speaker": speaker, "content": content}
    if type_ or content is not None:
        if file is not None:
            raise typer.BadParameter("Give either a file or the options of one event.")
        events: Sequence[Any] = [_event(type_ or "message.added", source, event_id, fields, payload)]
    else:
        events = _read(file or file_input.STDIN)
    with open_client() as client:
        answer = _send(client, events)
        pending = wait_until_settled(client, answer["settle_token"], timeout) if settle and events else None
        waiting = _pending_dispatches(client) if pending else []
    _report(answer, pending, as_json=as_json)
    if pending:
        message = f"Not settled after {timeout:g} s: {pending} still pending. What was accepted stays accepted."
        raise Unsettled("\n".join([message, *waiting]))


def _event(event_type: str, source: str, event_id: str | None, fields: Json, extra: str | None) -> Json:
    """Build a native event from the options; a message has the role user by default."""
    payload = present(fields) | _object(extra)
    if event_type == "message.added":
        payload.setdefault("role", "user")
    missing = [name for name in ("session_id", "user_id") if name not in payload]
    if event_type in SESSION_TYPES and missing:
        options = " and ".join(f"--{name.removesuffix('_id')}" for name in missing)
        raise typer.BadParameter(f"{event_type} needs {options}.")
    subject = {"subject": f"session:{payload['session_id']}"} if "session_id" in payload else {}
    named = {"id": event_id} if event_id else {}
    return {**named, "event_type": event_type, "source": source, **subject, "payload": payload}


def _object(text: str | None) -> Json:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise typer.BadParameter(f"--payload is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise typer.BadParameter("--payload must be a JSON object.")
    return value


def _read(path: Path) -> list[Any]:
    """Read the events of a file: one JSON document, an array, or one document per line."""
    if path == file_input.STDIN and sys.stdin.isatty():
        raise typer.BadParameter("Nothing to publish: give a file, standard input, or --type with its options.")
    text = file_input.read(path)
    try:
        value = json.loads(text)
    except ValueError:
        return list(_lines(text, file_input.name(path)))
    return value if isinstance(value, list) else [value]


def _lines(text: str, name: str) -> Iterator[Any]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            raise NotEvents(f"{name}, line {number}: neither JSON nor NDJSON: {error}.") from None


def _send(client: Client, events: Sequence[Any]) -> Json:
    """Send in batches of one transaction each; return the merged answers."""
    answer: Json = {"accepted": 0, "duplicates": 0, "events": [], "settle_token": None}
    with progress.bar() as bar:
        task = bar.add_task("publishing", total=len(events), visible=len(events) > BATCH)
        for start in range(0, len(events), BATCH):
            batch = events[start : start + BATCH]
            part = post(client, batch, start, answer["accepted"] + answer["duplicates"])
            for name in ("accepted", "duplicates", "events"):
                answer[name] += part[name]
            answer["settle_token"] = part["settle_token"]
            bar.advance(task, len(batch))
    return answer


def post(client: Client, batch: Sequence[Any], start: int, before: int) -> Any:
    """Send one batch, retrying after the server's pause; error pointers refer to the whole input."""
    try:
        return patiently(lambda: client.post("/v1/events", batch))
    except Refused as refused:
        problems = [Problem(_shift(p.pointer, start), p.detail) for p in refused.problems]
        note = f" (the {before} events before are accepted; with ids they count once if sent again)"
        raise Refused(refused.title + (note if before else ""), problems) from None


def _shift(pointer: str, start: int) -> str:
    return re.sub(r"^/(\d+)", lambda match: f"/{int(match[1]) + start}", pointer)


def wait_until_settled(client: Client, token: str, timeout: float) -> int:
    """Wait at most `timeout` seconds until nothing is pending up to the token; return what still is."""
    end = time.monotonic() + timeout
    with progress.bar() as bar:
        most = pending = client.count_pending(token, flush=True)
        task = bar.add_task("settling", total=most, visible=most > 0)
        while pending and time.monotonic() < end:
            pending = client.count_pending(token, flush=True)
            most = max(most, pending)
            bar.update(task, total=most, completed=most - pending)
    return pending


def _pending_dispatches(client: Client) -> list[str]:
    """Return the dispatches that have not ended, each with what it waits for; none: events wait for the router."""
    lines = [
        _why(item) for status in WAITING for item in client.get("/v1/dispatches", status=status, limit=NAMED)["items"]
    ]
    undecided = "  The router has not decided on all events; `imprint doctor` says whether it is at work."
    return [f"  {line}" for line in lines[:NAMED]] or [undecided]


def _why(item: Json) -> str:
    since = f"attempt {item['attempt']}, since {moment(item['created_at'])}"
    reason = item["error"] or {"approval": "waits for `imprint approvals approve`"}.get(item["hold"] or "", "")
    return f"{item['target']} is {item['status']} ({since}){': ' if reason else ''}{short(reason, 200)}"


def _report(answer: Json, pending: int | None, *, as_json: bool) -> None:
    if as_json:
        show_json(answer if pending is None else {**answer, "settled": pending == 0, "pending": pending})
        return
    repeated = f", {answer['duplicates']} known already" if answer["duplicates"] else ""
    settled = ", settled" if pending == 0 else ""
    out.print(f"{answer['accepted']} accepted{repeated}{settled}.", highlight=False)
    if len(answer["events"]) == 1:
        say(f"Follow it: imprint events trace {answer['events'][0]['id']}")

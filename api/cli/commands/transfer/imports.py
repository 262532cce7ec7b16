"""`imprint import`: conversations and memories from other services, as events into the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from api.cli import completion, confirming, progress
from api.cli.client import AsJson, Client, open_client, show_json
from api.cli.commands.log import publish
from api.cli.commands.transfer import archives
from api.terminal import err, escape, out, say
from core.errors import ImprintError
from core.transfer import intake
from core.transfer.intake import ImportOwner
from core.transfer.reading import NAMES, PathReading
from core.transfer.records import Conversation, Note, Record, Statement
from core.transfer.report import Report
from core.types import Json

BATCH = 500
"""Events sent in one request."""

REASONS = 20
"""Reasons for leaving out that a report lists."""

RECORDED_REASONS = 100
"""Reasons that the record of an import lists."""

REASON_CHARACTERS = 300
"""Characters of each of them."""

PARTLY = 3
"""Exit code where something is not as its format has it, and was left out."""

Source = Annotated[Path, typer.Argument(help="File, folder or zip to import.")]
User = Annotated[str, typer.Option(help="Whose memory it becomes.")]
Group = Annotated[str | None, typer.Option(help="Group whose memory it becomes.")]
Only = Annotated[
    str | None,
    typer.Option(help=f"Import one format only: {', '.join(NAMES)}.", autocompletion=completion.one_of(NAMES)),
]
Forbidden = Annotated[bool, typer.Option("--include-forbidden", help="Also what ChatGPT was told not to remember.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report what would be imported.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Settle = Annotated[bool, typer.Option("--settle", help="Wait until all resulting work has ended.")]
Timeout = Annotated[float, typer.Option(help="Maximum wait for the workers, in seconds.")]


def import_(
    path: Source,
    user: User,
    group: Group = None,
    only: Only = None,
    include_forbidden: Forbidden = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    settle: Settle = False,
    timeout: Timeout = 3600,
    as_json: AsJson = False,
) -> None:
    """Import what another service exported: ChatGPT, Claude, Claude Code, mem0, Hindsight, LangGraph, LoCoMo, NDJSON.

    The format is recognised. First it is read as a whole and reported; a second import of the same changes nothing.
    An archive of `imprint user export` is restored as it was, by the workers of the server. The exit code is 3 where
    parts were left out that are not as their format has them.

    Example: imprint import conversations.json --user ada --dry-run
    """
    if only is not None and only not in NAMES:
        raise typer.BadParameter(f"There is no format {only!r}; use one of {', '.join(NAMES)}.")
    is_archive = only in {None, "imprint"} and archives.is_archive(path)
    if is_archive and group is not None:
        raise typer.BadParameter(
            "An archive of Imprint keeps the groups in which something was said; leave --group out."
        )
    report = archives.report(path) if is_archive else Report.of(PathReading(path, only, include_forbidden))
    if not as_json:
        _show(report)
    if dry_run:
        if as_json:
            show_json(report.as_json())
        _end(report)
        return
    if not yes:
        confirming.ask("Import this?", "Nothing was imported.")
    with open_client() as client:
        if is_archive:
            sent = archives.restore(client, path, user, timeout)
        else:
            sent = _send(client, PathReading(path, only, include_forbidden), ImportOwner(user, group), report)
        pending = (
            publish.wait_until_settled(client, sent["settle_token"], timeout)
            if settle and sent["settle_token"]
            else None
        )
    if as_json:
        show_json({**report.as_json(), **sent, **({} if pending is None else {"settled": pending == 0})})
    elif is_archive:
        _show_restored(sent, pending)
    else:
        _show_sent(sent, pending)
    _end(report)


def _end(report: Report) -> None:
    if report.odd:
        raise typer.Exit(PARTLY)


def _show_restored(job: Json, pending: int | None) -> None:
    restored, duplicates = (sum(job["report"][name].values()) for name in ("restored", "known"))
    there = f", {duplicates} there already" if duplicates else ""
    out.print(f"{restored} of {job['progress']['lines']} lines restored{there}{_settled(pending)}.", highlight=False)
    for reason, number in job["report"]["left_out"].items():
        say(f"[dim]left out: {number} × {escape(reason)}[/]", err)


def _show_sent(sent: Json, pending: int | None) -> None:
    duplicates = f", {sent['duplicates']} known already" if sent["duplicates"] else ""
    summary = f"{sent['accepted']} events accepted{duplicates}, {sent['documents']} documents{_settled(pending)}."
    out.print(summary, highlight=False)


def _settled(pending: int | None) -> str:
    return "" if pending is None else ", settled" if not pending else f", {pending} still pending"


def _send(client: Client, reading: PathReading, owner: ImportOwner, report: Report) -> Json:
    """Send all records; return the numbers and the last settle token."""
    sent: Json = {"accepted": 0, "duplicates": 0, "documents": 0, "settle_token": None}
    status = "failed"
    try:
        with progress.bar() as bar:
            task = bar.add_task("importing", total=report.messages + report.statements + len(report.conversations))
            events = intake.events(_statements(client, reading.records(), owner, sent), owner)
            while batch := list(islice(events, BATCH)):
                _post(client, batch, sent, bar, task)
        status = "done"
    finally:
        _record(client, owner, report, sent, status)
    return sent


def _record(client: Client, owner: ImportOwner, report: Report, sent: Json, status: str) -> None:
    """Leave a record for the list of imports; without one nothing else is wrong."""
    counts = {name: value for name, value in report.as_json().items() if name not in {"formats", "examples", "skipped"}}
    skipped = {reason[:REASON_CHARACTERS]: number for reason, number in report.skipped.most_common(RECORDED_REASONS)}
    summary = counts | {name: sent[name] for name in ("accepted", "duplicates", "documents")} | {"skipped": skipped}
    body = {"user_id": owner.user_id, "group_id": owner.group_id, "formats": report.formats[:20], "status": status}
    try:
        client.post("/v1/imports/records", {**body, "report": summary})
    except (ImprintError, OSError) as error:
        _say(f"It is not in the list of imports: {error}")


def _statements(
    client: Client, records: Iterable[Record], owner: ImportOwner, sent: Json
) -> Iterator[Conversation | Statement]:
    """Yield what becomes events; notes, and statements as long as notes, are sent as documents on the way."""
    for record in records:
        if isinstance(record, Conversation) or (
            isinstance(record, Statement) and len(record.content) <= intake.STATEMENT
        ):
            yield record
        elif isinstance(record, Statement | Note):
            client.post("/v1/documents", intake.document(intake.as_note(record), owner))
            sent["documents"] += 1


def _post(client: Client, batch: list[Json], sent: Json, bar: Progress, task: Any) -> None:
    answer = publish.post(client, batch, 0, sent["accepted"] + sent["duplicates"])
    for name in ("accepted", "duplicates"):
        sent[name] += answer[name]
    sent["settle_token"] = answer["settle_token"]
    bar.advance(task, len(batch))


def _show(report: Report) -> None:
    out.print(f"Formats: {', '.join(report.formats) or 'none'}", highlight=False)
    out.print(
        f"{report.talks} conversations with {report.messages} messages, {report.statements} statements, "
        f"{report.documents} documents",
        highlight=False,
    )
    if report.first and report.last:
        out.print(f"From {report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}", highlight=False)
    for reason, number in report.skipped.most_common(REASONS):
        where = ", ".join(report.examples[reason])
        _say(f"left out: {number} × {reason} ({where}{', …' if number > len(report.examples[reason]) else ''})")
    if len(report.skipped) > REASONS:
        _say(f"left out for {len(report.skipped) - REASONS} more reasons; --json lists them all")


def _say(line: str) -> None:
    say(f"[dim]{escape(line)}[/]", err)

"""`imprint status`: readiness of the service and length of its queues."""

from __future__ import annotations

import typer

from api.cli.client import AsJson, Client, Refused, open_client, show_json
from api.terminal import escape, out, say
from core.types import Json

OPEN = ("pending", "running", "retrying", "held", "dead")


def status(as_json: AsJson = False) -> None:
    """Show whether the service is ready and how much work is waiting; exit code 1 if it is not ready.

    Example: imprint status --json
    """
    with open_client() as client:
        answer = _read_status(client)
    if as_json:
        show_json(answer)
    else:
        _show(answer)
    if not answer["ready"]:
        raise typer.Exit(1)


def _read_status(client: Client) -> Json:
    try:
        client.get("/readyz")
        ready, detail = True, None
    except Refused as refused:
        if refused.status is None:
            raise
        ready, detail = False, refused.title
    tenant, stats = client.get("/v1/tenant"), client.get("/v1/stats")
    waiting = dict.fromkeys(OPEN, 0)
    for row in stats["dispatches"]:
        if row["status"] in waiting:
            waiting[row["status"]] += row["count"]
    return {
        "url": client.url,
        "ready": ready,
        "detail": detail,
        "tenant": tenant["id"],
        "events": sum(stats["events"].values()),
        "memories": stats["memory"]["active"],
        "dispatches": waiting,
    }


def _show(answer: Json) -> None:
    state = "[green]ready[/]" if answer["ready"] else f"[red]not ready[/]: {escape(str(answer['detail']))}"
    say(f"{escape(answer['url'])} {state}")
    out.print(
        f"tenant {escape(answer['tenant'])}: {answer['events']:,} events, {answer['memories']:,} memories",
        highlight=False,
    )
    listed = ", ".join(f"{count:,} {name}" for name, count in answer["dispatches"].items() if count)
    out.print(f"dispatches: {listed or 'none waits'}", highlight=False)
    if answer["dispatches"]["dead"]:
        out.print("Reasons of dead letters: imprint dead list")

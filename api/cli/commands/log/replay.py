"""`imprint events replay`: rules decide stored events again; the plan first, then a question, then the work."""

from __future__ import annotations

import sys
from typing import Annotated
from uuid import uuid4

import typer

from api.cli import progress
from api.cli.client import AsJson, Client, finish_if_json, moment, open_client, period_end, show_json
from api.cli.commands.rules.backtest import show_cost
from api.terminal import err, escape, say
from core.types import Json

SHOWN_SAMPLES = 3

Types = Annotated[str, typer.Option(help="Only these types, comma-separated; wildcards such as order.* are allowed.")]
From = Annotated[str | None, typer.Option("--from", help="Start of the period, a day or time.")]
To = Annotated[str | None, typer.Option("--to", help="End of the period, exclusive.")]
User = Annotated[str | None, typer.Option(help="Only events of this user.")]
Session = Annotated[str | None, typer.Option(help="Only events of this session.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="Only the event with this id; may be repeated.")]
Source = Annotated[str | None, typer.Option(help="Only events of this source.")]
After = Annotated[int, typer.Option(min=0, help="Only events behind this place: `next` of the plan before.")]
Rules = Annotated[list[str] | None, typer.Option("--rule", help="Rule that decides; may be repeated; default: all.")]
Mode = Annotated[
    str, typer.Option(help="`live` carries the actions out, `shadow` only records them, `plan` ends with the plan.")
]
Most = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Maximum number of events, the oldest first.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Cancel = Annotated[str | None, typer.Option(metavar="REPLAY_ID", help="Cancel this replay instead.")]

MODES = ("plan", "shadow", "live")


def replay(
    types: Types = "",
    since: From = None,
    until: To = None,
    user: User = None,
    session: Session = None,
    ids: Ids = None,
    source: Source = None,
    after: After = 0,
    rules: Rules = None,
    mode: Mode = "live",
    limit: Most = 10_000,
    yes: Yes = False,
    cancel: Cancel = None,
    as_json: AsJson = False,
) -> None:
    """Have rules decide stored events again: show what would be done, ask, and do it.

    Example: imprint events replay --types session.ended --from 2026-11-01 --rule my_new_rule
    """
    if mode not in MODES:
        raise typer.BadParameter(f"{mode!r} is not one of {', '.join(MODES)}.", param_hint="--mode")
    chosen: Json = {
        "types": [name.strip() for name in types.split(",") if name.strip()],
        "from": period_end(since, "--from"),
        "to": period_end(until, "--to"),
        "user_id": user,
        "session_id": session,
        "event_ids": ids or None,
        "source": source,
        "after": after,
    }
    body: Json = {"filter": chosen, "rules": rules or None, "limit": limit, "limit_samples": SHOWN_SAMPLES}
    with open_client() as client:
        if cancel is not None:
            _tell(client.post(f"/v1/events/replays/{cancel}/cancel", {}), as_json=as_json)
        else:
            _plan_and_run(client, body, mode, yes=yes, as_json=as_json)


def _plan_and_run(client: Client, body: Json, mode: str, *, yes: bool, as_json: bool) -> None:
    plan = client.post("/v1/events/replay", body | {"mode": "plan"})
    if as_json and (mode == "plan" or not yes):
        show_json(plan)
        return
    if not as_json:
        _show_plan(plan)
    if mode == "plan":
        return
    if not yes:
        _ask(plan, mode)
    # A key of its own: a request that is repeated because its answer was lost begins nothing more.
    begun = client.post("/v1/events/replay", body | {"mode": mode}, idempotency_key=f"cli-{uuid4()}")
    parts = ("events", "decided")
    ended = progress.follow(client, "/v1/events/replays", begun, "replay", "events decided", parts, quiet=as_json)
    _tell(ended, as_json=as_json)


def _ask(plan: Json, mode: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("There is no terminal to ask for confirmation: add --yes.")
    how = f"live, with {plan['dispatches']:,} dispatches" if mode == "live" else "in the shadow"
    if not typer.confirm(f"Replay {plan['events']:,} events {how}?"):
        err.print("Nothing was replayed.")
        raise typer.Exit(1)


def _tell(standing: Json, *, as_json: bool) -> None:
    finish_if_json(as_json, standing)
    made = ", ".join(f"{times:,} {status}" for status, times in standing["dispatches"].items()) or "none"
    say(f"Replay {standing['id']}: {standing['status']}, {standing['decided']:,} of {standing['events']:,} events.")
    say(f"Dispatches: {made}. [dim]imprint events trace EVENT shows them beside the original ones.[/]")


def _show_plan(plan: Json) -> None:
    say(f"[bold]{plan['events']:,}[/] events, [bold green]{plan['dispatches']:,}[/] dispatches")
    if plan["truncated"]:
        say(f"[yellow]There are more events: the next replay goes on with --after {plan['next']}.[/]")
    for rule in plan["rules"]:
        _show_rule(rule)
    if plan["rules"]:
        estimates = [rule["estimate"] for rule in plan["rules"]]
        notes = list(dict.fromkeys(note for estimate in estimates for note in estimate["notes"]))
        show_cost({**plan["estimate"], "dispatches": plan["dispatches"], "actions": [], "notes": notes})


def _show_rule(rule: Json) -> None:
    kind = "" if rule["action_mode"] == "auto" else f" [yellow]{rule['action_mode']}[/]"
    say(
        f"\n[bold]{escape(rule['rule'])}[/] v{rule['version']}{kind} matches {rule['matched']:,}, acts "
        f"[green]{rule['fired']:,}[/] times"
    )
    if rule["held"]:
        say("  held back: " + ", ".join(f"{reason} {times:,}" for reason, times in rule["held"].items()))
    if rule["gathered"]:
        say(f"  gathered and not enough: {rule['gathered']:,}")
    for action in rule["estimate"]["actions"]:
        say(f"  → {escape(action['target'])} {action['times']:,} times")
    for sample in rule["samples"]:
        more = f" and {len(sample['events']) - 1} before" if len(sample["events"]) > 1 else ""
        say(f"  [dim]{moment(sample['at'])} {escape(sample['events'][-1])}{more}[/]")
    for name in rule["not_simulated"]:
        say(f"  [yellow]`{name}` is not simulated: what it holds back now waits its turn.[/]")

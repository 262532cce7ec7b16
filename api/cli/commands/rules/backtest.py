"""`imprint rules backtest`: run a draft over the stored log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import file_input, progress
from api.cli.client import AsJson, Client, Refused, finish_if_json, moment, open_client, period_end, present, short
from api.terminal import err, escape, say
from core.errors import ImprintError
from core.types import Json

BAR = 40
"""Characters of the longest bar."""

DAYS = 31
"""Maximum days with a bar each; longer periods have a bar per month."""

SHOWN_RULES = 10

Given = Annotated[str, typer.Argument(metavar="FILE|NAME", help="A file with the draft, or a rule in force.")]
From = Annotated[
    str | None, typer.Option("--from", help="Start of the period, a day or time; default: the first event.")
]
To = Annotated[str | None, typer.Option("--to", help="End of the period, exclusive; default: now.")]
Samples = Annotated[
    int, typer.Option(min=0, max=100, help="Number of firings to show from the start and from the end.")
]


class NoDraft(ImprintError, kind="No draft"):
    """There is no draft to backtest."""


def backtest(given: Given, since: From = None, until: To = None, samples: Samples = 3, as_json: AsJson = False) -> None:
    """Show what a draft would have done over the stored log: when, on which events, and at what cost.

    Nothing is written or put in force.

    Example: imprint rules backtest draft.json --from 2026-11-01
    """
    period = {"from": period_end(since, "--from"), "to": period_end(until, "--to")}
    body = present(period) | {"limit_samples": samples}
    with open_client() as client:
        result = _result(client, body | {"rule": _draft(client, given)}, quiet=as_json)
    finish_if_json(as_json, result)
    _show(result)


def _draft(client: Client, given: str) -> Any:
    """Return the rule in a file or, without one, the rule in force with that name."""
    file = Path(given)
    if not file.is_file():
        if file.suffix == ".json" or "/" in given:
            raise NoDraft(f"There is no file {given}.")
        return client.get(f"/v1/rules/{given}")["rule"]
    return file_input.read_json(file)


def _result(client: Client, body: Json, *, quiet: bool) -> Json:
    """Return the last line; progress lines move a bar on the screen."""
    with progress.bar(quiet=quiet or not err.is_terminal) as bar:
        task = bar.add_task("events", total=None)
        for line in client.lines("/v1/rules/backtest", body):
            if "result" in line:
                result: Json = line["result"]
                return result
            if "problem" in line:
                raise Refused(f"{line['problem']['title']}: {line['problem']['detail']}")
            now = line["progress"]
            bar.update(task, completed=now["events"], total=now["of"], description=f"{now['fired']:,} acts")
    raise Refused("The server stopped before the result; its log says why.")


def _show(result: Json) -> None:
    say(
        f"[bold]{escape(result['rule'])}[/] over {result['events']:,} events, {moment(result['from'])} to "
        f"{moment(result['to'])} [dim]({result['took_ms'] / 1000:.1f} s)[/]"
    )
    say(
        f"It matches {_many(result['matched'], 'event')} and acts [bold green]{_many(result['fired'], 'time')}[/], "
        f"for {_many(result['users'], 'user')} and {_many(result['keys'], 'key')}."
    )
    if result["held"]:
        say("Held back: " + ", ".join(f"{reason} {times:,}" for reason, times in result["held"].items()))
    if result["open"]:
        say(f"Still waiting at the end: {result['open']:,}")
    _show_bars(result["by_day"])
    _show_rules("Rules in force that it would hold back", result["displaces"])
    _show_rules("Rules in force that it would no longer hold back", result["releases"])
    _show_comparison(result["compared"])
    show_cost(result["estimate"])
    _show_samples(result["samples"])
    for name in result["not_simulated"]:
        say(f"[yellow]`{name}` is not simulated: it depends on how long the work takes.[/]")


def _show_bars(by_day: Sequence[Json]) -> None:
    if not by_day:
        return
    bars = _bars({date.fromisoformat(row["day"]): row["fired"] for row in by_day})
    most = max(bars.values())
    say("\nActs by day" if len(next(iter(bars))) > len("2026-11") else "\nActs by month")
    for name, fired in bars.items():
        say(f"  {name} [green]{'█' * -(-fired * BAR // most):<{BAR}}[/] {fired:>8,}")


def _bars(days: dict[date, int]) -> dict[str, int]:
    """Return a bar for every day of the period, or for every month if there are too many days."""
    first, last = min(days), max(days)
    counts = Counter(days)
    if (last - first).days < DAYS:
        return {day.isoformat(): counts[day] for day in _days(first, last)}
    months: Counter[str] = Counter()
    for day in _days(first, last):
        months[f"{day:%Y-%m}"] += counts[day]
    return dict(months)


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def _show_rules(title: str, rules: Sequence[Json]) -> None:
    if not rules:
        return
    say(f"\n{title}")
    for row in rules[:SHOWN_RULES]:
        events = escape(", ".join(row["samples"]))
        say(f"  [red]{escape(row['rule'])}[/] {_many(row['times'], 'time')} [dim]{events}[/]")
    if len(rules) > SHOWN_RULES:
        say(f"  … and {len(rules) - SHOWN_RULES} more; --json has all of them")


def _show_comparison(compared: Json | None) -> None:
    if compared is not None:
        say(
            f"\nAgainst version {compared['version']} in force: {compared['both']:,} acts of both, "
            f"{compared['only_draft']:,} only of the draft, {compared['only_in_force']:,} only of the one in force"
        )


def show_cost(estimate: Json) -> None:
    say(f"\nEstimated: {_many(estimate['dispatches'], 'dispatch', 'dispatches')}, {_figures(estimate)}")
    if len(estimate["actions"]) > 1:
        for action in estimate["actions"]:
            say(f"  {escape(action['target'])} {_many(action['times'], 'time')}: {_figures(action)}")
    for note in estimate["notes"]:
        say(f"  [dim]{escape(note)}[/]")


def _figures(of: Json) -> str:
    figures = [
        f"{timedelta(seconds=round(of['seconds']))} of work" if of["seconds"] is not None else "time unknown",
        f"{of['tokens']:,.0f} tokens" if of["tokens"] is not None else "tokens unknown",
        f"cost {of['cost']:,.2f}" if of["cost"] is not None else "cost unknown",
    ]
    return ", ".join(figures)


def _show_samples(samples: Sequence[Json]) -> None:
    if not samples:
        return
    say("\nFirst and last")
    for sample in samples:
        doing = "; ".join(json.dumps(action, ensure_ascii=False) for action in sample["actions"])
        events = sample["events"][-1] + (
            f" and {len(sample['events']) - 1} before" if len(sample["events"]) > 1 else ""
        )
        say(f"  {moment(sample['at'])} {escape(sample['key'])} [dim]{escape(events)}[/]")
        say(f"    {escape(short(doing, 200))}")


def _many(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"

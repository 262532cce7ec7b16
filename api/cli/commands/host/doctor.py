"""`imprint doctor`: check everything Imprint needs, each finding with what to do."""

from __future__ import annotations

import typer

from api.cli.client import AsJson, show_json
from api.cli.commands.host.checks import table
from api.cli.commands.host.checks.check import COLOURS
from api.terminal import escape, say


def doctor(as_json: AsJson = False) -> None:
    """Check the machine, the settings and the running installation; exit code 1 if something fails.

    Example: imprint doctor --json
    """
    results = []
    for result in table.results():
        results.append(result)
        if not as_json:
            state = f"[{COLOURS[result.state]}]{result.state:<4}[/]"
            say(f"{state} [bold]{result.name:<12}[/] {escape(result.detail)}")
            if result.way_out is not None:
                say(f"{'':<17} [dim]→[/] {escape(result.way_out)}")
    failed = any(result.state == "fail" for result in results)
    if as_json:
        show_json({"well": not failed, "checks": [result.as_json() for result in results]})
    if failed:
        raise typer.Exit(1)

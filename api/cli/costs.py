"""`imprint costs`: cost of model calls."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from api.cli.client import AsJson, read, show_json
from api.terminal import escape, out
from core.types import SPEND_KEYS, Json


def costs(
    by: Annotated[str, typer.Option(help=f"Aggregate by {', '.join(SPEND_KEYS)}.")] = "model",
    since: Annotated[
        str | None, typer.Option("--from", help="Start of the period, such as 2026-11-21T00:00:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="End of the period, exclusive.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the cost of model calls by rule, agent, user, model or prompt, most expensive first.

    Example: imprint costs --by rule --from 2026-11-01T00:00:00Z
    """
    if by not in SPEND_KEYS:
        raise typer.BadParameter(f"{by!r} is not one of {', '.join(SPEND_KEYS)}.", param_hint="--by")
    told = read("/v1/costs", **{"by": by, "from": since, "to": until})
    if as_json:
        show_json(told)
    else:
        out.print(table(told, by))


def table(told: Json, by: str) -> Table:
    """Return the answer of `GET /v1/costs` as a table, with the total in the last line."""
    names = (by, "calls", "input tokens", "output tokens", "cost", "p95")
    shown = Table(*names, title="Model calls", title_justify="left")
    for one in told["items"]:
        shown.add_row("–" if one["key"] is None else escape(one["key"]), *_figures(one))
    shown.add_section()
    shown.add_row("total", *_figures(told["total"]))
    return shown


def _figures(one: Json) -> list[str]:
    p95 = one["latency_ms_p95"]
    return [
        f"{one['calls']:,}",
        f"{one['input_tokens']:,}",
        f"{one['output_tokens']:,}",
        f"{one['cost']:,.4f}",
        "–" if p95 is None else f"{p95:,.0f} ms",
    ]

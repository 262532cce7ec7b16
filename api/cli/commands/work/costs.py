"""`imprint costs`: cost of model calls."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import tables
from api.cli.client import AsJson, finish_if_json, read
from api.cli.tables import Column
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
    answer = read("/v1/costs", **{"by": by, "from": since, "to": until})
    finish_if_json(as_json, answer)
    show(answer, by)


def show(answer: Json, by: str) -> None:
    """Print the answer of `GET /v1/costs`, with the total in the last line."""
    names = ("calls", "tokens in", "tokens out", "cost", "p95")
    columns = [Column(by), *(Column(name, right=True) for name in names)]
    rows = [["–" if item["key"] is None else item["key"], *_figures(item)] for item in answer["items"]]
    tables.rows(columns, [*rows, ["total", *_figures(answer["total"])]], headings=True)


def _figures(item: Json) -> list[str]:
    p95 = item["latency_ms_p95"]
    return [
        f"{item['calls']:,}",
        f"{item['input_tokens']:,}",
        f"{item['output_tokens']:,}",
        f"{item['cost']:,.4f}",
        "–" if p95 is None else f"{p95:,.0f} ms",
    ]

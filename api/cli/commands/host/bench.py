"""`imprint bench`: what the running service does on this machine, measured with a tenant of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Final

import typer

from api.cli import completion, tables
from api.cli.client import AsJson, Client, show_json
from api.cli.commands.host import bench_parts, bench_tenant
from api.cli.commands.host.bench_parts import Figure, Part
from api.cli.tables import Column
from api.terminal import err
from core.config import ClientSettings, Settings

COLUMNS: Final = (Column("part"), Column("figure"), Column("value", right=True), Column("unit"))

Parts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PART]...",
        help=f"Of {', '.join(bench_parts.PARTS)}; default: all.",
        autocompletion=completion.one_of(bench_parts.PARTS),
    ),
]
Seconds = Annotated[float, typer.Option(min=0.5, max=60, help="Time of each part.")]


def bench(parts: Parts = None, seconds: Seconds = 3, as_json: AsJson = False) -> None:
    """Measure accepting, searching, contexts, hooks and the live stream over HTTP, each for a few seconds.

    It works in a tenant of its own without rules, so no rule of yours acts and no model is asked; the tenant is erased
    at the end, also after Ctrl-C. Needs access to the database, as `imprint keys create`. The figures are those of this
    moment: other work on the machine and in the service counts. `python -m bench` in the source tree measures all that
    docs/benchmarks.md shows.

    Example: imprint bench accept search --seconds 5
    """
    settings, chosen = Settings(), _parts(parts or bench_parts.PARTS)
    with bench_tenant.opened(settings) as key, closing(Client(ClientSettings(), key=key)) as client:
        stored, figures = _measure(client, chosen, seconds)
    if as_json:
        items = [{"part": f.part, "figure": f.name, "value": f.value, "unit": f.unit} for f in figures]
        show_json({"items": items, "next": None, "messages": stored, "cores": os.cpu_count(), "url": client.url})
        return
    tables.rows(COLUMNS, ([f.part, f.name, f"{f.value:,.1f}", f.unit] for f in figures), headings=True)
    err.print(f"{stored} messages of one user, one caller, {os.cpu_count()} cores, {client.url}", highlight=False)


def _parts(given: Sequence[str]) -> list[Part]:
    """Return the named parts in the order of the table. BadParameter: there is no such part."""
    parts = {part: part for part in bench_parts.PARTS}
    unknown = [name for name in given if name not in parts]
    if unknown:
        raise typer.BadParameter(f"There is no part {unknown[0]!r}; parts are {', '.join(parts)}.")
    return list(dict.fromkeys(parts[part] for part in bench_parts.PARTS if part in given))


def _measure(client: Client, parts: Sequence[Part], seconds: float) -> tuple[int, list[Figure]]:
    figures: list[Figure] = []
    with err.status("Preparing …") as status:
        stored = bench_parts.prepare(client)
        for part in parts:
            status.update(f"Measuring {part} for {seconds:g} s …")
            figures += bench_parts.run(part, client, seconds)
    return stored, figures

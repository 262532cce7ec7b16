"""`imprint memory stats`: statistics of a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Annotated

import typer

from api.cli import tables
from api.cli.client import AsJson, finish_if_json, moment, read
from api.cli.tables import Column
from api.terminal import out
from core.types import Json

BARS = "▁▂▃▄▅▆▇█"


def stats(user: Annotated[str | None, typer.Option(help="Only this user.")] = None, as_json: AsJson = False) -> None:
    """Show number, growth, fading and cost of memories.

    Example: imprint memory stats --user ada
    """
    told = finish_if_json(as_json, read("/v1/stats", **({"user_id": user} if user else {}))["memory"])
    show(told)


def show(told: Json) -> None:
    """Print the memory statistics of `GET /v1/stats`."""
    tables.fields(_means(told))
    _show("Counts", ("kind", "category", "trust", "status"), _counts(told))
    _show("Latency of this server process", ("", "p50", "p95", "p99"), _latency(told["latency_ms"]))
    if told["verdicts"]:
        _show("Verdicts", ("verdict", "count", "undone"), _verdicts(told["verdicts"]))
    if told["model"]["by_model"]:
        names = ("model", "calls", "failed", "input_tokens", "output_tokens", "cost")
        found = [[str(one[name]) for name in names] for one in told["model"]["by_model"]]
        _show(f"Model calls, {told['days']} days", [name.replace("_tokens", "") for name in names], found)
    if told["fading"]["weakest"]:
        title = f"Fades within {told['days']} days: {told['fading']['count']:,}"
        _show(title, ("when", "strength", "memory"), _weakest(told["fading"]["weakest"]), flexible="memory")


def bars(numbers: Sequence[float]) -> str:
    """Return numbers as a line of bars; the maximum is full, and anything above zero is visible."""
    most = max(numbers, default=0)
    return "".join(BARS[max(int(n > 0), round(n / most * (len(BARS) - 1)))] if most else BARS[0] for n in numbers)


def _means(told: Json) -> list[tuple[str, str]]:
    recall, process = told["recall"], told["recall"]["process"]
    days = [day["added"] for day in told["growth"]]
    return [
        ("memories", f"{told['total']:,}, of which {told['active']:,} active"),
        ("mean importance", _number(told["mean_importance"])),
        ("mean age", _number(told["mean_age_days"], " days")),
        ("mean uses", _number(told["mean_uses"])),
        ("never used", _share(told["never_used"])),
        ("growth", f"{bars(days)} {sum(days):,} in {told['days']} days"),
        ("searches with a memory", f"{recall['with_memories']:,} in {told['days']} days"),
        (
            "recall hit-rate",
            f"{_share(process['hit_rate'])} of {process['searches']:,} searches of this server process",
        ),
    ]


def _counts(told: Json) -> Iterator[Sequence[str]]:
    """Yield the rows of four lists side by side."""
    names = ("kind", "category", "trust", "status")
    columns = [[f"{name} {count:,}" for name, count in told[f"by_{by}"].items()] for by in names]
    yield from zip_longest(*columns, fillvalue="")


def _latency(told: Json) -> list[Sequence[str]]:
    return [(what, *(_number(of[name], " ms") for name in ("p50", "p95", "p99"))) for what, of in told.items()]


def _verdicts(told: Mapping[str, Json]) -> Iterator[Sequence[str]]:
    return ((kind, f"{of['count']:,}", f"{of['undone']:,}") for kind, of in told.items())


def _weakest(told: Sequence[Json]) -> Iterator[Sequence[str]]:
    return ((moment(one["fade_at"])[:10], f"{one['strength']:.2f}", one["content"]) for one in told)


def _show(title: str, names: Sequence[str], found: Iterable[Sequence[str]], flexible: str = "") -> None:
    out.print(f"\n[bold]{title}[/]", highlight=False)
    tables.rows([Column(name, flexible=name == flexible) for name in names], found, headings=True)


def _number(value: float | None, unit: str = "") -> str:
    return "–" if value is None else f"{value:,.2f}{unit}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"

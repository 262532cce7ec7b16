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
    figures = finish_if_json(as_json, read("/v1/stats", **({"user_id": user} if user else {}))["memory"])
    show(figures)


def show(figures: Json) -> None:
    """Print the memory statistics of `GET /v1/stats`."""
    tables.fields(_means(figures))
    _show("Counts", ("kind", "category", "trust", "status"), _counts(figures))
    _show("Latency of this server process", ("", "p50", "p95", "p99"), _latency(figures["latency_ms"]))
    if figures["verdicts"]:
        _show("Verdicts", ("verdict", "count", "undone"), _verdicts(figures["verdicts"]))
    if figures["model"]["by_model"]:
        names = ("model", "calls", "failed", "input_tokens", "output_tokens", "cost")
        rows = [[str(item[name]) for name in names] for item in figures["model"]["by_model"]]
        _show(f"Model calls, {figures['days']} days", [name.replace("_tokens", "") for name in names], rows)
    if figures["fading"]["weakest"]:
        title = f"Fades within {figures['days']} days: {figures['fading']['count']:,}"
        _show(title, ("when", "strength", "memory"), _weakest(figures["fading"]["weakest"]), flexible="memory")


def bars(numbers: Sequence[float]) -> str:
    """Return numbers as a line of bars; the maximum is full, and anything above zero is visible."""
    most = max(numbers, default=0)
    return "".join(BARS[max(int(n > 0), round(n / most * (len(BARS) - 1)))] if most else BARS[0] for n in numbers)


def _means(figures: Json) -> list[tuple[str, str]]:
    recall, process = figures["recall"], figures["recall"]["process"]
    days = [day["added"] for day in figures["growth"]]
    return [
        ("memories", f"{figures['total']:,}, of which {figures['active']:,} active"),
        ("mean importance", _number(figures["mean_importance"])),
        ("mean age", _number(figures["mean_age_days"], " days")),
        ("mean uses", _number(figures["mean_uses"])),
        ("never used", _share(figures["never_used"])),
        ("growth", f"{bars(days)} {sum(days):,} in {figures['days']} days"),
        ("searches with a memory", f"{recall['with_memories']:,} in {figures['days']} days"),
        (
            "recall hit-rate",
            f"{_share(process['hit_rate'])} of {process['searches']:,} searches of this server process",
        ),
    ]


def _counts(figures: Json) -> Iterator[Sequence[str]]:
    """Yield the rows of four lists side by side."""
    names = ("kind", "category", "trust", "status")
    columns = [[f"{name} {count:,}" for name, count in figures[f"by_{by}"].items()] for by in names]
    yield from zip_longest(*columns, fillvalue="")


def _latency(latencies: Json) -> list[Sequence[str]]:
    return [(what, *(_number(of[name], " ms") for name in ("p50", "p95", "p99"))) for what, of in latencies.items()]


def _verdicts(verdicts: Mapping[str, Json]) -> Iterator[Sequence[str]]:
    return ((kind, f"{of['count']:,}", f"{of['undone']:,}") for kind, of in verdicts.items())


def _weakest(memories: Sequence[Json]) -> Iterator[Sequence[str]]:
    return ((moment(memory["fade_at"])[:10], f"{memory['strength']:.2f}", memory["content"]) for memory in memories)


def _show(title: str, names: Sequence[str], rows: Iterable[Sequence[str]], flexible: str = "") -> None:
    out.print(f"\n[bold]{title}[/]", highlight=False)
    tables.rows([Column(name, flexible=name == flexible) for name in names], rows, headings=True)


def _number(value: float | None, unit: str = "") -> str:
    return "–" if value is None else f"{value:,.2f}{unit}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"

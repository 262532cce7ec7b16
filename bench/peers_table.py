"""Figures of the side-by-side bench as one Markdown table, and whether Imprint reached its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.peers_talks import KS, TEXTS

FOUND: Final = (*(f"rec@{k}" for k in KS), "any@10")
HEADS: Final = ("", "text", *FOUND, "turns/s", "search p50 / p95, ms", "p95 of 16 clients, ms", "kB a turn")
INGEST_GOAL: Final = 5.0
SEARCH_GOAL: Final = 0.5
CLIENTS_GOAL: Final = 0.25


@dataclass(frozen=True, slots=True)
class Row:
    """Measurements of one contestant on one text.

    `ingest`: turns a second until all are `findable`; of a peer also with `embedding`, of Imprint also until the last
    answer of `accepted`, until all `vectors` are there, and until everything is `settled`. `search`: milliseconds as
    `p50`, `p95`, `p95 16`, each also `embedding` where there is one to be made.
    """

    name: str
    title: str
    text: str
    version: str
    found: Mapping[str, float]
    ingest: Mapping[str, float]
    search: Mapping[str, float]
    bytes_a_turn: float


def table(rows: Sequence[Row]) -> str:
    """A row for each contestant and text, then what was to be reached."""
    lines = [_line(HEADS), _line(["---"] * len(HEADS)), *(_line(_cells(row)) for row in rows)]
    return "\n".join([*lines, "", *goals(rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row) -> list[str]:
    took = {name: f"{ms:,.1f}" for name, ms in row.search.items()}
    alone, crowd = f"{took['p50']} / {took['p95']}", took["p95 16"]
    if "p50 embedding" in took:
        alone = f"{alone} · {took['p50 embedding']} / {took['p95 embedding']}"
        crowd = f"{crowd} · {took['p95 16 embedding']}"
    figures = [f"{row.found[name]:.3f}" for name in FOUND]
    return [
        f"{row.title} {row.version}".strip(),
        TEXTS[row.text],
        *figures,
        _rates(row.ingest),
        alone,
        crowd,
        f"{row.bytes_a_turn / 1000:.1f}",
    ]


def _rates(ingest: Mapping[str, float]) -> str:
    """Imprint's vectors follow what can be found already; a peer's turn is found once its vector is there."""
    rate = {name: f"{value:,.0f}" for name, value in ingest.items()}
    if "vectors" in rate:
        return ", ".join([rate["findable"], *(f"{name} {rate[name]}" for name in ("accepted", "vectors", "settled"))])
    return " · ".join(rate[name] for name in ("findable", "embedding") if name in rate)


def goals(rows: Sequence[Row]) -> list[str]:
    """Imprint beside mem0 on its own text, where mem0 is fastest; nothing where one of them is missing."""
    by = {(row.name, row.text): row for row in rows}
    own, mem0 = by.get(("imprint", "own")), by.get(("mem0", "own"))
    if not own or not mem0:
        return []
    ingest, bare = (own.ingest["findable"] / mem0.ingest[name] for name in ("embedding", "findable"))
    search, crowd = (own.search[name] / mem0.search[name] for name in ("p50", "p95 16"))
    costless = f"({bare:.2f} × where its vectors cost nothing)"
    return [
        f"- accepted and findable: {ingest:.2f} × mem0's {costless}, {_met(ingest >= INGEST_GOAL)}: {INGEST_GOAL:g}",
        f"- search p50 without the embedding: {search:.2f} × mem0's, {_met(search <= SEARCH_GOAL)}: {SEARCH_GOAL:g}",
        f"- p95 of 16 clients, likewise: {crowd:.2f} × mem0's, {_met(crowd <= CLIENTS_GOAL)}: {CLIENTS_GOAL:g}",
    ]


def _met(reached: bool) -> str:
    return "reached" if reached else "**not reached**"

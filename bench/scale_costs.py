"""Unit costs for `bench.scale_model`: laws fitted to what `bench.scale` has measured. Pure: no database, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, linear_regression, median
from typing import Any, Final

Measured = Mapping[str, Any]
Points = Sequence[tuple[float, float]]

KINDS: Final = {"api": "api", "postgres": "postgres", "broker": "broker", "router": "router", "up": "router"}
"""Kinds of process by member of a stack; all others are workers."""

OF_MEMORIES: Final = frozenset({"memories", "memory_versions", "evidence", "relations", "verdicts"})
OF_THE_LOG: Final = frozenset({"events", "decisions", "dispatches", "search_changes", "turn_bounds", "model_calls"})
"""Tables whose rows come with memories, and those that retention of the log empties; all others come with messages,
and the rows of `search_index` with both."""


@dataclass(frozen=True, slots=True)
class Line:
    """A cost that grows in proportion beside a fixed part."""

    fixed: float
    each: float

    def __call__(self, x: float) -> float:
        return self.fixed + self.each * x


def line(points: Points) -> Line:
    """Return the line with the least squares of relative errors; of a single point, that through the origin.

    Raises:
        ValueError: there is no point, or a value is not above 0.
    """
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError(f"A line needs values above 0, not {points}.")
    if len(points) == 1:
        return Line(0.0, points[0][1] / points[0][0])
    weights = [1 / y**2 for _, y in points]
    whole = sum(weights)
    middle_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / whole
    middle_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / whole
    spread = sum(w * (x - middle_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    joint = sum(w * (x - middle_x) * (y - middle_y) for w, (x, y) in zip(weights, points, strict=True))
    return Line(middle_y - joint / spread * middle_x, joint / spread)


@dataclass(frozen=True, slots=True)
class Power:
    """A cost that grows by a factor whenever its cause does."""

    factor: float
    exponent: float

    def __call__(self, x: float) -> float:
        return float(self.factor * x**self.exponent)


def power(points: Points) -> Power:
    """Return the power law with the least squares of logarithms; a constant for a single point.

    Raises:
        ValueError: there is no point, or a value is not above 0.
    """
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError(f"A power law needs values above 0, not {points}.")
    logs = [(log(x), log(y)) for x, y in points]
    exponent = linear_regression(*zip(*logs, strict=True)).slope if len(points) > 1 else 0.0
    return Power(exp(fmean(y - exponent * x for x, y in logs)), exponent)


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of one unit: milliseconds of a processor, and bytes."""

    flow_ms: Mapping[str, float]
    """Cost of a message with all that follows from it, by kind of process."""

    made: float
    """Memories for each message where that was measured."""

    average: float
    """Memories that a user had there, on average."""

    write: Mapping[str, Power]
    """Cost of judging and writing a statement, by memories of the user."""

    search: Mapping[str, Mapping[str, Power]]
    """Cost of a search, by kind (`first` about a user, `next`) and process, by rows of the index about the user."""

    vector_ms: float
    """Cost of the vector of a question, in an API process."""

    upkeep_ms: float
    """Cost of archiving a memory once it has faded, with the vacuum after it."""

    bytes_of: Mapping[str, float]
    """On disk, of a `memory`, of a `message`, and of the `log` for each message."""

    wal_message: float
    wal_memory: float
    cached_bytes: float
    """Memory that an API process needs for each row of the index about a user about whom it answers."""

    dump_share: float
    """Bytes of a dump for each byte of the database."""

    dump_ms_a_byte: float
    request_bytes: float
    answer_bytes: float

    def message_ms(self, owner: float, memories: float) -> dict[str, float]:
        """Return milliseconds of a message of which so many memories are made, for a user who has `owner` of them."""
        writers = {"workers": self.write["client"], "postgres": self.write["postgres"]}
        costs = dict(self.flow_ms)
        for name, law in writers.items():
            rest = max(0.0, costs[name] - self.made * law(self.average))
            costs[name] = rest + memories * law(owner)
        return costs

    def search_ms(self, rows: float, *, first: bool) -> dict[str, float]:
        """Return milliseconds of a search with a question whose vector has to be made."""
        laws = self.search["first" if first else "next"]
        return {"api": laws["api"](rows) + self.vector_ms, "postgres": laws["postgres"](rows)}

    def log_bytes(self, memories: float) -> float:
        """Return bytes of the log for each message of which so many memories are made: each is an event, too."""
        return self.bytes_of["log"] * (1 + memories) / (1 + self.made)

    def wal_of_message(self, memories: float) -> float:
        """Return bytes of the write-ahead log for a message of which so many memories are made."""
        return max(0.0, self.wal_message - self.made * self.wal_memory) + memories * self.wal_memory


def costs_from(measured: Measured) -> Costs:
    """Return the costs that a file of `bench.scale` implies.

    Raises:
        ValueError: a kind of step is missing in it.
    """
    missing = {"flow", "owners", "totals"} - measured.keys()
    if missing:
        raise ValueError(f"The costs lack {', '.join(sorted(missing))}: run bench.scale for them.")
    flow, owners, totals = measured["flow"], measured["owners"], measured["totals"]
    last, dumps = flow[-1], [figures for figures in totals if "dump" in figures["upkeep"]]
    made = last["rows"]["memories"] / last["messages"]
    dumped = dumps[-1]
    stored = sum(dumped["bytes"].values())
    return Costs(
        flow_ms={kind: max(0.0, law.each) for kind, law in flow_laws(flow).items()},
        made=made,
        average=last["rows"]["memories"] / last["rows"].get("owners", 1) / 2,
        write={name: growth(owners, "write", "next", name) for name in ("client", "postgres")},
        search={
            kind: {name: growth(owners, "search", kind, name) for name in ("api", "postgres")}
            for kind in ("first", "next")
        },
        vector_ms=median(_vector_ms(figures["search"]) for figures in [*owners, *totals]),
        upkeep_ms=median(_upkeep_ms(figures) for figures in totals),
        bytes_of=_bytes_of(last),
        wal_message=sum(stage["wal bytes"] for stage in last["stages"].values()) / last["messages"],
        wal_memory=median(figures["write"]["next"]["wal bytes"] for figures in [*owners, *totals]),
        cached_bytes=max(0.0, line([_cached(figures["search"]) for figures in [*owners, *totals]]).each),
        dump_share=dumped["upkeep"]["dump"]["bytes"] / stored,
        dump_ms_a_byte=(dumped["upkeep"]["dump"]["client"] + dumped["upkeep"]["dump"]["postgres"]) / stored,
        request_bytes=last["request bytes"] / last["messages"],
        answer_bytes=fmean(figures["response bytes of a search"] for figures in flow),
    )


def flow_laws(flow: Sequence[Measured]) -> dict[str, Line]:
    """Return milliseconds by number of messages, for each kind of process."""
    used = [(figures["messages"], by_kind(figures)) for figures in flow]
    kinds = {kind for _, costs in used for kind in costs}
    return {kind: line([(messages, costs[kind]) for messages, costs in used]) for kind in sorted(kinds)}


def by_kind(figures: Measured) -> dict[str, float]:
    """Return milliseconds of all stages, for each kind of process; at least one, the least that is measured is ten."""
    milliseconds = dict.fromkeys([*KINDS.values(), "workers"], 0.0)
    for stage in figures["stages"].values():
        for member, seconds in stage.items():
            if member != "wal bytes":
                milliseconds[KINDS.get(member, "workers")] += 1000 * seconds
    return {kind: max(1.0, value) for kind, value in milliseconds.items()}


def growth(steps: Sequence[Measured], what: str, kind: str, process: str) -> Power:
    """Return milliseconds by memories of the user."""
    return power([(figures["owner"], max(0.1, figures[what][kind][process])) for figures in steps])


def _vector_ms(search: Measured) -> float:
    return float(search["about nobody"]["api"] - search["about nobody, again"]["api"])


def _upkeep_ms(figures: Measured) -> float:
    upkeep = figures["upkeep"]
    due, vacuum = upkeep["sweep, each due"], upkeep["vacuum of memories"]["postgres"]
    return float(due["client"] + due["postgres"] + 10 * vacuum / figures["total"])  # a tenth of the rows was dead


def _cached(search: Measured) -> tuple[float, float]:
    """Return the memories of users about whom was asked for the first time, and by how many bytes the API grew."""
    return search["memories of the users"], max(1.0, 1e6 * search["MB by first questions"])


def _bytes_of(flow: Measured) -> dict[str, float]:
    rows, sizes = flow["rows"], by_table(flow["bytes"], flow["rows"])
    memories, messages = rows["memories"], flow["messages"]
    share = memories / (memories + messages)
    indexed = sizes.get("search_index", 0)
    own = sum(size for table, size in sizes.items() if table in OF_MEMORIES)
    log = sum(size for table, size in sizes.items() if table in OF_THE_LOG)
    rest = sum(sizes.values()) - own - log - indexed
    return {
        "memory": (own + share * indexed) / memories,
        "message": (rest + (1 - share) * indexed) / messages,
        "log": log / messages,
    }


def by_table(sizes: Mapping[str, float], tables: Mapping[str, Any]) -> dict[str, float]:
    """Return bytes of each table with its indexes, which begin with its name; of others under their own names."""
    names = sorted(tables, key=len, reverse=True)
    whole: dict[str, float] = {}
    for name, size in sizes.items():
        table = next((table for table in names if name == table or name.startswith(f"{table}_")), name)
        whole[table] = whole.get(table, 0) + size
    return whole


def checked(measured: Measured) -> Iterator[str]:
    """Yield what laws fitted without the largest size predict for it, what was measured, and the error."""
    for what, predicted, actual in predictions(measured):
        yield f"{what:<52} {predicted:>12,.2f} {actual:>12,.2f} {100 * (predicted / actual - 1):>+7.0f} %"


def predictions(measured: Measured) -> Iterator[tuple[str, float, float]]:
    """Yield each prediction, and its measurement."""
    flow, owners, totals = measured["flow"], measured["owners"], measured["totals"]
    count, used = flow[-1]["messages"], by_kind(flow[-1])
    laws = flow_laws(flow[:-1])
    total = sum(law(count) for law in laws.values())
    yield f"{count} messages, s", total / 1000, sum(used.values()) / 1000
    size = owners[-1]["owner"]
    for what, kind, process in (
        ("search", "next", "api"),
        ("search", "first", "postgres"),
        ("write", "next", "client"),
    ):
        law, actual = growth(owners[:-1], what, kind, process), owners[-1][what][kind][process]
        yield f"user of {size:,}: {what}, {kind}, {process}, ms", law(size), actual
    total = totals[-1]["total"]
    for kind in ("first", "next"):
        law = power([(figures["total"], _search(figures, kind)) for figures in totals[:-1]])
        yield f"{total:,} in all: search, {kind}, all, ms", law(total), _search(totals[-1], kind)
    law = power([(figures["total"], sum(figures["bytes"].values())) for figures in totals[:-1]])
    yield f"{total:,} in all: disk, GB", law(total) / 1e9, sum(totals[-1]["bytes"].values()) / 1e9


def _search(figures: Measured, kind: str) -> float:
    return float(sum(figures["search"][kind][process] for process in ("api", "postgres")))

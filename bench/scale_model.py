"""Size and bill of an installation, from measured costs and a workload.

    python -m bench.scale_model --users 10000 --messages 12 --searches 6     # what such an installation needs
    python -m bench.scale_model --tiers                                      # the table of docs/scale.md
    python -m bench.scale_model --units                                      # its costs of a unit
    python -m bench.scale_model --check                                      # laws fitted without the largest sizes

The costs are those of `bench.scale`, from `--costs`. Prices, watts and limits of a machine are assumptions: options,
with defaults that nobody has measured. `--users …` also prints what changes when an assumption doubles.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from math import ceil, inf, log10
from pathlib import Path
from typing import Any, Final

from bench import arguments
from bench.scale_costs import Costs, checked, costs_from

COSTS: Final = Path(__file__).parent / "scale_data" / "costs.json"
DAY: Final = 86_400
MONTH_DAYS: Final = 30
GB: Final = 1e9
CACHE_SECONDS: Final = 600
"""An API process keeps the rows of a user for so long after the last search."""

CACHE_BYTES: Final = 512e6
"""It keeps no more than this."""

BASE_GB: Final = {"api": 0.4, "router": 0.1, "workers": 0.4, "broker": 0.05, "postgres": 0.5}
"""Memory of one process at work with its embedding model, without cached rows and pages, rounded up."""


def number(default: float, meaning: str) -> Any:
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True, slots=True)
class Workload:
    """What users do."""

    users: float = number(1_000, "users with memories")
    active: float = number(0.3, "share of them who are there on a day")
    messages: float = number(12, "messages of an active user and its agent a day")
    searches: float = number(6, "searches for an active user a day")
    visits: float = number(2, "times a day that an active user comes back after more than ten minutes")
    memories: float = number(0.8, "memories made of a message")
    memory_days: float = number(365, "days until a memory fades")
    message_days: float = number(365, "days that messages are kept")
    log_days: float = number(90, "days that events, decisions and dispatches are kept")
    peak: float = number(4, "traffic of the busiest minutes, as a multiple of the mean")

    @property
    def messages_s(self) -> float:
        return self.users * self.active * self.messages / DAY

    @property
    def searches_s(self) -> float:
        return self.users * self.active * self.searches / DAY

    @property
    def visits_s(self) -> float:
        return self.users * self.active * min(self.visits, self.searches) / DAY

    @property
    def owner(self) -> float:
        """Memories of a user."""
        return self.active * self.messages * self.memories * self.memory_days

    @property
    def rows(self) -> float:
        """Rows of the search index about a user: memories and messages."""
        return self.owner + self.active * self.messages * self.message_days

    @property
    def at_once(self) -> float:
        """Users whose rows are cached in the busiest minutes."""
        return max(1.0, self.peak * self.visits_s * CACHE_SECONDS)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Prices, watts and limits: inputs, none of them measured."""

    core_hour: float = number(0.05, "price of a core for an hour, with its memory")
    core_gb: float = number(4, "GB of memory that come with a core")
    disk_month: float = number(0.10, "price of a GB on disk for a month")
    backup_month: float = number(0.02, "price of a GB of backups for a month")
    backups: float = number(7, "dumps kept")
    copies: float = number(2, "copies of the database: the primary and its standbys")
    busy_watts: float = number(6, "watts of a busy core, above those of an idle one")
    idle_watts: float = number(2, "watts of a core that is there, with its memory")
    disk_watts: float = number(2, "watts of a TB on disk")
    overhead: float = number(1.3, "energy of the building, for each unit of the machines'")
    utilisation: float = number(0.5, "share of the cores that is busy in the busiest minutes")
    least_cores: float = number(2, "cores of the smallest machine")
    cell_cores: float = number(32, "cores of the largest database machine wanted")
    cell_disk: float = number(2_000, "GB of the largest database wanted")


@dataclass(frozen=True, slots=True)
class Bill:
    """What an installation needs. Rates and busy cores are means; `cores` are for the busiest minutes.

    `machine_cores` are those that are bought, for cores and memory, with the standbys of the database.
    """

    memories: float
    owner: float
    messages_s: float
    messages_s_peak: float
    searches_s: float
    searches_s_peak: float
    busy_cores: Mapping[str, float]
    cores: Mapping[str, float]
    api_processes: int
    machine_cores: float
    memory_gb: Mapping[str, float]
    disk_gb: Mapping[str, float]
    dump_gb: float
    dump_core_hours: float
    wal_mb_s_peak: float
    client_mb_s_peak: float
    cells: int
    money_month: float
    kwh_month: float
    wh_to_make_a_million: float

    @property
    def millions(self) -> float:
        return self.memories / 1e6


def bill(work: Workload, assumed: Assumptions, costs: Costs) -> Bill:
    """Return what a workload needs."""
    busy, processes = _busy(work, assumed, costs)
    cores = {name: _peak(work, assumed, used) for name, used in busy.items()}
    memory = _memory(work, costs, cores, processes)
    machines = max(assumed.least_cores, ceil(sum(cores.values())), ceil(sum(memory.values()) / assumed.core_gb))
    database = max(1, ceil(cores["postgres"]), ceil(memory["postgres"] / assumed.core_gb))
    bought = machines + (assumed.copies - 1) * database
    disk = _disk(work, costs)
    stored = sum(disk.values())
    client = work.messages_s * costs.request_bytes + work.searches_s * costs.answer_bytes
    return Bill(
        memories=work.users * work.owner,
        owner=work.owner,
        messages_s=work.messages_s,
        messages_s_peak=work.peak * work.messages_s,
        searches_s=work.searches_s,
        searches_s_peak=work.peak * work.searches_s,
        busy_cores=busy,
        cores=cores,
        api_processes=processes,
        machine_cores=bought,
        memory_gb=memory,
        disk_gb=disk,
        dump_gb=stored * costs.dump_share,
        dump_core_hours=stored * GB * costs.dump_ms_a_byte / 3.6e6,
        wal_mb_s_peak=work.peak * work.messages_s * costs.wal_of_message(work.memories) / 1e6,
        client_mb_s_peak=work.peak * client / 1e6,
        cells=max(1, ceil(database / assumed.cell_cores), ceil(stored / assumed.cell_disk)),
        money_month=_money(assumed, bought, stored, stored * costs.dump_share),
        kwh_month=_kwh(assumed, sum(busy.values()), bought, stored),
        wh_to_make_a_million=_wh_to_make(work, assumed, costs),
    )


def _peak(work: Workload, assumed: Assumptions, busy: float) -> float:
    """Return the cores that the busiest minutes need."""
    return work.peak * busy / assumed.utilisation


def _busy(work: Workload, assumed: Assumptions, costs: Costs) -> tuple[dict[str, float], int]:
    """Return the mean number of busy cores of each kind of process, and the number of API processes.

    Processes share no cached rows: the more there are, the more of a visit's searches meet one that has none yet.
    """
    first, later = costs.search_ms(work.rows, first=True), costs.search_ms(work.rows, first=False)
    rows_bytes = work.at_once * work.rows * costs.cached_bytes
    few = max(1, ceil(rows_bytes / CACHE_BYTES), ceil(_peak(work, assumed, work.searches_s * later["api"] / 1000)))
    copies = min(few, max(1.0, work.searches / work.visits))
    first_s = min(work.searches_s, copies * work.visits_s)
    busy = {name: work.messages_s * ms / 1000 for name, ms in costs.message_ms(work.owner, work.memories).items()}
    for name in ("api", "postgres"):
        busy[name] += (first_s * first[name] + (work.searches_s - first_s) * later[name]) / 1000
    busy["postgres"] += work.messages_s * work.memories * costs.upkeep_ms / 1000
    return busy, max(few, ceil(copies * rows_bytes / CACHE_BYTES), ceil(_peak(work, assumed, busy["api"])))


def _memory(work: Workload, costs: Costs, cores: Mapping[str, float], api: int) -> dict[str, float]:
    """Return GB: processes with what they cache, and for PostgreSQL the pages of users who are there at once."""
    processes = {name: max(1, ceil(count)) for name, count in cores.items()} | {"api": api, "postgres": 1}
    needed = {name: BASE_GB[name] * count for name, count in processes.items()}
    needed["api"] += api * min(CACHE_BYTES, work.at_once * work.rows * costs.cached_bytes) / GB
    needed["postgres"] += work.at_once * work.owner * costs.bytes_of["memory"] / GB
    return needed


def _disk(work: Workload, costs: Costs) -> dict[str, float]:
    """Return GB of one copy of the database."""
    messages = work.messages_s * DAY
    return {
        "memories": work.users * work.owner * costs.bytes_of["memory"] / GB,
        "messages": messages * work.message_days * costs.bytes_of["message"] / GB,
        "log": messages * work.log_days * costs.log_bytes(work.memories) / GB,
    }


def _money(assumed: Assumptions, cores: float, stored: float, dump_gb: float) -> float:
    machines = cores * assumed.core_hour * 24 * MONTH_DAYS
    return machines + assumed.copies * stored * assumed.disk_month + assumed.backups * dump_gb * assumed.backup_month


def _kwh(assumed: Assumptions, busy: float, cores: float, stored: float) -> float:
    watts = busy * assumed.busy_watts + cores * assumed.idle_watts
    watts += assumed.copies * stored / 1000 * assumed.disk_watts
    return assumed.overhead * watts * 24 * MONTH_DAYS / 1000


def _wh_to_make(work: Workload, assumed: Assumptions, costs: Costs) -> float:
    """Return the energy of making a million memories of messages, on cores that are busy with nothing else."""
    each = sum(costs.message_ms(work.owner, work.memories).values()) / work.memories / 1000
    return assumed.overhead * each * 1e6 * (assumed.busy_watts + assumed.idle_watts) / 3600


OF_MEMORIES: Final = 1_000
"""Memories of the user for whom a unit's cost is shown."""

ALONE: Final = Assumptions(copies=1)
TIERS: Final = {
    "laptop": (Workload(users=1, active=1, messages=35, searches=35), ALONE),
    "team": (Workload(users=100), ALONE),
    "product": (Workload(users=1_000), Assumptions()),
    "large product": (Workload(users=10_000), Assumptions()),
    "platform": (Workload(users=100_000), Assumptions()),
    "a billion": (Workload(users=1_000_000), Assumptions()),
}


COLUMNS: Final[Mapping[str, Callable[[Bill], str]]] = {
    "memories": lambda need: _power(need.memories),
    "messages/s": lambda need: _short(need.messages_s_peak),
    "searches/s": lambda need: _short(need.searches_s_peak),
    "cores: database; others; bought": lambda need: (
        f"{_short(need.cores['postgres'])}; {_short(_others(need))}; {need.machine_cores:.0f}"
    ),
    "disk, GB": lambda need: _short(sum(need.disk_gb.values())),
    "cells": lambda need: str(need.cells),
    "dollars a month; per million": lambda need: _both(need.money_month, need.millions),
    "kWh a month; per million": lambda need: _both(need.kwh_month, need.millions),
}


def table(costs: Costs) -> list[str]:
    """Return the tiers as rows of Markdown."""
    rows = [f"| | {' | '.join(COLUMNS)} |", f"| --- | {' | '.join(['---:'] * len(COLUMNS))} |"]
    for name, (work, assumed) in TIERS.items():
        need = bill(work, assumed, costs)
        rows.append(f"| {name} | {' | '.join(cell(need) for cell in COLUMNS.values())} |")
    return rows


def _others(need: Bill) -> float:
    return sum(need.cores.values()) - need.cores["postgres"]


def _both(whole: float, millions: float) -> str:
    return f"{_short(whole)}; {_short(whole / millions)}"


def units(costs: Costs) -> list[str]:
    """Return the costs of a unit as rows of Markdown."""
    kinds = ("workers", "postgres", "api", "router", "broker")
    message, wal = costs.message_ms(costs.average, costs.made), costs.wal_of_message(0)
    parts = " + ".join(_short(message[kind]) for kind in kinds)
    written = " + ".join(_short(costs.write[process](OF_MEMORIES)) for process in ("client", "postgres"))
    searches = [
        f"| {name} search, user of {OF_MEMORIES:,} rows: API + PostgreSQL | {_short(ms['api'])} + "
        f"{_short(ms['postgres'])} ms |"
        for name, ms in (
            ("first", costs.search_ms(OF_MEMORIES, first=True)),
            ("further", costs.search_ms(OF_MEMORIES, first=False)),
        )
    ]
    return [
        "| unit | cost |",
        "| --- | --- |",
        f"| message, with all that follows: {' + '.join(kinds)} | {parts} ms |",
        f"| of it, a memory, user of {OF_MEMORIES:,}: worker + PostgreSQL | {written} ms |",
        *searches,
        f"| of it, the vector | {_short(costs.vector_ms)} ms |",
        f"| archiving a memory, vacuum | {_short(costs.upkeep_ms)} ms |",
        f"| disk: memory; message; log of a message | {'; '.join(_kb(costs.bytes_of[k]) for k in costs.bytes_of)} |",
        f"| write-ahead log: message; memory | {_kb(wal)}; {_kb(costs.wal_memory)} |",
        f"| API memory, row of a user who searches | {_kb(costs.cached_bytes)} |",
        f"| dump, a GB on disk | {costs.dump_ms_a_byte * 1e6:.0f} s, {costs.dump_share:.2f} GB |",
    ]


def _kb(size: float) -> str:
    return f"{_short(size / 1000)} kB"


def sensitivity(work: Workload, assumed: Assumptions, costs: Costs) -> dict[str, dict[str, float]]:
    """Return for each input how cores, disk, money and energy change when it doubles, as factors."""
    plain = _totals(bill(work, assumed, costs))
    doubled = {entry.name: bill(replace(work, **_twice(work, entry)), assumed, costs) for entry in fields(work)}
    doubled |= {entry.name: bill(work, replace(assumed, **_twice(assumed, entry)), costs) for entry in fields(assumed)}
    return {
        name: {total: value / plain[total] for total, value in _totals(need).items()} for name, need in doubled.items()
    }


def _twice(inputs: Workload | Assumptions, entry: Field[Any]) -> dict[str, float]:
    return {entry.name: 2 * getattr(inputs, entry.name)}


def _totals(need: Bill) -> dict[str, float]:
    cores, disk = need.machine_cores, sum(need.disk_gb.values())
    return {"cores": cores, "disk": disk, "money": need.money_month, "energy": need.kwh_month}


def _power(value: float) -> str:
    return f"{value / 10 ** int(log10(value)):.1f} · 10^{int(log10(value))}"


def _short(value: float) -> str:
    """Return a number with two digits that count."""
    if 0 < value < 0.01:
        return "< 0.01"
    if value >= 100:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:.2g}"


def show(work: Workload, assumed: Assumptions, costs: Costs) -> None:
    """Print the bill, then what a doubled input changes by more than a quarter."""
    for name, value in asdict(bill(work, assumed, costs)).items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        print(f"{name.replace('_', ' '):<24}", "  ".join(f"{part} {_short(figure)}".strip() for part, figure in parts))
    print("\nif doubled: factor of cores, disk, money, energy")
    for name, factors in sensitivity(work, assumed, costs).items():
        if any(abs(factor - 1) > 0.25 for factor in factors.values()):
            print(f"  {name:<20}", "  ".join(f"{factor:.2f}" for factor in factors.values()))


def _options(parser: argparse.ArgumentParser, entries: Iterable[Field[Any]]) -> None:
    for entry in entries:
        flag = f"--{entry.name.replace('_', '-')}"
        parser.add_argument(flag, type=float, default=entry.default, help=f"{entry.metadata['help']} ({entry.default})")


def _values(entries: Iterable[Field[Any]], parser: argparse.ArgumentParser, options: argparse.Namespace) -> Any:
    """Return the values of these entries. A value that is not above 0 ends the program with a message."""
    values = {entry.name: getattr(options, entry.name) for entry in entries}
    for name, value in values.items():
        if not 0 < value < inf or (name == "active" and value > 1):
            limit = "above 0 and at most 1" if name == "active" else "above 0"
            parser.error(f"--{name.replace('_', '-')}: {value} is not {limit}.")
    return values


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--costs", type=Path, default=COSTS, help="what bench.scale has measured")
    parser.add_argument("--tiers", action="store_true", help="print the table of tiers, which has values of its own")
    parser.add_argument("--units", action="store_true", help="print the cost of each unit")
    parser.add_argument("--check", action="store_true", help="print predictions beside what was measured")
    _options(parser, [*fields(Workload), *fields(Assumptions)])
    options = parser.parse_args()
    measured = json.loads(options.costs.read_text(encoding="utf-8"))
    costs = costs_from(measured)
    assumed = Assumptions(**_values(fields(Assumptions), parser, options))
    if options.tiers:
        print("\n".join(table(costs)))
    elif options.units:
        print("\n".join(units(costs)))
    elif options.check:
        for line in checked(measured):
            print(line)
    else:
        show(Workload(**_values(fields(Workload), parser, options)), assumed, costs)


if __name__ == "__main__":
    main()

"""Pages of the console: how long each takes, on the demo's conversation and on a log of any length.

    python -m bench.console [--memories 1000000 --events 10000000] [--rounds 20] [--only TEXT] [--home FOLDER]
        [--flood 1000]

To reach: p95 below 150 ms on the demo's data, and below 400 ms with 1,000,000 memories and 10,000,000 events. The
stack is a user's own; pages are asked for over HTTP with the cookie of a login, one after the other, each page once in
every round, so that whatever else the machine does meets all of them. The floor is the login page, which asks nothing.
A page's parts and filters are pages of their own here. With `--home`, what was loaded is found again, and the figures
of another run begin at once; a second tenant with a hundredth of the rows lies beside the first.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
import psycopg
from pydantic import SecretStr

from api.console.cookie import NAME
from api.demo import conversations
from api.stack.postgres import Postgres
from bench import arguments, console_data, console_pages
from bench.console_data import LARGE, Size
from bench.flood import flooded
from bench.stand import Stand, home_stack, percentiles, timed
from core.config import Settings
from core.inference.local_models.catalog import MODELS
from core.storage import schema

ROUNDS: Final = 20
WARM: Final = 2
"""Rounds before those that count: caches are those of a page that someone has open."""

TARGETS_MS: Final = {"demo": 150, "size": 400}

NEIGHBOUR: Final = "neighbour"

TENANT: Final = "default"

LOADED: Final = "bench-loaded"
"""File in a home that says that all is there."""


def run(size: Size | None, rounds: int, only: str, kept: Path | None, rate: int) -> None:
    """Print what pages take on the demo's conversation, or among so much; with a rate, while events come."""
    with TemporaryDirectory(prefix="imprint-bench-") as folder:
        home = kept or Path(folder)
        if size is not None:
            load(home, size)
        with home_stack(home, tenant_limits='{"requests": 1000000}') as stand:
            if size is not None:
                rules(stand)
            demo(stand)
            vacuum(stand)
            with logged_in(stand.url, stand.key) as browser:
                user = "maya" if size is None else LARGE
                displayed = console_pages.prepare(stand, user)
                previewed(stand, displayed.job)
                paths = console_pages.paths(displayed)
                if rate:
                    with flooded(stand, rate) as poured:
                        times = measured(browser, paths, rounds, only)
                    print(f"meanwhile {poured.events:,} events were published, {poured.rate:,.0f}/s")
                else:
                    times = measured(browser, paths, rounds, only)
    if size is None:
        tell("the demo's conversation", times, TARGETS_MS["demo"])
    else:
        tell(f"{size.memories:,} memories, {size.events:,} events", times, TARGETS_MS["size"])


def load(home: Path, size: Size) -> None:
    """Fill two tenants, the second with a hundredth, before anything else of the service is there."""
    home.mkdir(parents=True, exist_ok=True)
    if (home / LOADED).exists():
        return
    if (home / "postgres").exists():
        raise SystemExit(f"{home} was not loaded to its end, and has no indexes. Remove it, or name another folder.")
    postgres = Postgres(home.absolute())
    postgres.start()
    try:
        settings = Settings(home=home, database_url=SecretStr(postgres.url))
        schema.upgrade(settings, (MODELS["local"].name, MODELS["local"].dimension))
        with psycopg.connect(postgres.admin_url, autocommit=True) as admin:
            for tenant in (TENANT, NEIGHBOUR):
                admin.execute("INSERT INTO tenants (id) VALUES (%s) ON CONFLICT DO NOTHING", [tenant])
            with console_data.without_indexes(admin):
                console_data.load(admin, TENANT, size)
                console_data.load(admin, NEIGHBOUR, Size(size.memories // 100, size.events // 100))
            admin.execute("VACUUM ANALYZE")
        (home / LOADED).touch()
    finally:
        postgres.stop(60)


def rules(stand: Stand) -> None:
    """Save the rules whose decisions are there already."""
    for number in range(console_data.RULES):
        action = {"action_type": "notify", "channel": "log", "template": "It came."}
        document = {"name": f"bench_rule_{number}", "event_type": f"custom.type{number}", "actions": [action]}
        stand.call("PUT", f"/v1/rules/{document['name']}", document)


def demo(stand: Stand) -> None:
    """Publish the conversation of the demo, and wait until all that follows from it is done."""
    batches = conversations.events(conversations.shipped_conversation())
    tokens = [stand.call("POST", "/v1/events", batch)["settle_token"] for batch in batches]
    stand.settle(tokens[-1], flush=True)


def previewed(stand: Stand, job: str) -> None:
    """Wait until the preview of a bulk job is done."""
    while stand.call("GET", f"/v1/memories/bulk/jobs/{job}")["status"] == "running":
        time.sleep(0.2)


def vacuum(stand: Stand) -> None:
    """Leave tables as autovacuum does, so that it does not begin meanwhile."""
    with psycopg.connect(stand.admin_url, autocommit=True) as admin:
        admin.execute("VACUUM ANALYZE")
        admin.execute("CHECKPOINT")


@contextmanager
def logged_in(url: str, key: str) -> Iterator[httpx.Client]:
    """A browser's client with the cookie of a login."""
    with httpx.Client(base_url=url, timeout=120) as browser:
        browser.post("/console/login", data={"key": key})
        assert browser.cookies.get(NAME), "the login was refused"
        yield browser


def measured(browser: httpx.Client, paths: Mapping[str, str], rounds: int, only: str) -> dict[str, list[float]]:
    """Return the milliseconds of each page, by its name."""
    chosen = {name: path for name, path in paths.items() if only in name or name.startswith("floor")}
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for turn in range(-WARM, rounds):
        for name, path in chosen.items():
            took = 1_000 * timed(lambda path=path: _open(browser, path))
            if turn >= 0:
                times[name].append(took)
    return times


def tell(title: str, times: Mapping[str, list[float]], target: float) -> None:
    """Print p50 and p95 of each page, and what is above the target."""
    print(f"\n{title}: milliseconds of a page; target: p95 below {target}")
    print(f"  {'page':<44}{'p50':>8}{'p95':>8}{'max':>8}")
    cuts = {name: percentiles(several) for name, several in times.items()}
    for name, cut in cuts.items():
        note = "  above the target" if cut["p95"] > target else ""
        print(f"  {name:<44}{cut['p50']:>8.0f}{cut['p95']:>8.0f}{cut['max']:>8.0f}{note}")
    late = [name for name, cut in cuts.items() if cut["p95"] > target]
    print(f"  above the target: {', '.join(late) or 'none'} ({len(late)} of {len(cuts)})")
    slowest = max(cut["p95"] for cut in cuts.values())
    middle = statistics.median(cut["p50"] for cut in cuts.values())
    print(f"  slowest p95 {slowest:.0f}, median of the pages' p50 {middle:.0f}")


def _open(browser: httpx.Client, path: str) -> None:
    answer = browser.get(f"/console{path}")
    if answer.is_error:
        raise SystemExit(f"{path}: {answer.status_code} {answer.text[:300]}")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--memories", type=int, default=0)
    parser.add_argument("--events", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="pages whose name contains this")
    parser.add_argument("--home", type=Path, help="folder in which what was loaded is kept, and found again")
    parser.add_argument("--flood", type=int, default=0, metavar="RATE", help="events a second that come meanwhile")
    given = parser.parse_args()
    run(Size(given.memories, given.events) if given.events else None, given.rounds, given.only, given.home, given.flood)


if __name__ == "__main__":
    main()

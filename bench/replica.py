"""What a replica takes from the primary: searches over HTTP with it and without it, in turns.

    python -m bench.replica [--users 20] [--questions 400] [--clients 4] [--rounds 5]

Two APIs of one process each serve one database, with a thousand memories a user. One of them has a standby, on the same
machine: searches/s show what the way there costs, not what a second machine would add. Users and questions are warm.
`ms`: processor time of a search in all processes of a server, less what it takes in as many seconds while nobody asks.
Figures are medians of the rounds.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from api.stack.broker import Broker
from bench import arguments
from bench.processes import all_cpu_seconds, descendants
from bench.search import EACH, Bench, standing
from bench.search_clients import Client, at_once
from bench.search_data import TENANT, Asked, Crowd, Filled
from bench.search_said import embedded
from bench.stand import Stand, free_port, show
from bench.standby import Standby
from core.inference.local_embedder import LocalEmbedder
from core.storage import db
from core.tenancy import tenants

READY_SECONDS: Final = 120
IDLE_SECONDS: Final = 5.0

Cpu = Mapping[str, float]
"""Seconds by server."""


@dataclass(frozen=True, slots=True)
class Server:
    """An API, and the processes whose time is counted, by name."""

    stand: Stand
    metrics_url: str
    roots: Mapping[str, int]

    def cpu(self) -> Cpu:
        return {name: sum(map(all_cpu_seconds, descendants(root))) for name, root in self.roots.items()}

    def reads(self) -> Mapping[str, float]:
        """Reads by outcome: on the replica, or why not."""
        families = text_string_to_metric_families(httpx.get(self.metrics_url).text)
        samples = (sample for family in families for sample in family.samples)
        return {s.labels["outcome"]: s.value for s in samples if s.name == "imprint_replica_reads_total"}


@contextmanager
def serving(there: Filled, broker_url: str, key: str, others: Mapping[str, int], **settings: str) -> Iterator[Server]:
    """An API of one process on this database."""
    port, metrics_port = free_port(), free_port()
    own = {
        "home": str(there.settings.home),
        "database_url": there.postgres.url,
        "broker_url": broker_url,
        "http_port": str(port),
        "metrics_port": str(metrics_port),
        "api_processes": "1",
        "log_level": "warning",
        **settings,
    }
    environment = {**os.environ, **{f"IMPRINT_{name.upper()}": value for name, value in own.items()}}
    process = subprocess.Popen([sys.executable, "-m", "api.cli.main", "serve"], env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        _await(f"{url}/healthz", process)
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=90) as http:
            stand = Stand(url, key, there.settings.home, http, process.pid)
            roots = {"API": process.pid, "primary": there.postgres.pid or 0, **others}
            yield Server(stand, f"http://127.0.0.1:{metrics_port}/metrics", roots)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, timeout=2).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit(f"the API did not answer (exit code {process.poll()})")


def measured(server: Server, questions: Sequence[Asked], clients: int) -> dict[str, float]:
    """Searches/s, and milliseconds of each server for one of them."""
    before, began = server.cpu(), time.monotonic()
    time.sleep(IDLE_SECONDS)
    idle, passed, busy = server.cpu(), time.monotonic() - began, time.monotonic()
    rate = at_once(server.stand, questions, clients).rate
    took, after = time.monotonic() - busy, server.cpu()
    figures = {"searches/s": rate}
    for name, seconds in after.items():
        unasked = (idle[name] - before[name]) / passed * took
        figures[f"{name}, ms"] = 1000 * (seconds - idle[name] - unasked) / len(questions)
    return figures


def warm(server: Server, questions: Sequence[Asked]) -> None:
    """Let the API cache users and vectors, and the server prepare the statements."""
    with closing(Client(server.stand)) as client:
        for question in questions:
            client.embed(question.text)
        for question in questions:
            client.find(question)


def run(users: int, questions: int, clients: int, rounds: int) -> dict[str, float]:
    model, crowd = LocalEmbedder(), Crowd("many", {f"u{n}": EACH for n in range(users)})
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="imprint-bench-")))
        home.chmod(0o711)
        there = stack.enter_context(standing(home / "primary", crowd, embedded(home / "sentences.npy", model)))
        standby = Standby(home / "standby", there.postgres)
        (home / "standby").mkdir()
        standby.start()
        stack.callback(standby.stop)
        broker = Broker(home / "primary", durable=False)
        broker.start()
        stack.callback(broker.stop)
        with closing(db.connect(db.app_url(there.settings), 1)) as app, app.tenant(TENANT) as tx:
            key = tenants.create_key(tx, TENANT, ("read",))[1]
        standby.catch_up()
        copy = {"replica": standby.pid or 0}
        alone = stack.enter_context(serving(there, broker.url, key, copy))
        replica_url = standby.app_url(there.settings)
        helped = stack.enter_context(serving(there, broker.url, key, copy, replica_url=replica_url))
        each = max(1, questions // users)
        batch = [
            q for some in Bench(there, crowd, model, questions).questions_about(list(crowd.users), each) for q in some
        ]
        servers = {"without": alone, "with": helped}
        for server in servers.values():
            warm(server, batch)
        kept: dict[str, list[float]] = {}
        for number in range(rounds):
            for name in sorted(servers, reverse=number % 2 == 1):
                for figure, value in measured(servers[name], batch, clients).items():
                    kept.setdefault(f"{name}: {figure}", []).append(value)
        figures = {name: statistics.median(values) for name, values in sorted(kept.items())}
        return figures | {f"with: reads, {outcome}": count for outcome, count in helped.reads().items()}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--questions", type=int, default=400, help="of a round")
    parser.add_argument("--clients", type=int, default=4, help="at once")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    show(__doc__, run(options.users, options.questions, options.clients, options.rounds))


if __name__ == "__main__":
    main()

"""An installation over several hosts: servers, and each process as production runs it, with the default settings."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, create_engine, text

from api.stack.broker import Broker
from api.stack.postgres import Postgres
from api.stack.run_files import LOOPBACK
from core.config import Settings
from core.storage import db
from tests.hosts.network import Network
from tests.patience import wait_until

OPERATOR: Final = "operator"
"""Host of whoever publishes, and of Prometheus."""

PROCESSES: Final[Mapping[str, tuple[str, ...]]] = {
    "api1": ("api",),
    "api2": ("api",),
    "worker1": ("worker-io", "worker-cpu"),
    "worker2": ("worker-io", "worker-cpu"),
    "control1": ("router", "clock"),
    "control2": ("router", "clock"),
}
HOSTS: Final = ("database", "broker", *PROCESSES, OPERATOR)

COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "api": ("serve",),
    "router": ("router",),
    "worker-io": ("worker", "--queue", "io", "--concurrency", "2"),
    "worker-cpu": ("worker", "--queue", "cpu", "--concurrency", "2"),
    "clock": ("clock",),
}
HTTP_PORT: Final = 8070
METRICS_PORTS: Final = {name: 9070 + place for place, name in enumerate(COMMANDS)}
"""Two processes of one host need two ports."""


class HostPostgres(Postgres):
    """The database server, which also answers to other hosts."""

    def __init__(self, home: Path, address: str) -> None:
        super().__init__(home)
        self._address = address

    def _initialise(self) -> None:
        super()._initialise()
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\nhost replication all samenet scram-sha-256\n")

    def _settings(self) -> list[str]:
        return [*super()._settings(), "-c", f"listen_addresses={LOOPBACK},{self._address}"]

    def _url(self, role: str, database: str) -> str:
        return super()._url(role, database).replace(f"@{LOOPBACK}:", f"@{self._address}:")


class HostBroker(Broker):
    """The broker, which also answers to other hosts."""

    def __init__(self, home: Path, address: str) -> None:
        super().__init__(home)
        self._address = address

    def _settings(self) -> Iterator[str]:
        yield from super()._settings()
        yield f"bind {LOOPBACK} {self._address}"

    @property
    def url(self) -> str:
        return super().url.replace(f"@{LOOPBACK}:", f"@{self._address}:")


@dataclass
class Cluster:
    """The running installation. `key`: an admin's; `rows`: the tables, past row-level security.

    `code`: the tree of which processes run the code that are started next.
    """

    network: Network
    home: Path
    postgres: Postgres
    broker: Broker
    settings: Settings
    environment: dict[str, str]
    code: Path
    key: str
    rows: Engine
    running: dict[tuple[str, str], subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, host: str, process: str, prefix: tuple[str, ...] = (), **settings: str) -> None:
        """Start a process on a host; `prefix`: a command that runs the rest of its arguments as a command."""
        address = self.network.addresses[host]
        own = {
            "HOME": self.home / host,
            "HTTP_HOST": address,
            "HTTP_PORT": HTTP_PORT,
            "METRICS_HOST": address,
            "METRICS_PORT": METRICS_PORTS[process],
            **settings,
        }
        environment = self.environment | {f"IMPRINT_{name.upper()}": str(value) for name, value in own.items()}
        environment["PYTHONPATH"] = str(self.code)
        named = ("unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh")
        command = [*named, *prefix, sys.executable, "-m", "api.cli.main", *COMMANDS[process]]
        with self.log(host, process).open("ab") as log, self.network.inside(host):
            started = subprocess.Popen(
                command, cwd=self.code, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.running[host, process] = started

    def log(self, host: str, process: str) -> Path:
        return self.home / f"{host}-{process}.log"

    def stop(self, host: str, process: str) -> None:
        """Stop a process with those that it has forked."""
        stopped = self.running.pop((host, process))
        stopped.send_signal(signal.SIGTERM)
        try:
            stopped.wait(20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(stopped.pid, signal.SIGKILL)

    def restart(self, host: str, prefix: tuple[str, ...] = ()) -> None:
        """Stop all processes of a host and start them again, under a command that runs its arguments."""
        for process in PROCESSES[host]:
            self.stop(host, process)
            self.start(host, process, prefix)

    def url(self, host: str) -> str:
        return f"http://{self.network.addresses[host]}:{HTTP_PORT}"

    def call(self, method: str, path: str, body: object = None, host: str = "api1") -> Any:
        headers = {"authorization": f"Bearer {self.key}"}
        answer = httpx.request(method, self.url(host) + path, json=body, headers=headers, timeout=30)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def ready(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            answers = [httpx.get(f"{self.url(host)}/readyz", timeout=5) for host in ("api1", "api2")]
            return all(answer.is_success for answer in answers)
        return False

    def worked(self) -> dict[tuple[str, str], float]:
        """Return how many dispatches each worker has done, by host and process."""
        return {
            (host, process): self._done(host, process)
            for host, processes in PROCESSES.items()
            for process in processes
            if process.startswith("worker-")
        }

    def _done(self, host: str, process: str) -> float:
        shown = httpx.get(f"http://{self.network.addresses[host]}:{METRICS_PORTS[process]}/metrics", timeout=10).text
        families = text_string_to_metric_families(shown)
        samples = [sample for family in families for sample in family.samples]
        return sum(sample.value for sample in samples if sample.name == "imprint_dispatches_total")

    def select(self, query: str, **values: Any) -> list[Any]:
        with self.rows.connect() as tx:
            return list(tx.execute(text(query), values))


@contextlib.contextmanager
def cluster(network: Network, code: Path) -> Iterator[Cluster]:
    """Start everything with the code of a tree; this thread is inside the operator's host until it ends."""
    with tempfile.TemporaryDirectory(prefix="imprint-hosts-") as folder, contextlib.ExitStack() as last:
        home = Path(folder)
        postgres = HostPostgres(home / "database", network.addresses["database"])
        broker = HostBroker(home / "broker", network.addresses["broker"])
        for host, server in (("database", postgres), ("broker", broker)):
            server.home.mkdir()
            last.callback(server.stop)
            with network.inside(host):
                server.start()
        last.enter_context(network.inside(OPERATOR))
        started = _wired(network, home, postgres, broker, code)
        last.callback(started.rows.dispose)
        last.callback(_stop_all, started)
        for host, processes in PROCESSES.items():
            for process in processes:
                started.start(host, process)
        wait_until(started.ready, every=0.5)
        yield started


def _wired(network: Network, home: Path, postgres: Postgres, broker: Broker, code: Path) -> Cluster:
    settings = Settings(home=home, database_url=postgres.url, broker_url=broker.url, embedding="hash")
    told = {
        "DATABASE_APP_URL": db.app_url(settings).render_as_string(hide_password=False),
        "DATABASE_ROUTER_URL": db.router_url(settings).render_as_string(hide_password=False),
        "BROKER_URL": broker.url,
        "EMBEDDING": "hash",
        "API_PROCESSES": "1",
        **{name: base64.b64encode(os.urandom(32)).decode() for name in ("RECEIPT_KEY", "SECRETS_KEY")},
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("IMPRINT_", "PROMETHEUS_"))}
    environment |= {f"IMPRINT_{name}": value for name, value in told.items()}
    admin = postgres.admin_url.replace("postgresql:", "postgresql+psycopg:")
    rows = create_engine(admin, pool_pre_ping=True)
    key = upgrade(settings, environment, code)
    return Cluster(network, home, postgres, broker, settings, environment, code, key, rows)


def upgrade(settings: Settings, environment: Mapping[str, str], code: Path) -> str:
    """Create or migrate the tables with the code of a tree, as `imprint db upgrade` does; return a new key."""
    assert settings.database_url
    owner = {"IMPRINT_DATABASE_URL": settings.database_url.get_secret_value(), "PYTHONPATH": str(code)}
    command = [sys.executable, "-c", _UPGRADE]
    done = subprocess.run(
        command, cwd=code, env={**environment, **owner}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.split()[-1]


_UPGRADE: Final = """
from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import schema
from tests.doors import key_of
from tests.samples import TENANT

settings = Settings()
schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
print(key_of(settings, TENANT))
"""


def _stop_all(cluster: Cluster) -> None:
    for process in cluster.running.values():
        process.send_signal(signal.SIGTERM)
    for host, process in list(cluster.running):
        cluster.stop(host, process)

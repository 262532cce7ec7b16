"""Every process on its own, started by the commands that production uses, each with its own listener for metrics."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import create_engine, text

from api.http.log.events import BACKLOG_SECONDS
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from tests.doors import key_of
from tests.faults.model import statement
from tests.patience import wait_until
from tests.ports import free_port
from tests.samples import TENANT
from tests.servers import Handler, serving

COMMANDS: Mapping[str, list[str]] = {
    "api": ["serve"],
    "router": ["router"],
    "worker-io": ["worker", "--queue", "io", "--concurrency", "2"],
    "worker-cpu": ["worker", "--queue", "cpu", "--concurrency", "2"],
    "clock": ["clock"],
}
SHARING = ("api", "worker-io", "worker-cpu")
"""Programs of several processes."""

BACKLOG = 20
MODEL = "fake-model"
JSON = {"tenant_limits", "webhook_hosts"}
"""Settings that the environment gives as JSON."""


@dataclass
class Production:
    """The running processes, where each shows its metrics, and a key to the API."""

    home: Path
    settings: Settings
    environment: dict[str, str]
    api: httpx.Client
    ports: dict[str, int]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, *names: str) -> None:
        for name in names:
            environment = {**self.environment, "IMPRINT_METRICS_PORT": str(self.ports[name])}
            if name in SHARING:
                self.counted(name).mkdir(exist_ok=True)
                environment["PROMETHEUS_MULTIPROC_DIR"] = str(self.counted(name))
            command = [sys.executable, "-m", "api.cli.main", *COMMANDS[name]]
            with (self.home / f"{name}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(command, env=environment, stderr=log, stdout=log)

    def stop(self) -> None:
        self.api.close()
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            process.wait(20)

    def ready(self) -> bool:
        return self._status("/readyz") == httpx.codes.OK

    def alive(self) -> bool:
        return self._status("/healthz") == httpx.codes.OK

    def publish(self, *events: Mapping[str, Any]) -> httpx.Response:
        return self.api.post("/v1/events", json=list(events))

    def settle(self, published: httpx.Response) -> None:
        """Wait for all that follows from what was published, and before."""
        asked = {"token": published.json()["settle_token"], "flush": True, "timeout": 5}
        wait_until(lambda: self.api.get("/v1/settle", params=asked).json()["settled"])

    def exposition(self, name: str) -> str:
        return httpx.get(f"http://127.0.0.1:{self.ports[name]}/metrics").text

    def samples(self, *names: str) -> Mapping[str, list[tuple[dict[str, str], float]]]:
        """What the named processes show, or all: labels and value of each series by its name."""
        found: dict[str, list[tuple[dict[str, str], float]]] = defaultdict(list)
        for name in names or self.ports:
            for family in text_string_to_metric_families(self.exposition(name)):
                for sample in family.samples:
                    found[sample.name].append((sample.labels, sample.value))
        return found

    def total(self, process: str, metric: str, **labels: str) -> float:
        """The sum over the series of a metric that have these labels."""
        series = self.samples(process).get(metric, [])
        return sum(value for own, value in series if labels.items() <= own.items())

    def counted(self, name: str) -> Path:
        """The folder in which the processes of one program count."""
        return self.home / f"metrics-{name}"

    def children(self, name: str) -> list[int]:
        pid = self.running[name].pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def count(self, query: str) -> dict[str, int]:
        """What the database itself says, `name` and `number` of each row."""
        engine = create_engine(db.router_url(self.settings))
        with engine.connect() as tx:
            rows = tx.execute(text(query)).all()
        engine.dispose()
        return {row.name: row.number for row in rows}

    def _status(self, path: str) -> int:
        with contextlib.suppress(httpx.TransportError):
            return self.api.get(path).status_code
        return 0


@contextlib.contextmanager
def at_work(home: Path, **more: str) -> Iterator[Production]:
    """All processes on servers of their own, with `more` settings.

    The API starts first and refuses what is too much, then the others.
    """
    postgres, broker = Postgres(home, durable=False), Broker(home, durable=False)
    with contextlib.ExitStack() as last:
        last.callback(broker.stop)
        last.callback(postgres.stop)
        postgres.start()
        broker.start()
        production = wired(home, postgres.url, broker.url, last.enter_context(_model()), **more)
        last.callback(production.stop)
        production.start("api")
        wait_until(production.alive)
        _overload(production)
        production.start("router", "worker-io", "worker-cpu", "clock")
        wait_until(production.ready)
        yield production


def message(number: int, content: str = "I moved to Lisbon in May.") -> dict[str, Any]:
    payload = {"session_id": "s1", "user_id": "ada", "role": "user", "content": f"{content} ({number})"}
    return {"id": f"m{number}", "source": "production", "event_type": "message.added", "payload": payload}


def _overload(production: Production) -> None:
    """Nobody routes yet, so the backlog fills up; it is counted once a second, or less often where that takes long."""
    production.publish(*(message(number) for number in range(BACKLOG))).raise_for_status()
    repeated = message(0)  # which changes nothing, until it is refused
    wait_until(lambda: production.publish(repeated).status_code == httpx.codes.TOO_MANY_REQUESTS, every=BACKLOG_SECONDS)


def wired(home: Path, database_url: str, broker_url: str, model_url: str, **more: str) -> Production:
    """Return what is to run on these servers, with `more` settings as words; nothing is started yet."""
    ports = {name: free_port() for name in COMMANDS}
    told = {
        "home": str(home / "imprint"),
        "database_url": database_url,
        "broker_url": broker_url,
        "http_port": str(free_port()),
        "embedding": "hash",
        "tenant_limits": json.dumps({"events_waiting": BACKLOG}),
        "llm_base_url": model_url,
        "llm_model": MODEL,
        "llm_tokens_per_day": "10000000",
        "api_processes": "2",
        **more,
    }
    parsed = {name: json.loads(value) if name in JSON else value for name, value in told.items()}
    settings = Settings(**parsed)  # type: ignore[arg-type] - words, as the environment gives them
    schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("IMPRINT_", "PROMETHEUS_"))}
    environment |= {f"IMPRINT_{name.upper()}": value for name, value in told.items()}
    headers = {"authorization": f"Bearer {key_of(settings, TENANT)}"}
    api = httpx.Client(base_url=f"http://127.0.0.1:{settings.http_port}", headers=headers, timeout=30)
    return Production(home, settings, environment, api, ports)


class _Model(Handler):
    """Answers every question with one memory that cites the first message it was shown."""

    def do_POST(self) -> None:
        asked = self.body()
        _, _, new = asked["messages"][1]["content"].rpartition("## New\n")
        cited = [json.loads(line)["n"] for line in new.split("\n") if line.startswith("{")][-1:]
        found = statement("Ada lives in Lisbon.", cited, topic="location", attribute="home.city", value="Lisbon")
        said = {"role": "assistant", "content": json.dumps({"statements": [found], "units": []})}
        answer = {
            "id": "1", "object": "chat.completion", "created": 1, "model": MODEL,
            "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }  # fmt: skip
        self.answer(200, json.dumps(answer).encode())


@contextlib.contextmanager
def _model() -> Iterator[str]:
    with serving(_Model) as url:
        yield f"{url}/v1"

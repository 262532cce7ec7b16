"""Parts that the benches share: a stack of their own in a temporary folder, a client, and ratios against a floor."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from api.stack.postgres import Postgres
from core.config import Settings
from core.inference.embedders import Embedder
from core.storage import schema

READY_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Stand:
    """A running stack: where it answers, the key to it, its home, a client, and the process of `imprint up`."""

    url: str
    key: str
    home: Path
    http: httpx.Client
    pid: int

    def call(self, method: str, path: str, body: object = None) -> Any:
        return self.raw(method, path, None if body is None else json.dumps(body, ensure_ascii=False).encode())

    def raw(self, method: str, path: str, data: bytes | None) -> Any:
        answer = self.http.request(method, path, content=data, headers={"Content-Type": "application/json"})
        answer.raise_for_status()
        return answer.json() if answer.content else None

    @property
    def admin_url(self) -> str:
        """The superuser's URL: a floor is measured past row-level security."""
        kept = {name: json.loads((self.home / name).read_text()) for name in ("secrets.json", "run/stack.json")}
        address = kept["run/stack.json"]["database_url"].rpartition("@")[2]
        return f"postgresql://postgres:{kept['secrets.json']['postgres']}@{address}"

    def settle(self, token: str, *, flush: bool = False) -> None:
        """Wait until what a token stands for has ended; with `flush`, open debounces act at once."""
        path = f"/v1/settle?token={token}&timeout=20"
        settled = flush and self.call("GET", f"{path}&flush=true")["settled"]
        while not settled:
            settled = self.call("GET", path)["settled"]


@contextlib.contextmanager
def stack(*options: str, **settings: str) -> Iterator[Stand]:
    """`imprint up` in a folder of its own, as a user starts it; gone when this ends."""
    with (
        tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder,
        home_stack(Path(folder), *options, **settings) as stand,
    ):
        yield stand


@contextlib.contextmanager
def home_stack(home: Path, *options: str, **settings: str) -> Iterator[Stand]:
    """`imprint up` with these options in a home; it is stopped when this ends, and the home stays."""
    port = free_port()
    named = {f"IMPRINT_{name.upper()}": value for name, value in settings.items()}
    own = {"IMPRINT_HOME": str(home), "IMPRINT_HTTP_PORT": str(port), "IMPRINT_METRICS_PORT": str(free_port())}
    command = [sys.executable, "-m", "api.cli.main", "up", "--quiet", *options]
    process = subprocess.Popen(command, env={**os.environ, **own, **named})
    try:
        url = f"http://127.0.0.1:{port}"
        _await_ready(port, process)
        key = (home / "run" / "api.key").read_text().strip()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=90) as client:
            yield Stand(url, key, home, client, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextlib.contextmanager
def database(model: Embedder | None = None, **settings: Any) -> Iterator[tuple[Settings, Postgres]]:
    """A PostgreSQL in a folder of its own with all tables in it, and settings on it; gone when this ends.

    `model`: the embedder whose vectors are stored; the one for tests, if none is given.
    """
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        postgres = Postgres(Path(folder))
        postgres.start()
        try:
            upgraded = Settings(home=Path(folder), database_url=postgres.url, **settings)
            schema.upgrade(upgraded, (model.name, model.dimension) if model else ("hash", 384))
            yield upgraded, postgres
        finally:
            postgres.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def timed(work: Callable[..., object], *values: Any) -> float:
    """Seconds that the work took with these values."""
    began = time.perf_counter()
    work(*values)
    return time.perf_counter() - began


def percentiles(values: list[float]) -> Mapping[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "max": max(values)}


def _await_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first 200. A client of httpx for each look would take half a core from what starts."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            with contextlib.closing(line):
                line.request("GET", "/readyz")
                if line.getresponse().status == http.HTTPStatus.OK:
                    return
        time.sleep(0.02)
    raise SystemExit(f"the stack did not become ready (exit code {process.poll()})")


def show(title: str | None, figures: Mapping[str, float]) -> None:
    """Print what was measured."""
    print(f"\n{(title or '').splitlines()[0]}")
    for name, value in figures.items():
        print(f"  {name:<48} {value:>12,.3f}" if value < 100 else f"  {name:<48} {value:>12,.0f}")

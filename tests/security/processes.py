"""The HTTP API as the process that production runs, spoken to over sockets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from core.config import Settings
from core.storage.db import app_url, router_url
from tests.forked import forked
from tests.initial import LASTING
from tests.patience import wait_until
from tests.ports import free_port

CHUNK = b" " * (256 * 1024)
ANSWER_SECONDS = 30
BEATS = 20


@dataclass(frozen=True, slots=True)
class Served:
    """A running API process."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)

    def rss(self) -> int:
        """Resident memory in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]

    def files(self) -> int:
        """Open files, sockets included."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


@contextlib.contextmanager
def process(settings: Settings, **more: Any) -> Iterator[Served]:
    """The API as `imprint serve` runs it on these settings, with `more` on top, until the test is over."""
    port = free_port()
    told = {
        "home": str(settings.home),
        "database_app_url": app_url(settings).render_as_string(hide_password=False),
        "database_router_url": router_url(settings).render_as_string(hide_password=False),
        "broker_url": settings.broker_url.get_secret_value() if settings.broker_url else "",
        "http_port": port,
        "metrics_port": 0,
        "embedding": "hash",
        "log_level": "error",
        **more,
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("IMPRINT_", "PROMETHEUS_"))}
    environment["PGAPPNAME"] = LASTING
    for name, value in told.items():
        environment[f"IMPRINT_{name.upper()}"] = value if isinstance(value, str) else json.dumps(value)
    with forked(environment, "api.cli.serve") as running:
        served = Served(port, running.pid)
        wait_until(lambda: _alive(served))
        yield served


def _alive(served: Served) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{served.url}/healthz", timeout=5).is_success
    return False


def send(served: Served, head: bytes, size: int, *, chunked: bool = False) -> tuple[int, int]:
    """Send a head and up to `size` bytes of body; the status answered (0: none) and the bytes that were taken.

    Stops where the server answers or closes the connection, as a careful client does.
    """
    taken = 0
    with served.connect() as link:
        with contextlib.suppress(ConnectionError):
            link.sendall(head)
            while taken < size and not select.select([link], [], [], 0)[0]:
                piece = CHUNK[: size - taken]
                link.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
                taken += len(piece)
            if chunked and taken == size:
                link.sendall(b"0\r\n\r\n")
        return status_of(link), taken


def status_of(link: socket.socket) -> int:
    """The status of the answer on a connection; 0: it was closed without one."""
    with contextlib.suppress(ConnectionError):
        line = link.recv(65536)
        return int(line.split(b" ", 2)[1]) if line else 0
    return 0


def head(method: str, path: str, *, key: str | None = None, size: int | None = None, more: str = "") -> bytes:
    """The head of a request; without a size its body comes in chunks."""
    length = "Transfer-Encoding: chunked" if size is None else f"Content-Length: {size}"
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{authorization}{length}\r\n{more}\r\n"
    ).encode()


@dataclass
class Pulse:
    """How long `GET /healthz` takes, asked again and again from a thread of its own, seconds."""

    url: str
    idle: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def beat(self, over: threading.Event, times: list[float]) -> None:
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while not over.is_set() or len(times) < BEATS:
                began = time.perf_counter()
                client.get("/healthz").raise_for_status()
                times.append(time.perf_counter() - began)
                time.sleep(0.02)

    def is_quick(self, least: float = 0.1) -> bool:
        """Whether 95 of 100 answers took less than `least`, or on a busy machine than ten times what they took alone.

        `least` is in seconds.
        """
        idle, beside = (statistics.quantiles(of, n=20, method="inclusive")[-1] for of in (self.idle, self.times))
        return beside < max(least, 10 * idle)


@contextlib.contextmanager
def pulse(served: Served) -> Iterator[Pulse]:
    """Measure `/healthz` for as long as the block runs."""
    over, measured = threading.Event(), Pulse(served.url)
    alone = threading.Event()
    alone.set()
    measured.beat(alone, measured.idle)
    thread = threading.Thread(target=measured.beat, args=(over, measured.times))
    thread.start()
    try:
        yield measured
    finally:
        over.set()
        thread.join()

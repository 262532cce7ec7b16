"""Floods of another tenant, one after the other, and what each does to the searches of a quiet tenant.

    python -m bench.floods [--only NAME …] [--seconds 6]

To reach: p50 beside each flood at most 5 × p50 before it. The quiet tenant searches every 0.15 s. The other's requests
are prepared and sent over plain sockets by a process of its own, because it shares the cores with the service.
"""

from __future__ import annotations

import argparse
import http.client
import io
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx

from bench import arguments
from bench.fairness import CITIES, client_of, message
from bench.stand import Stand, stack

PAUSE_SECONDS: Final = 0.15
BEFORE: Final = 20
"""Searches before a flood."""

CALM_SECONDS: Final = 45.0
"""Longest wait for the quiet tenant's searches to be fast again after a flood."""

CALM: Final = 1.3
"""Quotient of a p50 and the lowest one so far up to which searches are as fast as usual."""

LARGE: Final = "word " * 48_000
"""A text of 240 kB, nearly the most that an event may have."""


@dataclass(frozen=True, slots=True)
class Target:
    """Address that the flooding tenant sends to, and its key."""

    host: str
    port: int
    key: str

    def request(self, method: str, path: str, body: bytes = b"", kind: str = "application/json", **more: str) -> bytes:
        """Return a request as it goes over the wire."""
        headers = {"Host": self.host, "Authorization": f"Bearer {self.key}", "Content-Type": kind, **more}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body

    def json(self, method: str, path: str, body: object) -> bytes:
        return self.request(method, path, json.dumps(body).encode())

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=60)


SENT: Final = threading.Event()
"""Set in the process of a flood when its first request, or all of its connections, are on the way."""

Attack = Callable[[Target, threading.Event], None]
"""Attack of one client until the event is set."""

NUMBER: Final = "0000000"
"""Seven digits of a request that are others each time, so that no answer to it is cached."""

NUMBERS: Final = itertools.count(1_000_000)


def repeat(make: Callable[[Target], bytes]) -> Attack:
    """Send a request again and again, each time as soon as the answer to the one before has been read."""

    def attack(target: Target, over: threading.Event) -> None:
        head, number, rest = make(target).partition(NUMBER.encode())
        while not over.is_set():
            with suppress(OSError), target.connect() as line:
                while not over.is_set():
                    SENT.set()  # Before it is sent: what is too large is refused while it is.
                    line.sendall(head + (b"%07d" % next(NUMBERS) if number else b"") + rest)
                    if not read_answer(line):
                        break

    return attack


def read_answer(line: socket.socket) -> bool:
    """Read an answer; False: the connection ends."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = line.recv(65_536)
        if not part:
            return False
        data += part
    head, _, rest = data.partition(b"\r\n\r\n")
    names = dict(header.lower().split(b": ", 1) for header in head.split(b"\r\n")[1:])
    left = int(names.get(b"content-length", 0)) - len(rest)
    while left > 0:
        left -= len(line.recv(65_536)) or left
    if head[9:12] in {b"429", b"503"}:
        time.sleep(0.05)
    return names.get(b"connection") != b"close" and b"content-length" in names


def _connections(target: Target, path: str, count: int) -> list[socket.socket]:
    """Open connections that each send a request; those that are refused are left out."""
    lines = []
    for _ in range(count):
        with suppress(OSError):
            line = target.connect()
            line.sendall(target.request("GET", path))
            lines.append(line)
    return lines


def unread(path: str, count: int) -> Attack:
    """Open streams that nobody reads."""

    def attack(target: Target, over: threading.Event) -> None:
        lines = _connections(target, path, count)
        SENT.set()
        over.wait()
        for line in lines:
            line.close()

    return attack


def streams(path: str, count: int) -> Attack:
    """Read many streams from the beginning of the log."""

    def attack(target: Target, over: threading.Event) -> None:
        lines = _connections(target, path, count)
        for line in lines:
            line.settimeout(0.001)
        SENT.set()
        while not over.wait(0.01):
            for line in lines:
                with suppress(OSError):
                    line.recv(1 << 20)

    return attack


def slow(target: Target, over: threading.Event) -> None:
    """Keep requests open by sending a byte a second."""
    lines = [target.connect() for _ in range(200)]
    begun = target.request("POST", "/v1/events", b" " * 10_000)[:-9_990]
    for line in lines:
        line.sendall(begun)
    SENT.set()
    while not over.wait(1):
        for line in lines:
            with suppress(OSError):
                line.sendall(b" ")


def _events(count: int, text: str) -> Callable[[Target], bytes]:
    event = {"event_type": "flood.came", "source": "bench", "payload": {"text": text}}
    return lambda target: target.json("POST", "/v1/events", [event] * count)


def _messages(target: Target) -> bytes:
    return target.json("POST", "/v1/events", [message(f"s{n}", "mallory", n) for n in range(200)])


def _search(query: str, **more: object) -> Callable[[Target], bytes]:
    return lambda target: target.json("POST", "/v1/search", {"user_id": "mallory", "query": query, **more})


def _context(target: Target) -> bytes:
    return target.json("POST", "/v1/context", {"user_id": "mallory", "query": f"tea {NUMBER}", "max_tokens": 8_000})


def _get(path: str) -> Callable[[Target], bytes]:
    return lambda target: target.request("GET", path)


def _archive(target: Target) -> bytes:
    lines = (
        json.dumps({"role": "user", "content": f"I live in Porto and my locker has the number {number}."}) + "\n"
        for number in range(700_000)
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("messages.jsonl", "".join(lines))
    path = "/v1/import?user_id=mallory&dry_run=true"
    return target.request("POST", path, packed.getvalue(), "application/octet-stream")


def _deep(target: Target) -> bytes:
    return target.request("POST", "/v1/search", b'{"query":' + b"[" * 3_000 + b"]" * 3_000 + b"}")


def _mem0(target: Target) -> bytes:
    filters: Any = {"user_id": "mallory"}
    for _ in range(60):
        filters = {"AND": [filters]}
    return target.json("POST", "/compat/mem0/v3/memories/search/", {"query": "tea", "filters": filters})


def _backtest(target: Target) -> bytes:
    rule = {"name": "r", "event_type": "*", "actions": [{"action_type": "run_agent", "target": "memory_extractor"}]}
    return target.json("POST", "/v1/rules/backtest", {"rule": rule})


def _wildcard(target: Target) -> bytes:
    return target.request("GET", f"/v1/stream?after=0&follow=false&types={'*a' * 7}*b")


def _trial(target: Target) -> bytes:
    rule = {
        "name": "r",
        "event_type": "*a" * 6 + "*b",
        "actions": [{"action_type": "run_agent", "target": "memory_extractor"}],
    }
    event = {"event_type": "a" * 63, "source": "bench", "payload": {}}
    return target.json("POST", "/v1/rules/test", {"rule": rule, "event": event})


def _page(target: Target) -> bytes:
    """Return the page of the memory whose wordings are long and many; the login is in the environment."""
    cookie, memory = os.environ["BENCH_COOKIE"], os.environ["BENCH_MEMORY"]
    return target.request("GET", f"/console/memories/{memory}", Cookie=cookie)


@dataclass(frozen=True, slots=True)
class Flood:
    """A flood: what each of some clients does."""

    attack: Attack
    clients: int


FLOODS: Final[dict[str, Flood]] = {
    "events, 9 MB a request": Flood(repeat(_events(1_000, "x" * 9_000)), 6),
    "events, 5 MB a request": Flood(repeat(_events(1_000, "x" * 5_000)), 6),
    "events, 1,000 small ones a request": Flood(repeat(_events(1_000, "x")), 4),
    "messages, 200 a request": Flood(repeat(_messages), 2),
    "49,000 values": Flood(repeat(_search("tea", tags=["a"] * 49_000)), 12),
    "search of 9 kB": Flood(repeat(_search(NUMBER + "".join(f" w{n:05x}" for n in range(1_300)))), 12),
    "JSON 3,000 deep": Flood(repeat(_deep), 12),
    "LIKE with 100 wildcards": Flood(repeat(_get("/v1/events?limit=500&type=" + quote("*a" * 100))), 12),
    "mem0 filters nested 60": Flood(repeat(_mem0), 12),
    "activity of all years": Flood(
        repeat(_get("/v1/rules/activity?buckets=200&from=1900-01-01T00:00:00Z&to=2999-12-01T00:00:00Z")), 12
    ),
    "backtests": Flood(repeat(_backtest), 12),
    "exports": Flood(repeat(_get("/v1/users/mallory/export")), 12),
    "contexts": Flood(repeat(_context), 12),
    "pages of large events": Flood(repeat(_get("/v1/events?limit=500")), 6),
    "400 streams from the beginning": Flood(streams("/v1/stream?after=0", 100), 4),
    "100 unread streams": Flood(unread("/v1/stream?after=0", 100), 1),
    "slow requests": Flood(slow, 1),
    "half-open connections": Flood(unread("", 800), 3),
    "unknown keys": Flood(lambda to, over: repeat(_get("/v1/events"))(Target(to.host, to.port, f"{to.key}x"), over), 8),
    "wildcards of a stream": Flood(repeat(_wildcard), 3),
    "wildcards of a draft rule": Flood(repeat(_trial), 1),
    "import of 60 MB from 4 MB": Flood(repeat(_archive), 4),
    "page of a memory with 60 long wordings": Flood(repeat(_page), 3),
}


class Quiet:
    """The quiet tenant: a question every 0.15 s."""

    def __init__(self, stand: Stand, key: str) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", urlsplit(stand.url).port or 80, timeout=120)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._number = 0

    def search(self) -> float:
        """Milliseconds of one search, after the pause before it."""
        time.sleep(PAUSE_SECONDS)
        self._number += 1
        body = {"user_id": "ada", "query": f"Who lives in {CITIES[self._number % len(CITIES)]}?"}
        began = time.perf_counter()
        self._line.request("POST", "/v1/search", json.dumps(body), self._headers)
        answer = self._line.getresponse()
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"the quiet tenant was refused: {answer.status}")
        return (time.perf_counter() - began) * 1000

    def during(self, seconds: float) -> list[float]:
        self._line.close()  # The server has closed it while the flood was prepared; a request opens it again.
        end = time.monotonic() + seconds
        times = [self.search()]
        while time.monotonic() < end:
            times.append(self.search())
        return times


def plant(quiet: httpx.Client, noisy: httpx.Client) -> dict[str, str]:
    """Store what both tenants need; return the login and the memory of the flooding one's pages."""
    quiet.post("/v1/events", json=_conversation("q", "ada", 100)).raise_for_status()
    noisy.post("/v1/events", json=_conversation("m", "mallory", 300)).raise_for_status()
    large = {"event_type": "a" * 60 + ".came", "source": "bench", "payload": {"text": LARGE}}
    for _ in range(20):
        noisy.post("/v1/events", json=[large] * 15).raise_for_status()
    made = noisy.post("/v1/memories", json={"user_id": "mallory", "content": "a " * 400}).raise_for_status().json()
    name = made.get("id") or made["memory"]["id"]
    for number in range(60):
        content = ("b a " if number % 2 else "a b ") * 245 + str(number)
        version = noisy.get(f"/v1/memories/{name}").raise_for_status().json()["version"]
        noisy.patch(f"/v1/memories/{name}", json={"content": content, "version": version}).raise_for_status()
    _settle(quiet)
    _settle(noisy)
    key = noisy.headers["authorization"].removeprefix("Bearer ")
    login = httpx.post(f"{noisy.base_url}/console/login", data={"key": key}, headers={"origin": str(noisy.base_url)})
    return {"BENCH_MEMORY": name, "BENCH_COOKIE": login.headers.get("set-cookie", "").partition(";")[0]}


def _conversation(session: str, user: str, count: int) -> list[dict[str, object]]:
    """Return messages of one session, none of which is read before its end."""
    about: dict[str, object] = {"session_id": session, "user_id": user}
    ended: dict[str, object] = {"event_type": "session.ended", "source": "bench", "payload": about}
    contents = (
        f"I moved to {CITIES[number % len(CITIES)]}, and my locker is number {number}." for number in range(count)
    )
    messages: list[dict[str, object]] = [
        {"event_type": "message.added", "source": "bench", "payload": {**about, "role": "user", "content": content}}
        for content in contents
    ]
    return [*messages, ended]


def _settle(client: httpx.Client) -> None:
    """Wait until the work on what a tenant has sent has ended: it would slow the searches before a flood, too."""
    last = message("s", "nobody", 0)
    token = client.post("/v1/events", json=last).raise_for_status().json()["settle_token"]
    while not client.get(f"/v1/settle?token={token}&timeout=20&flush=true").raise_for_status().json()["settled"]:
        pass


@contextmanager
def attacked(name: str, stand: Stand, key: str, login: dict[str, str]) -> Iterator[None]:
    """Let the flood run in a process of its own for as long as the block lasts."""
    command = [sys.executable, "-m", "bench.floods", "--attack", name, "--url", stand.url]
    environment = {**os.environ, **login, "BENCH_KEY": key}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None or process.stdout.readline() != "sent\n":
            raise SystemExit(f"the flood {name} did not begin")
        yield
    finally:
        process.kill()
        process.wait()


def attack(name: str, url: str) -> None:
    """Carry out a flood until the process is killed."""
    parts, over = urlsplit(url), threading.Event()
    target = Target(parts.hostname or "", parts.port or 80, os.environ["BENCH_KEY"])
    flood = FLOODS[name]
    clients = [threading.Thread(target=flood.attack, args=(target, over)) for _ in range(flood.clients)]
    for client in clients:
        client.start()
    SENT.wait()
    print("sent", flush=True)
    for client in clients:
        client.join()


def memory_mib(stand: Stand) -> int:
    """Resident memory of the API's processes."""
    pid = int((stand.home / "run" / "api.pid").read_text().split()[0])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(_resident(process) for process in (str(pid), *children)) // 1024


def _resident(pid: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def run(names: Sequence[str], seconds: float) -> None:
    """Print a line for each flood."""
    print(f"\n{'flood of another tenant':<42}{'before':>9}{'during':>9}{'ratio':>8}{'max':>9}{'API MiB':>14}  load")
    with stack() as stand, client_of(stand, "quiet") as quiet, client_of(stand, "noisy") as noisy:
        login = plant(quiet, noisy)
        keys = [client.headers["authorization"].removeprefix("Bearer ") for client in (quiet, noisy)]
        searcher = Quiet(stand, keys[0])
        calm = _calm(searcher, float("inf"))
        for name in names:
            calm = min(calm, before := _calm(searcher, calm))
            held = memory_mib(stand)
            with attacked(name, stand, keys[1], login):
                time.sleep(1)
                during = searcher.during(seconds)
                held_then = memory_mib(stand)
            p50 = statistics.median(during)
            load = os.getloadavg()[0]
            figures = f"{before:>9.1f}{p50:>9.1f}{p50 / before:>8.1f}{max(during):>9.0f}{held:>7} →{held_then:>5}"
            print(f"{name:<42}{figures}  {load:.1f}", flush=True)


def _calm(searcher: Quiet, usual: float) -> float:
    """Wait until searches take about as long as usual; return their p50."""
    end = time.monotonic() + CALM_SECONDS
    while True:
        p50 = statistics.median(searcher.search() for _ in range(BEFORE))
        if p50 < CALM * usual or time.monotonic() > end:
            return p50


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--only", nargs="*", choices=FLOODS, default=list(FLOODS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--attack", choices=FLOODS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        attack(given.attack, given.url)
    else:
        run(given.only, given.seconds)


if __name__ == "__main__":
    main()

"""Another service, which receives webhooks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from tests.ports import POLL_SECONDS


@dataclass
class Got:
    """One request, as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Other:
    """Another service: what it got, and how it answers; `answers` are taken one by one, then it is 200."""

    url: str
    got: list[Got] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    slow: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    other: Other


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        other = cast(_Server, self.server).other
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value.encode("latin-1").decode() for name, value in self.headers.items()}
        other.got.append(Got(self.path, headers, body))
        status, more, said = other.answers.pop(0) if other.answers else (200, {}, b"ok")
        if status == 0:
            other.slow.wait(20)
            return
        self.send_response(status)
        for name, value in {**more, "content-length": str(len(said))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def receiving() -> Iterator[Other]:
    """Another service that listens."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.other = Other(f"http://127.0.0.1:{server.server_port}/hook")
    threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
    try:
        yield server.other
    finally:
        server.other.slow.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def other() -> Iterator[Other]:
    with receiving() as service:
        yield service

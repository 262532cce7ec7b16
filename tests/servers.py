"""HTTP servers of tests, in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.ports import POLL_SECONDS


class Handler(BaseHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def body(self) -> Any:
        """The JSON that was sent."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON, or with the type that `headers` name."""
        self.send_response(status)
        own = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        for name, value in (own | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a free loopback port, with a thread for each request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

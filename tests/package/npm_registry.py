"""An npm registry in memory: what the real client of npm publishes is what it installs."""

from __future__ import annotations

import base64
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote


class NpmRegistry(http.server.ThreadingHTTPServer):
    """Packages by name, and tarballs by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.packages: dict[str, dict[str, Any]] = {}
        self.tarballs: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


@contextmanager
def npm_registry() -> Iterator[NpmRegistry]:
    with NpmRegistry() as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        yield registry
        registry.shutdown()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: NpmRegistry

    def do_PUT(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for name, attachment in document.pop("_attachments").items():
            self.server.tarballs[f"/tarballs/{name}"] = base64.b64decode(attachment["data"])
        for version in document["versions"].values():
            name = version["dist"]["tarball"].rpartition("/")[2]
            version["dist"]["tarball"] = f"{self.server.url}tarballs/{name}"
        self.server.packages[unquote(self.path).strip("/")] = document
        self._answer(b"{}")

    def do_GET(self) -> None:
        if self.path in self.server.tarballs:
            self._answer(self.server.tarballs[self.path])
        elif (document := self.server.packages.get(unquote(self.path).strip("/"))) is not None:
            self._answer(json.dumps(document).encode())
        else:
            self.send_error(404)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass

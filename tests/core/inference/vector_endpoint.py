"""An endpoint of embeddings over real HTTP, which answers as the test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.inference.embedders import HashEmbedder
from core.inference.openai_embedder import OpenAIEmbedder
from tests.ports import POLL_SECONDS

Answer = tuple[int, dict[str, str], Any]


@contextmanager
def endpoint(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks HTTP; yields its address and the bodies it was sent."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            status, headers, value = answer(body)
            raw = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, text in {**headers, "Content-Type": "application/json", "Content-Length": str(len(raw))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vectors(body: dict[str, Any], dimension: int = 3) -> Answer:
    """Vectors that tell their text's length, in reverse order, not of length 1."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text))] + [2.0] * (dimension - 1)}
        for at, text in enumerate(body["input"])
    ]
    return (
        200,
        {},
        {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}},
    )


BROKEN: list[Any] = [[1.0], [float("nan")] * HashEmbedder().dimension, None]
"""Vectors that cannot be stored: too short, no numbers, none at all."""


@contextmanager
def breaking(vector: object, *texts: str) -> Iterator[OpenAIEmbedder]:
    """An embedder with an endpoint that answers this vector for these texts, and sound ones for all others."""
    inner = HashEmbedder()

    def answer(body: dict[str, Any]) -> Answer:
        made = [vector if text in texts else inner.embed([text])[0].tolist() for text in body["input"]]
        return 200, {}, {"object": "list", "data": [{"index": n, "embedding": one} for n, one in enumerate(made)]}

    with endpoint(answer) as (url, _):
        yield OpenAIEmbedder(url, "", inner.name, inner.dimension)

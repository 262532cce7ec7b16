"""An OpenAI-compatible server over real HTTP that answers as a test says: well, slowly, with garbage, with 429."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RETRY_AFTER_SECONDS = 2


class Model:
    """What the server answers next, and what it was asked when; `script` is used up, then it answers well.

    Of pairs of statements it says `word`, by a script and with questions of their own.
    """

    def __init__(self) -> None:
        self.script: list[str] = []
        self.asked: list[tuple[float, str]] = []
        self.word = "different"
        self.script_of_pairs: list[str] = []
        self.pairs: list[dict[str, Any]] = []
        self.slow_seconds = 60.0
        self.url = ""

    def next(self, asked: dict[str, Any]) -> str:
        if is_of_pairs(asked):
            self.pairs += pairs_of(asked)
            return self.script_of_pairs.pop(0) if self.script_of_pairs else "well"
        how = self.script.pop(0) if self.script else "well"
        self.asked.append((time.monotonic(), how))
        return how


@contextmanager
def serving() -> Iterator[Model]:
    """A model on a free loopback port."""
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            how = model.next(asked)
            if how == "429":
                self._answer(429, {"error": {"message": "slow down"}}, {"Retry-After": str(RETRY_AFTER_SECONDS)})
                return
            if how == "page":
                self._answer(200, "<html>Please log in.</html>", {"Content-Type": "text/html"})
                return
            if how == "slow":
                time.sleep(model.slow_seconds)
            answer = opinions(asked, model.word) if is_of_pairs(asked) else memories(asked)
            content = "I would rather write a poem." if how == "garbage" else json.dumps(answer)
            try:
                self._answer(200, completion(content), {})
            except BrokenPipeError:
                return  # Who asked was killed meanwhile; that is the point of the test.

        def _answer(self, status: int, body: object, headers: dict[str, str]) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_of_pairs(asked: dict[str, Any]) -> bool:
    """Whether it is a question about pairs of statements, and not about messages."""
    return bool(asked["response_format"]["json_schema"]["name"] == "opinions")


def pairs_of(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The pairs that are put before the model."""
    return [json.loads(line) for line in asked["messages"][1]["content"].splitlines()]


def opinions(asked: dict[str, Any], word: str) -> dict[str, Any]:
    """The same of every pair."""
    return {"opinions": [{"pair": pair["pair"], "verdict": word} for pair in pairs_of(asked)]}


def memories(asked: dict[str, Any]) -> dict[str, Any]:
    """One memory for each message of the window that names an umbrella, citing it."""
    transcript = asked["messages"][1]["content"]
    found = re.findall(r"^\[([^\]]+)\].*?umbrella (\w+)", transcript, re.MULTILINE)
    return {"memories": [memory(message_id, umbrella) for message_id, umbrella in found]}


def memory(message_id: str, umbrella: str) -> dict[str, Any]:
    return {
        "content": f"Ada's umbrella {umbrella} is in the drawer.",
        "kind": "semantic",
        "category": "fact",
        "topic": "other",
        "subject": "Ada",
        "attribute": None,
        "value": None,
        "importance": 0.5,
        "confidence": 0.9,
        "occurred_at": None,
        "corrects": False,
        "message_ids": [message_id],
    }


def completion(content: str) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }

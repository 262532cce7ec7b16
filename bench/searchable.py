"""From publish to found: one `message.added` over HTTP until `POST /v1/search` cites it, on an idle stack.

    python -m bench.searchable

To reach: p95 <= 40 ms. Each round publishes one message with a word of its own and asks for that word until it is
found; the time runs from before the publish to after the answer that cites it. Its client is a socket and one parse.
"""

from __future__ import annotations

import json
import time
import uuid
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from bench import arguments
from bench.stand import Stand, percentiles, show, stack

ROUNDS = 60
GIVE_UP_SECONDS = 10


def run() -> dict[str, float]:
    """Milliseconds, for searches by words and vectors together, after a warm-up that loads the model."""
    with stack() as stand:
        client = HTTPConnection(urlsplit(stand.url).netloc)
        _round(stand, client)
        took = [_round(stand, client) for _ in range(ROUNDS)]
        client.close()
    figures = percentiles(took)
    return {f"publish to found, ms, {name}": value for name, value in figures.items()}


def _round(stand: Stand, client: HTTPConnection) -> float:
    code, session = uuid.uuid4().hex, uuid.uuid4().hex
    payload = {
        "session_id": session,
        "user_id": "bench",
        "role": "user",
        "content": f"The code of the locker is {code}.",
    }
    began = time.perf_counter()
    _post(stand, client, "/v1/events", {"event_type": "message.added", "source": "bench", "payload": payload})
    while time.perf_counter() - began < GIVE_UP_SECONDS:
        request = {"user_id": "bench", "query": f"locker code {code}", "limit": 3}
        answer = _post(stand, client, "/v1/search", request)
        if any(s["session_id"] == session for r in answer["results"] for s in r["sources"]):
            return (time.perf_counter() - began) * 1000
    raise SystemExit(f"{code} was not found within {GIVE_UP_SECONDS} s")


def _post(stand: Stand, client: HTTPConnection, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {stand.key}", "Content-Type": "application/json"}
    client.request("POST", path, json.dumps(body), headers)
    answer = client.getresponse()
    content = answer.read()
    assert answer.status in {200, 202}, content
    return json.loads(content)


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()

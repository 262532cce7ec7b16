"""Hooks: a prompt of a coding agent is recorded and answered, for a user of 10,000 memories on an idle stack.

    python -m bench.hooks [--known 10000]

To reach: p95 below 300 ms. The floor is `POST /v1/search` for the same question. Both include the question's embedding.
"""

from __future__ import annotations

import statistics
import time

import httpx

from bench import arguments
from bench.stand import Stand, show, stack
from bench.write import WHO, statement

BATCH = 200
ROUNDS = 100
WARM = 10
"""Prompts before the clock runs."""

PAUSE_SECONDS = 0.3
"""Between two prompts: nobody types faster, and what follows from one is done."""


def run(count: int) -> dict[str, float]:
    """Milliseconds of the hook and of the search, in turn."""
    with stack() as stand, httpx.Client(base_url=stand.url, headers=_headers(stand), timeout=120) as client:
        for first in range(0, count, BATCH):
            memories = [{"user_id": "ada", "content": statement(n)} for n in range(first, min(first + BATCH, count))]
            client.post("/v1/memories/batch", json={"memories": memories}).raise_for_status()
        token = client.post("/v1/events", json=_prompted()).json()["settle_token"]
        client.get("/v1/settle", params={"token": token, "timeout": 60, "flush": True})
        floor, hook = [], []
        for number in range(ROUNDS + WARM):
            question = f"What has Ada to do with {WHO[number % len(WHO)]} and {statement(number * 37)[4:40]}?"
            floor.append(_milliseconds(client, "/v1/search", {"user_id": "ada", "query": question}))
            time.sleep(PAUSE_SECONDS)
            payload = {"session_id": "bench", "hook_event_name": "UserPromptSubmit", "prompt": question}
            hook.append(_milliseconds(client, "/v1/hooks/claude-code?user_id=ada&project=", payload))
            time.sleep(PAUSE_SECONDS)
        stored = float(count)
    return {
        "memories": stored,
        "floor: search p50, ms": statistics.median(floor[WARM:]),
        "hook p50, ms": statistics.median(hook[WARM:]),
        "hook p95, ms (to reach: 300)": statistics.quantiles(hook[WARM:], n=20)[-1],
    }


def _headers(stand: Stand) -> dict[str, str]:
    return {"Authorization": f"Bearer {stand.key}"}


def _prompted() -> dict[str, object]:
    payload = {"session_id": "warm", "user_id": "ada", "role": "user", "content": "Hello."}
    return {"event_type": "message.added", "source": "bench", "payload": payload}


def _milliseconds(client: httpx.Client, path: str, body: object) -> float:
    began = time.perf_counter()
    answer = client.post(path, json=body).raise_for_status()
    if not answer.content:
        raise AssertionError(f"{path} answered nothing.")
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--known", type=int, default=10_000)
    show(__doc__, run(parser.parse_args().known))


if __name__ == "__main__":
    main()

"""The parts of `imprint bench`: each asks the service over HTTP for a while, and counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, get_args
from uuid import uuid4

from api.cli.client import Client, Refused, patiently
from core.types import Json

Part = Literal["accept", "searchable", "search", "context", "hook", "stream"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)

USER: Final = "bench"
MESSAGES: Final = 1_000
"""Messages that are searched."""

BATCH: Final = 200
"""Events of one request."""

PROMPTS_SECONDS: Final = 0.1
"""Pause between prompts of the hook: nobody types faster."""

WARM: Final = 3
"""Requests before the clock runs."""

PEOPLE: Final = ("Ida", "Lena", "Tom", "Bruno", "Mia", "Jonas", "Nora", "Robin")
THINGS: Final = ("the piano", "a red bicycle", "the harbour office", "Portuguese", "a garden", "the night train")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value."""

    part: Part
    name: str
    value: float
    unit: str


def prepare(client: Client) -> int:
    """Publish the messages that are searched, and wait until they are found; return how many."""
    for start in range(0, MESSAGES, BATCH):
        client.post("/v1/events", [_message(n) for n in range(start, start + BATCH)])
    _wait_until_found(client, MESSAGES - 1)
    return MESSAGES


def run(part: Part, client: Client, seconds: float) -> list[Figure]:
    """Measure one part for some seconds."""
    return _RUN[part](client, seconds)


def _accept(client: Client, seconds: float) -> list[Figure]:
    numbers = count(MESSAGES)

    def send() -> None:
        client.post("/v1/events", [_message(next(numbers), session="load") for _ in range(BATCH)])

    took = _timed(send, seconds)
    return [
        Figure("accept", f"requests of {BATCH} messages", BATCH * len(took) / sum(took), "events/s"),
        *_latency("accept", took),
    ]


def _searchable(client: Client, seconds: float) -> list[Figure]:
    numbers = count(10_000_000)

    def tell() -> None:
        number = next(numbers)
        client.post("/v1/events", _message(number, session="fresh"))
        _wait_until_found(client, number)

    return _latency("searchable", _timed(tell, seconds), "from sending to found")


def _search(client: Client, seconds: float) -> list[Figure]:
    questions = _questions()
    return _latency("search", _timed(lambda: _find(client, next(questions)), seconds))


def _context(client: Client, seconds: float) -> list[Figure]:
    questions = _questions()

    def build() -> None:
        request = {"user_id": USER, "session_id": "past", "query": next(questions), "max_tokens": 2_000}
        client.post("/v1/context", request)

    return _latency("context", _timed(build, seconds))


def _hook(client: Client, seconds: float) -> list[Figure]:
    questions = _questions()

    def prompt() -> None:
        request = {"session_id": "hook", "hook_event_name": "UserPromptSubmit", "prompt": next(questions)}
        client.post_text("/v1/hooks/claude-code", request, user_id=USER, project="")

    return _latency("hook", _timed(prompt, seconds, pause=PROMPTS_SECONDS))


def _stream(client: Client, seconds: float) -> list[Figure]:
    """Read the log from its start as often as time allows."""
    seen, began = 0, time.perf_counter()
    while (took := time.perf_counter() - began) < seconds:
        seen += sum(event is not None for _, event in client.stream("/v1/stream", after="0", follow=False))
    return [Figure("stream", "read from the start", seen / took, "events/s")]


_RUN: Final[dict[Part, Callable[[Client, float], list[Figure]]]] = {
    "accept": _accept,
    "searchable": _searchable,
    "search": _search,
    "context": _context,
    "hook": _hook,
    "stream": _stream,
}


def _timed(work: Callable[[], object], seconds: float, pause: float = 0) -> list[float]:
    """Return the seconds of each call, with what a busy server has it wait; the first calls do not count."""
    for _ in range(WARM):
        work()
    took: list[float] = []
    end = time.perf_counter() + seconds
    while not took or time.perf_counter() < end:
        began = time.perf_counter()
        patiently(work)
        took.append(time.perf_counter() - began)
        time.sleep(pause)
    return took


def _latency(part: Part, took: Sequence[float], name: str = "") -> list[Figure]:
    """Return median and 95th percentile in milliseconds, and of how many calls."""
    prefix = f"{name}, " if name else ""
    p95 = statistics.quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
    return [
        Figure(part, f"{prefix}p50 of {len(took)}", statistics.median(took) * 1000, "ms"),
        Figure(part, f"{prefix}p95 of {len(took)}", p95 * 1000, "ms"),
    ]


def _wait_until_found(client: Client, number: int) -> None:
    query = f"note{number}"
    end = time.monotonic() + 30
    while not any(query in memory["content"] for memory in _find(client, query)):
        if time.monotonic() > end:
            raise Refused(f"A message was not found within 30 s: see `imprint doctor` and the logs of {client.url}.")


def _find(client: Client, query: str) -> list[Json]:
    answer = client.post("/v1/search", {"user_id": USER, "query": query, "include": ["messages"]})
    results: list[Json] = answer["results"]
    return results


def _questions() -> Iterator[str]:
    for number in count():
        yield f"What did {PEOPLE[number % len(PEOPLE)]} say of {THINGS[number % len(THINGS)]}?"


def _message(number: int, session: str = "past") -> Json:
    who, what = PEOPLE[number % len(PEOPLE)], THINGS[number // len(PEOPLE) % len(THINGS)]
    payload = {
        "session_id": session,
        "user_id": USER,
        "role": "user",
        "content": f"{who} talked about {what} on day {number % 365}, note{number}.",
    }
    return {"id": str(uuid4()), "event_type": "message.added", "source": "imprint-bench", "payload": payload}

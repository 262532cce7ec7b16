"""Searches while events come and workers extract: their p95 beside that of an idle stack.

    python -m bench.busy [--rate 1000] [--seconds 20] [--warm 40] [--locomo ../shared/data/locomo_dev.json]

One client asks about a user with the messages of a conversation, first of an idle stack, then while messages of other
users come at a steady rate, `rate` events/s in sessions that end after each batch, and the default rules extract from
them. The question's vector is cached. To reach: a p95 below twice the idle one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

from bench import arguments
from bench.peers_talks import Talk, talks
from bench.search_clients import Client
from bench.stand import Stand, percentiles, show, stack
from core.types import Json

BATCH = 100
"""Events of one request; the last one ends their session."""

WARM_SECONDS = 40
"""Seconds of events and searches before the clock runs: until workers have their models, and statements their plans."""

QUESTIONS = 20
USER = "asked"


def run(talk: Talk, rate: int, seconds: float, warm: float) -> dict[str, float]:
    """Milliseconds of searches, idle and busy, and the rate at which events were accepted."""
    with stack() as stand:
        _fill(stand, talk)
        client = Client(stand)
        _ask(client, talk, seconds / 4)
        idle = percentiles(_ask(client, talk, seconds))
        with _pouring(stand, talk, rate) as pouring:
            _ask(client, talk, warm)
            busy = percentiles(_ask(client, talk, seconds))
            pouring.send("enough")
            poured, took = pouring.recv()
        client.close()
    return {
        "events accepted a second": poured / took,
        "idle: p50, ms": idle["p50"],
        "idle: p95, ms": idle["p95"],
        "busy: p50, ms": busy["p50"],
        "busy: p95, ms": busy["p95"],
        "p95, busy to idle (2)": busy["p95"] / idle["p95"],
    }


def _ask(client: Client, talk: Talk, seconds: float) -> list[float]:
    """Milliseconds of one question after the other."""
    took: list[float] = []
    ends = time.monotonic() + seconds
    for question in itertools.cycle(talk.questions[:QUESTIONS]):
        if time.monotonic() > ends:
            break
        began = time.perf_counter()
        client.ask(USER, question.text)
        took.append(1000 * (time.perf_counter() - began))
    return took


def _fill(stand: Stand, talk: Talk) -> None:
    events = [_event(USER, "talk", turn) for turn in talk.turns]
    token = stand.call("POST", "/v1/events", events)["settle_token"]
    stand.settle(token, flush=True)


@contextmanager
def _pouring(stand: Stand, talk: Talk, rate: int) -> Iterator[Connection]:
    """Publish at a steady rate from another process, whose interpreter keeps no answer waiting.

    The connection ends that when something is sent to it, and then receives the events and the seconds.
    """
    own, others = Pipe()
    process = get_context("spawn").Process(target=_pour, args=(stand.url, stand.key, talk.turns, rate, others))
    process.start()
    others.close()  # Its own end alone is open, so that `recv` fails where the process does.
    try:
        own.recv()
        yield own
    finally:
        process.terminate()
        process.join()


def _pour(url: str, key: str, turns: Sequence[Json], rate: int, control: Connection) -> None:
    """Publish one batch after the other until something is received; then send how many events, in how many seconds."""
    several, poured, began = itertools.cycle(turns), 0, time.perf_counter()
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=90) as client:
        for number in itertools.count():
            if number == 1:
                control.send("begun")
            if control.poll():
                break
            user, session = f"u{number % 50}", f"s{number}"
            messages = [_event(user, session, next(several)) for _ in range(BATCH - 1)]
            about = {"session_id": session, "user_id": user}
            ended = {"event_type": "session.ended", "source": "bench", "payload": about}
            client.post("/v1/events", json=[*messages, ended]).raise_for_status()
            poured += BATCH
            time.sleep(max(0.0, poured / rate - (time.perf_counter() - began)))
    control.send((poured, time.perf_counter() - began))


def _event(user: str, session: str, turn: Json) -> Json:
    payload = {"session_id": session, "user_id": user, "role": "user", "content": turn["content"]}
    return {"event_type": "message.added", "source": "bench", "payload": payload}


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warm", type=float, default=WARM_SECONDS, help="seconds of events before the clock runs")
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo_dev.json"))
    options = parser.parse_args()
    show(__doc__, run(talks(options.locomo, 1, 0)[0], options.rate, options.seconds, options.warm))


if __name__ == "__main__":
    main()

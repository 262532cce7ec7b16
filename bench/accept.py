"""Accepting: `POST /v1/events` with 200 messages a request, against a bare COPY of the same rows into the same table.

    python -m bench.accept

To reach: at least 1/5 of the floor's rate. Both commit every 200 rows to the same durable database. The floor writes
the `events` table alone, past row-level security; the service parses, checks, and also projects sessions and messages.
Measured twice: with router and workers paused (accepting itself), and with everything at work on the same two cores.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import statistics
import uuid
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import psycopg

from bench import arguments
from bench.stand import Stand, show, stack, timed

ROWS = 200
ROUNDS = 20
SENTENCES = "I moved to Lisbon in May and started to work as a nurse at the harbour; it suits me well."
OTHERS = ("router", "worker-io", "worker-cpu")


def run() -> dict[str, float]:
    """Rates in events a second, and the ratio to the floor, batch by batch."""
    with stack() as stand:
        with only_api(stand):
            floor, alone = _in_turn(stand)
        _, busy = _in_turn(stand)
    ratio = statistics.median(f / s for f, s in zip(floor, alone, strict=True))
    return {
        "floor: COPY, events/s": ROWS / statistics.median(floor),
        "POST /v1/events, events/s": ROWS / statistics.median(alone),
        "ratio (to reach 0.20)": ratio,
        "the same with workers busy, events/s": ROWS / statistics.median(busy),
    }


def _in_turn(stand: Stand) -> tuple[list[float], list[float]]:
    """Seconds of each batch, floor and service in turn, so that a noisy neighbour disturbs both."""
    floor, service = [], []
    client = http.client.HTTPConnection(urlsplit(stand.url).netloc)  # a client that costs next to nothing itself
    headers = {"Authorization": f"Bearer {stand.key}", "Content-Type": "application/json"}
    with psycopg.connect(stand.admin_url) as connection:
        for _ in range(ROUNDS + 2):
            rows = [_row(event) for event in _batch()]
            floor.append(timed(lambda: _copy(connection, rows)))  # noqa: B023
            body = json.dumps(_batch()).encode()
            service.append(timed(lambda: _post(client, headers, body)))  # noqa: B023
        connection.execute("DELETE FROM events WHERE session_id LIKE 'floor-%'")
    client.close()
    return floor[2:], service[2:]


def _post(client: http.client.HTTPConnection, headers: dict[str, str], body: bytes) -> None:
    client.request("POST", "/v1/events", body, headers)
    answer = client.getresponse()
    accepted = json.loads(answer.read())
    assert accepted["accepted"] == ROWS, accepted


def _copy(connection: psycopg.Connection, rows: list[tuple[str, ...]]) -> None:
    columns = "tenant_id, id, source, event_type, subject, time, payload, session_id, user_id, correlation_id"
    with connection.cursor() as cursor, cursor.copy(f"COPY events ({columns}) FROM STDIN") as sink:
        for row in rows:
            sink.write_row(row)
    connection.commit()


def _row(event: dict[str, str | dict[str, str]]) -> tuple[str, ...]:
    payload = event["payload"]
    assert isinstance(payload, dict)
    names = ("id", "source", "event_type", "subject", "time")
    values = tuple(str(event[name]) for name in names)
    return (
        "default",
        *values,
        json.dumps(payload),
        "floor-" + payload["session_id"],
        payload["user_id"],
        str(event["id"]),
    )


def _batch() -> list[dict[str, str | dict[str, str]]]:
    session = uuid.uuid4().hex
    return [
        {
            "id": uuid.uuid4().hex,
            "event_type": "message.added",
            "source": "bench",
            "subject": f"session:{session}",
            "time": "2026-11-21T10:00:00Z",
            "payload": {"session_id": session, "user_id": session, "role": "user", "content": f"{i}. {SENTENCES}"},
        }
        for i in range(ROWS)
    ]


def only_api(stand: Stand) -> contextlib.AbstractContextManager[None]:
    """Only the API and the database run."""
    return paused(stand, OTHERS)


@contextlib.contextmanager
def paused(stand: Stand, members: Sequence[str]) -> Iterator[None]:
    """Stop these members of the stack, with the processes of their groups, while this is open."""
    pids = [int((stand.home / "run" / f"{name}.pid").read_text().split()[0]) for name in members]
    for pid in pids:
        os.killpg(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.killpg(pid, signal.SIGCONT)


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()

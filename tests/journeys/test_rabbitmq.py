"""The whole way with RabbitMQ in place of Redis: nothing else changes. Run by `make rabbitmq`, which installs it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import pytest
from kombu import Connection, Exchange, Queue

from bench.stand import Stand, stack
from core.agents import QUEUES
from tests.patience import PATIENCE_SECONDS
from tests.rabbitmq import url_of, virtual_host

pytestmark = [pytest.mark.rabbitmq]

EVENTS = Exchange("imprint.events", type="topic")


WORK = Exchange("imprint.work", type="direct")


@pytest.fixture(
    scope="module",
    params=[("classic", None), ("quorum", None), ("classic", "quorum"), ("quorum", "classic")],
    ids=["classic", "quorum", "existing quorum queues", "existing classic queues"],
)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A virtual host with a default type of queues, and in it perhaps the queues of work, of another type."""
    default, existing = request.param
    with virtual_host("--default-queue-type", default) as host:
        if existing:
            _declare(host, existing)
        yield url_of(host)


def _declare(host: str, queue_type: str) -> None:
    arguments = {"x-queue-type": queue_type}
    with Connection(url_of(host)) as connection:
        for name, exchange, key in (*((name, WORK, name) for name in QUEUES), ("imprint.events", EVENTS, "#")):
            Queue(name, exchange, routing_key=key, queue_arguments=arguments)(connection.default_channel).declare()


@pytest.fixture(scope="module")
def stand(url: str) -> Iterator[Stand]:
    with stack(embedding="hash", broker_url=url, worker_niceness="0") as running:
        yield running


def test_events_over_http_are_worked(stand: Stand) -> None:
    session = uuid.uuid4().hex
    payload = {
        "session_id": session,
        "user_id": session,
        "role": "user",
        "speaker": "Ada",
        "content": "I live in Porto.",
    }
    ended = {"session_id": session, "user_id": session, "message_count": 3}
    batch = [
        {"event_type": "message.added", "source": "t", "payload": payload},
        {"event_type": "session.ended", "source": "t", "payload": ended},
    ]
    stand.settle(stand.call("POST", "/v1/events", batch)["settle_token"])
    [memory] = stand.call("GET", f"/v1/memories?user_id={session}")["items"]
    assert (memory["attribute"], memory["value"]) == ("home.city", "Porto")


def test_events_over_the_bus_are_accepted_and_what_cannot_be_read_is_set_aside(stand: Stand, url: str) -> None:
    session = uuid.uuid4().hex
    payload = {"session_id": session, "user_id": session, "role": "user", "content": "I live in Porto."}
    event = {"event_type": "message.added", "source": "bus", "payload": payload}
    with Connection(url) as connection:
        producer = connection.Producer()
        producer.publish(event, exchange=EVENTS, routing_key="message.added", declare=[EVENTS])
        producer.publish(f"{{no {session}", exchange=EVENTS, routing_key="x", content_type="application/json")
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        dead = stand.call("GET", "/v1/dispatches?status=dead")["items"]
        events = stand.call("GET", f"/v1/events?session_id={session}")["items"]
        if events and any(session in d["params"]["body"] for d in dead):
            return
        time.sleep(0.1)
    pytest.fail(f"the bus's messages did not arrive within {PATIENCE_SECONDS} s")

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kombu import Connection, Exchange, Queue
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.stack.broker import Broker
from core.config import Settings
from core.events.doorbell import Doorbell, DoorbellListener
from core.sessions import ingest
from core.storage.db import Database
from core.types import Event, Json
from tests.conftest import Servers
from tests.doors import OTHER, key_of
from tests.factories import events_since
from tests.patience import PATIENCE_SECONDS
from tests.samples import NOON, TENANT, event, said
from workers import app as celery_app
from workers.dispatch import relay
from workers.dispatch.relay import DispatchRef
from workers.routing import bus_consumer
from workers.routing.bus_consumer import BusConsumer, Intake


@pytest.fixture
def rung() -> threading.Event:
    return threading.Event()


@pytest.fixture
def intake(app: Database, rung: threading.Event) -> Intake:
    return Intake(app, TENANT, 100, 4096, rung.set)


@pytest.fixture
def publish(servers: Servers, intake: Intake) -> Iterator[Callable[..., None]]:
    """Publishes as a stranger would, with kombu alone, to a consumer that listens."""
    consumer = BusConsumer(servers.broker_url, intake)
    wait_for_queue(servers.broker_url)
    with Connection(servers.broker_url) as connection:
        yield lambda body, **more: send(connection, body, **more)
    consumer.close()


def wait_for_queue(url: str) -> None:
    """Until the consumer has bound its queue; what is published before goes nowhere."""
    with Connection(url) as connection:
        bus_consumer.QUEUE(connection.default_channel).declare()


def send(connection: Connection, body: Json | list[Json] | bytes, **more: Any) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    exchange = Exchange("imprint.events", type="topic", durable=True)
    sent = {"content_type": "application/json", "content_encoding": "utf-8", "routing_key": "message.added", **more}
    connection.Producer().publish(raw, exchange=exchange, declare=[exchange], **sent)


def log_of(app: Database, tenant: str = TENANT) -> list[Event]:
    with app.tenant(tenant) as tx:
        return events_since(tx, 0, 1000)


def letters(app: Database, tenant: str = TENANT) -> list[Any]:
    with app.tenant(tenant) as tx:
        return list(tx.execute(text("SELECT * FROM dispatches WHERE target = 'bus' ORDER BY id")))


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end, "It did not happen."
        time.sleep(0.02)


def test_what_is_published_with_kombu_is_on_the_log(
    app: Database, publish: Callable[..., None], rung: threading.Event
) -> None:
    publish(said("I moved to Lisbon.", id="one"))
    publish([said("Hello.", id="two"), event(id="three")])
    publish({"specversion": "1.0", "id": "four", "source": "/shop", "type": "order.placed", "data": {"a": 1}})
    until(lambda: len(log_of(app)) == 4)
    assert {e.id for e in log_of(app)} == {"one", "two", "three", "four"}
    assert rung.is_set()


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_", "ce_", "ce-"])
def test_a_binary_cloudevent_has_the_headers_of_its_binding(
    app: Database, publish: Callable[..., None], prefix: str
) -> None:
    attributes = {"specversion": "1.0", "id": "c1", "source": "/bot", "type": "message.added", "time": NOON}
    headers = {f"{prefix}{name}": value for name, value in attributes.items()}
    publish({"session_id": "s1", "user_id": "ada", "role": "human", "content": ["Hi."]}, headers=headers)
    until(lambda: log_of(app))
    (accepted,) = log_of(app)
    assert (accepted.id, accepted.source, accepted.payload["role"]) == ("c1", "/bot", "user")
    assert accepted.payload["content"] == "Hi."


def test_headers_may_be_bytes_as_kafkas_or_times_as_those_of_amqp(app: Database, intake: Intake) -> None:
    moment = datetime(2026, 11, 21, 12)  # noqa: DTZ001 - as the protocol's library decodes it
    headers = {"ce_specversion": b"1.0", "ce_id": b"c1", "ce_source": b"/bot", "ce_type": b"a.b", "ce_time": moment}
    bus_consumer.BusMessage(intake, b"{}", headers, "application/json").accept()
    (accepted,) = log_of(app)
    assert (accepted.id, accepted.time) == ("c1", moment.replace(tzinfo=UTC))


def test_the_end_of_a_session_that_nobody_knows_is_a_dead_letter(app: Database, intake: Intake) -> None:
    end = event("session.ended", {}, subject="session:none")
    bus_consumer.BusMessage(intake, json.dumps(end).encode(), {}, "application/json").accept()
    assert "user_id" in letters(app)[0].error
    assert log_of(app) == []


def test_every_priority_is_read_whatever_steps_the_publisher_chose(
    app: Database, publish: Callable[..., None], servers: Servers
) -> None:
    for steps in ([0, 3, 6, 9], list(range(10))):
        with Connection(servers.broker_url, transport_options={"priority_steps": steps}) as connection:
            for priority in range(10):
                send(connection, event(id=f"{len(steps)}-{priority}"), priority=priority)
    until(lambda: len(log_of(app)) == 20)


def test_what_nobody_can_read_becomes_a_dead_letter_and_holds_up_nothing(
    app: Database, publish: Callable[..., None]
) -> None:
    publish(b"\x80\x04 pickled \x00", content_type="application/x-python-serialize", content_encoding="binary")
    publish(said("x", role="robot"))
    publish(said("good", id="good"))
    until(lambda: log_of(app))
    unreadable, unfit = letters(app)
    assert (unreadable.status, unfit.status) == ("dead", "dead")
    assert "pickled" in unreadable.params["body"]
    assert "not" in unreadable.error
    assert "/0/payload/role" in unfit.error
    assert [e.id for e in log_of(app)] == ["good"]


def test_a_key_in_the_header_names_the_tenant(settings: Settings, app: Database, publish: Callable[..., None]) -> None:
    publish(event(id="theirs"), headers={"authorization": f"Bearer {key_of(settings, OTHER, ('publish',))}"})
    until(lambda: log_of(app, OTHER))
    assert [e.id for e in log_of(app, OTHER)] == ["theirs"]
    assert log_of(app) == []


def test_a_message_delivered_twice_is_one_event(app: Database, intake: Intake) -> None:
    for _ in range(2):
        bus_consumer.BusMessage(intake, json.dumps(said("Hello.", id="e1")).encode(), {}, "application/json").accept()
    assert len(log_of(app)) == 1


def test_a_message_too_large_is_a_dead_letter_cut_short(app: Database, intake: Intake) -> None:
    bus_consumer.BusMessage(intake, json.dumps(said("x" * 50_000)).encode(), {}, "application/json").accept()
    (letter,) = letters(app)
    assert "4096" in letter.error
    assert len(letter.params["body"]) == bus_consumer.BODY_CHARACTERS


def test_what_the_database_refuses_for_good_is_a_dead_letter(
    app: Database, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(database: Database, tenant_id: str, *_: object) -> None:
        with database.tenant(tenant_id) as tx:
            tx.execute(text("SELECT 1 / 0"))

    monkeypatch.setattr(ingest, "accept", refuse)
    bus_consumer.BusMessage(intake, json.dumps(event()).encode(), {}, "application/json").accept()
    assert "division by zero" in letters(app)[0].error


def test_a_database_that_is_away_leaves_the_message_on_the_bus(
    app: Database, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("INSERT", {}, RuntimeError("connection lost"))

    monkeypatch.setattr(ingest, "accept", away)
    with pytest.raises(OperationalError):
        bus_consumer.BusMessage(intake, json.dumps(event()).encode(), {}, "application/json").accept()
    assert letters(app) == []


def test_an_event_whose_commit_was_not_answered_is_stored_once(
    app: Database, publish: Callable[..., None], rung: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lose_answers(monkeypatch, 1)
    publish(said("Hello."))
    until(rung.is_set)
    assert len(log_of(app)) == 1


def test_a_message_that_waits_too_long_is_returned_and_delivered_again(
    app: Database, publish: Callable[..., None], rung: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_consumer, "HOLD_SECONDS", 0.5)
    messages = _lose_answers(monkeypatch, 2)
    publish([said("Hello."), event()])
    until(rung.is_set)
    assert len(messages) == 3
    assert messages[0] is messages[1] is not messages[2]
    assert len(log_of(app)) == 2


def test_equal_messages_are_equal_events_unless_they_have_one_identifier(
    app: Database, publish: Callable[..., None]
) -> None:
    for identifier in (None, None, "m1", "m2", "m2"):
        publish(event(), message_id=identifier)
    publish(event(payload={"n": 2}), message_id="m2")
    publish(event(id="last"))
    until(lambda: "last" in {e.id for e in log_of(app)})
    assert len(log_of(app)) == 6


def _lose_answers(monkeypatch: pytest.MonkeyPatch, times: int) -> list[object]:
    """Break the connection after so many first commits; the batches that are tried are listed."""
    accept, tried = ingest.accept, list[object]()

    def lossy(database: Database, tenant_id: str, batch: Any) -> ingest.Accepted:
        tried.append(batch)
        accepted = accept(database, tenant_id, batch)
        if len(tried) <= times:
            raise OperationalError("COMMIT", {}, RuntimeError("connection lost"))
        return accepted

    monkeypatch.setattr(ingest, "accept", lossy)
    return tried


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path, durable=False)
    broker.start()
    yield broker
    broker.stop()


def test_a_broker_that_was_away_is_found_again(app: Database, intake: Intake, own_broker: Broker) -> None:
    heard = threading.Event()
    bell, ear, consumer = (
        Doorbell(own_broker.url),
        DoorbellListener(own_broker.url, heard.set),
        BusConsumer(own_broker.url, intake),
    )
    try:
        for turn in range(2):
            wait_for_queue(own_broker.url)
            with Connection(own_broker.url) as connection:
                until(partial(_published, connection, app, f"e{turn}"))
            heard.clear()
            until(lambda: bell.notify() or heard.wait(0.1))
            if turn == 0:
                own_broker.stop()
                time.sleep(1.5)
                own_broker.start()
    finally:
        for part in (bell, ear, consumer):
            part.close()


def _published(connection: Connection, app: Database, name: str) -> bool:
    """A consumer that is just reconnecting has bound nothing yet, so it is said until it is heard."""
    send(connection, event(id=name))
    time.sleep(0.1)
    return name in {e.id for e in log_of(app)}


def test_dispatches_are_sent_again_to_a_broker_that_was_away(settings: Settings, own_broker: Broker) -> None:
    app = celery_app.create(settings, own_broker.url)
    owed = [DispatchRef(TENANT, "io", uuid4()), DispatchRef(TENANT, "cpu", uuid4())]
    assert relay.send(app, owed)
    own_broker.stop()
    assert not relay.send(app, owed)
    own_broker.start()
    until(lambda: relay.send(app, owed))
    with Connection(own_broker.url) as connection:
        queue = connection.SimpleQueue(Queue("cpu", Exchange("imprint.work", type="direct"), routing_key="cpu"))
        assert queue.get(timeout=60).payload[0] == [TENANT, [str(owed[1].id)], "cpu"]
        queue.close()
    app.close()

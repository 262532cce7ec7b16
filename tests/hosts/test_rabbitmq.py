"""The queues that Imprint declares on RabbitMQ, and their delivery limits. Run by `make rabbitmq`."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from kombu import Connection, Queue
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.stack.postgres import Postgres
from core.config import Settings
from core.events.broker_queues import EVENT_DELIVERIES, WORK_DELIVERIES
from core.inference.embedders import HashEmbedder
from core.sessions import ingest
from core.storage import db, schema
from core.tenancy import tenants
from core.types import Json
from tests.patience import wait_until
from tests.rabbitmq import control, url_of, virtual_host
from tests.samples import TENANT
from workers import app as celery_app
from workers.dispatch import relay
from workers.dispatch.relay import DispatchRef
from workers.routing import bus_consumer
from workers.routing.bus_consumer import EXCHANGE, BusConsumer, Intake

pytestmark = [pytest.mark.rabbitmq, pytest.mark.timeout(600)]

AWAY_SECONDS = 12
"""In which a message that is returned for each failure would be delivered more often than twice."""


@pytest.fixture
def host() -> Iterator[str]:
    with virtual_host() as name:
        yield name


def queues(host: str) -> dict[str, Json]:
    rows = json.loads(
        control("--formatter", "json", "list_queues", "-p", host, "name", "type", "arguments", "messages")
    )
    return {row["name"]: row for row in rows}


def test_queues_are_quorum_queues_with_limits_and_a_send_is_confirmed(settings: Settings, host: str) -> None:
    celery = celery_app.create(settings, url_of(host))
    assert celery.conf.broker_transport_options == {"confirm_publish": True}
    assert relay.send(celery, [DispatchRef(TENANT, "io", uuid.uuid4()), DispatchRef(TENANT, "cpu", uuid.uuid4())])
    celery.close()
    wait_until(lambda: [row["messages"] for row in queues(host).values()] == [1, 1], every=0.5)
    for name in ("io", "cpu"):
        assert queues(host)[name]["type"] == "quorum"
        assert limit_of(queues(host)[name]) == WORK_DELIVERIES


def test_the_queue_of_the_bus_has_a_limit_that_no_outage_reaches(settings: Settings, host: str) -> None:
    with closing(db.connect(db.app_url(settings), 1)) as app, closing(BusConsumer(url_of(host), intake(app))):
        wait_until(lambda: "imprint.events" in queues(host), every=0.5)
        assert queues(host)["imprint.events"]["type"] == "quorum"
        assert limit_of(queues(host)["imprint.events"]) == EVENT_DELIVERIES


def limit_of(queue: Json) -> object:
    arguments = queue["arguments"]
    found = dict(arguments) if isinstance(arguments, dict) else {row[0]: row[-1] for row in arguments}
    return found["x-delivery-limit"]


def intake(app: db.Database) -> Intake:
    return Intake(app, TENANT, 100, 100_000, lambda: None)


def test_an_event_outlives_a_database_that_is_away_longer_than_its_deliveries(
    host: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    limits = {"x-queue-type": "quorum", "x-delivery-limit": 2}
    with Connection(url_of(host)) as connection:
        queue: Any = Queue("imprint.events", EXCHANGE, routing_key="#", queue_arguments=limits)
        queue(connection.default_channel).declare()
    postgres = Postgres(tmp_path_factory.mktemp("database"))
    try:
        settings = Settings(home=postgres.home, database_url=postgres.start(), embedding="hash")
        schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
        with closing(db.connect(db.app_url(settings), 1)) as app:
            with app.tenant(TENANT) as tx:
                tenants.ensure(tx, TENANT)
            with closing(BusConsumer(url_of(host), intake(app))):
                postgres.stop()
                publish(host)
                time.sleep(AWAY_SECONDS)
                postgres.start()
                wait_until(lambda: app.ask(TENANT, (_EVENTS, {}))[0][0].number == 1, every=0.5)
            wait_until(lambda: queues(host)["imprint.events"]["messages"] == 0, every=0.5)
    finally:
        postgres.stop()


def test_an_event_without_an_id_that_is_returned_after_its_commit_is_stored_once(
    settings: Settings, app: db.Database, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its publisher gave the message an identifier: a delivery tag of RabbitMQ is another one each time."""
    monkeypatch.setattr(bus_consumer, "HOLD_SECONDS", 0.5)
    accept, deliveries = ingest.accept, list[object]()

    def lossy(database: db.Database, tenant_id: str, batch: Any) -> ingest.Accepted:
        accepted = accept(database, tenant_id, batch)
        if not deliveries or deliveries[-1] is batch:
            deliveries.append(batch)
            raise OperationalError("COMMIT", {}, RuntimeError("connection lost"))
        deliveries.append(batch)
        return accepted

    monkeypatch.setattr(ingest, "accept", lossy)
    with closing(BusConsumer(url_of(host), intake(app))), Connection(url_of(host)) as connection:
        wait_until(lambda: "imprint.events" in queues(host), every=0.5)
        event = {"event_type": "order.placed", "source": "bus", "payload": {}}
        sent = {"exchange": EXCHANGE, "routing_key": "order.placed", "declare": [EXCHANGE]}
        connection.Producer().publish(event, message_id="m1", **sent)
        wait_until(lambda: deliveries and deliveries[-1] is not deliveries[0], every=0.5)
        wait_until(lambda: queues(host)["imprint.events"]["messages"] == 0, every=0.5)
    assert app.ask(TENANT, (_OF_BUS, {}))[0][0].number == 1


_OF_BUS = text("SELECT count(*) AS number FROM events WHERE source = 'bus'")

_EVENTS = text("SELECT count(*) AS number FROM events WHERE id = 'over-the-bus'")


def publish(host: str) -> None:
    event = {"id": "over-the-bus", "event_type": "order.placed", "source": "bus", "payload": {}}
    with Connection(url_of(host)) as connection:
        connection.Producer().publish(event, exchange=EXCHANGE, routing_key="order.placed", declare=[EXCHANGE])

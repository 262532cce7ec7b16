"""Nobody fills the broker's memory with windows, or a router's with messages that swell when they are inflated."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from collections.abc import Iterator

import amqp
import pytest
import redis
from kombu import Connection
from kombu.transport import pyamqp
from sqlalchemy import text

from core import metrics
from core.config import Settings
from core.sessions import recent_messages
from core.sessions.recent_messages import RecentMessages
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy import limits
from tests.conftest import Servers
from tests.patience import PATIENCE_SECONDS
from tests.samples import TENANT, accept_all, event, said
from workers.routing import bus_consumer
from workers.routing.bus_consumer import BusConsumer, Intake

BUDGET = 100_000
WINDOW = 20_000


@pytest.fixture
def store(servers: Servers) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(servers.broker_url)
    yield client
    for key in client.scan_iter("imprint:*"):
        client.delete(key)
    client.close()


@pytest.fixture
def kept(settings: Settings, store: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecentMessages]:
    monkeypatch.setattr(recent_messages, "PATIENCE_SECONDS", 5)
    opened = recent_messages.on_broker(settings.model_copy(update={"tenant_limits": TenantLimits(window_bytes=BUDGET)}))
    yield opened
    opened.close()


def speak(app: Database, sessions: range, tenant: str = TENANT) -> None:
    accept_all(app, [said("x" * WINDOW, session=f"s{n}") for n in sessions], tenant=tenant)


def sessions_kept(store: redis.Redis, tenant: str = TENANT) -> set[str]:
    return {key.decode().rpartition(":")[2] for key in store.scan_iter(f"imprint:recent:{tenant}:*")}


def used(store: redis.Redis, tenant: str = TENANT) -> int:
    return sum(store.strlen(key) for key in store.scan_iter(f"imprint:recent:{tenant}:*"))


def test_the_windows_of_a_tenant_stay_within_its_budget_and_the_newest_are_kept(
    app: Database, kept: RecentMessages, store: redis.Redis
) -> None:
    speak(app, range(40))
    for n in range(40):
        kept.window(app, TENANT, f"s{n}")
        assert used(store) <= BUDGET
    assert sessions_kept(store) == {"s36", "s37", "s38", "s39"}
    assert int(store.hget(recent_messages._bookkeeping_keys(TENANT)[1], "total") or 0) == used(store)


def test_another_tenants_windows_are_not_evicted(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    speak(app, range(1), tenant="quiet")
    kept.window(app, "quiet", "s0")
    speak(app, range(20))
    for n in range(20):
        kept.window(app, TENANT, f"s{n}")
    assert sessions_kept(store, "quiet") == {"s0"}


def test_the_limit_of_the_tenant_itself_counts(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    with app.tenant(TENANT) as tx:
        limits.choose(tx, TENANT, {"window_bytes": 50_000}, TenantLimits(window_bytes=BUDGET))
    speak(app, range(10))
    for n in range(10):
        kept.window(app, TENANT, f"s{n}")
    assert used(store) <= 50_000
    assert len(sessions_kept(store)) == 2


def test_a_window_that_is_kept_again_counts_once(app: Database, kept: RecentMessages, store: redis.Redis) -> None:
    speak(app, range(2))
    for _ in range(20):
        for n in range(2):
            kept.keep(TENANT, f"s{n}", kept.window(app, TENANT, f"s{n}"))
    assert sessions_kept(store) == {"s0", "s1"}


def test_what_has_expired_or_was_forgotten_does_not_count(
    app: Database, kept: RecentMessages, store: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(app, range(8))
    monkeypatch.setattr(recent_messages, "KEEP_SECONDS", 1)
    for n in range(3):
        kept.window(app, TENANT, f"s{n}")
    time.sleep(2.1)
    kept.window(app, TENANT, "s3")
    assert int(store.hget(recent_messages._bookkeeping_keys(TENANT)[1], "total") or 0) == used(store)
    kept.forget(TENANT, ["s3"])
    assert used(store) == int(store.hget(recent_messages._bookkeeping_keys(TENANT)[1], "total") or 0) == 0


@pytest.fixture
def consumer(servers: Servers, app: Database) -> Iterator[Intake]:
    intake = Intake(app, TENANT, 100, 4096, lambda: None, 50_000)
    listening = BusConsumer(servers.broker_url, intake)
    with Connection(servers.broker_url) as connection:
        bus_consumer.QUEUE(connection.default_channel).declare()
    yield intake
    listening.close()


def publish(url: str, body: bytes, **more: object) -> None:
    sent = {"content_type": "application/json", "content_encoding": "utf-8", "routing_key": "a.b", **more}
    with Connection(url) as connection:
        connection.Producer().publish(body, exchange=bus_consumer.EXCHANGE, declare=[bus_consumer.EXCHANGE], **sent)


def until_heard(app: Database, name: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with app.tenant(TENANT) as tx:
            if tx.execute(text("SELECT count(*) FROM events WHERE id = :id"), {"id": name}).scalar_one():
                return
        time.sleep(0.05)
    raise AssertionError("It was not heard.")


def letters(app: Database) -> int:
    with app.tenant(TENANT) as tx:
        return int(tx.execute(text("SELECT count(*) FROM dispatches WHERE status = 'dead'")).scalar_one())


def refused(reason: str) -> float:
    return metrics.EVENTS_REFUSED.labels("bus", reason)._value.get()


@pytest.mark.usefixtures("consumer")
def test_a_compressed_message_is_refused_before_it_is_inflated(servers: Servers, app: Database) -> None:
    before, swollen = refused("compressed"), 64 * 1024 * 1024
    bomb = gzip.compress(b" " * swollen)
    tracemalloc.start()
    publish(servers.broker_url, bomb, headers={"compression": "application/x-gzip"})
    publish(servers.broker_url, json.dumps(event(id="after")).encode())
    until_heard(app, "after")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused("compressed") == before + 1
    assert peak < swollen / 4
    assert letters(app) == 0, "nothing of it is kept"


@pytest.mark.usefixtures("consumer")
def test_a_message_above_the_limit_is_refused_and_those_behind_it_are_heard(servers: Servers, app: Database) -> None:
    before = refused("too_large")
    publish(servers.broker_url, b"[" + b" " * 50_000 + b"]")
    publish(servers.broker_url, json.dumps(event(id="after")).encode())
    until_heard(app, "after")
    assert refused("too_large") == before + 1
    assert letters(app) == 0


def test_the_messages_of_rabbitmq_stay_as_they_came() -> None:
    raw = amqp.Message(gzip.compress(b"x" * 1000), application_headers={"compression": "application/x-gzip", "a": "b"})
    raw.delivery_info = {"delivery_tag": 1}
    message = bus_consumer._without_inflation(pyamqp.Channel.Message)(raw)
    assert (message.body, message.compression, message.headers) == (raw.body, "application/x-gzip", {"a": "b"})

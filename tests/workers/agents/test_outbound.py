"""What leaves the house, looked at from the other side: a real server, a real queue."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from kombu import Connection
from pydantic import SecretStr
from sqlalchemy import text
from structlog.testing import capture_logs

from core.config import Settings
from core.errors import Later, Never
from core.events import parsing
from core.events.publishing import Author
from core.storage.db import Database
from core.tenancy.tenants import DEFAULT
from core.types import Json
from rules.registry import store
from tests.factories import a_job, tools
from tests.outlets import allowed, open_to
from tests.ports import free_port
from tests.samples import TENANT, accept, event
from tests.spans import CARRIER, recording, traceparent
from tests.workers.receiver import Other
from tests.works import at_work
from workers.agents import notify, outbound
from workers.dispatch import sweep
from workers.dispatch.model import Outcome


def result_of(outcome: Outcome) -> Json:
    return outcome.pending.write(cast(Any, None), Author("x"))


def test_the_event_is_posted_as_it_could_be_published(open_settings: Settings, other: Other) -> None:
    job = a_job(url=f"{other.url}?a=b", headers={}, payload=None)
    assert result_of(outbound.send_webhook(tools(open_settings), job)) == {"status": 200}
    (got,) = other.got
    assert (got.path, got.headers["content-type"]) == ("/hook?a=b", "application/json")
    (again,) = parsing.check([got.json])
    assert (again.id, again.source, again.event_type, again.payload, again.correlation_id) == (
        "e1",
        "shop",
        "order.placed",
        {"total": 12.5, "note": "Größe 42"},
        "c1",
    )
    assert got.headers["webhook-id"] == f"{TENANT}:{job.id}"
    assert abs(int(got.headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 10
    assert "webhook-signature" not in got.headers


def test_what_a_rule_gives_is_posted_as_it_is_with_its_headers(open_settings: Settings, other: Other) -> None:
    headers = {"x-plain": "x", "x-who": "José", "x-total": 12.5, "x-missing": None}
    outbound.send_webhook(
        tools(open_settings), a_job(url=other.url, headers=headers, payload={"a": [1]}, gathered=["e0"])
    )
    (got,) = other.got
    assert got.json == {"a": [1]}
    assert {name: got.headers.get(name) for name in map(str.lower, headers)} == {
        "x-plain": "x",
        "x-who": "José",
        "x-total": "12.5",
        "x-missing": None,
    }


def test_what_a_flow_has_gathered_stands_beside_the_event(open_settings: Settings, other: Other) -> None:
    outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None, gathered=["e0", "e1"]))
    assert other.got[0].json["gathered"] == ["e0", "e1"]


@pytest.mark.parametrize(
    ("hosts", "allowed"),
    [
        ([], False),
        (["http://example.com:{port}"], False),
        (["http://*.0.0.1:{port}"], True),
        (["http://127.0.0.1:{port}"], True),
        (["http://*.127.0.0.1:{port}"], False),
        (["127.0.0.1:{port}"], False),
        (["http://127.0.0.1"], False),
        (["127.0.0.1", "https://127.0.0.1:{port}"], False),
    ],
)
def test_only_allowed_hosts_are_called(settings: Settings, other: Other, hosts: list[str], allowed: bool) -> None:
    job = replace(a_job(url=other.url, headers={}, payload=None), tenant_id=DEFAULT)
    given = settings.model_copy(update={"webhook_hosts": [one.format(port=urlsplit(other.url).port) for one in hosts]})
    if allowed:
        outbound.send_webhook(tools(given), job)
    else:
        with pytest.raises(Never, match="IMPRINT_WEBHOOK_HOSTS"):
            outbound.send_webhook(tools(given), job)
    assert len(other.got) == allowed


@pytest.mark.parametrize(
    "address", ["http://[::1", "http://", "file:///etc/passwd", "127.0.0.1/hook", "ftp://127.0.0.1/"]
)
def test_what_is_no_address_is_set_aside_at_once(open_settings: Settings, address: str) -> None:
    with pytest.raises(Never):
        outbound.send_webhook(tools(open_settings), a_job(url=address, headers={}, payload=None))


@pytest.mark.parametrize("name", ["Host", "webhook-id", "Webhook-Signature", "content-length", "bad name", "x-böse"])
def test_a_rule_may_not_say_who_gets_it_or_who_vouches_for_it(open_settings: Settings, other: Other, name: str) -> None:
    with pytest.raises(Never):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={name: "x"}, payload=None))
    assert other.got == []


def test_a_value_with_a_line_break_makes_no_header_of_its_own(open_settings: Settings, other: Other) -> None:
    with pytest.raises(Never):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={"x-a": "1\r\nx-b: 2"}, payload=None))
    assert other.got == []


def test_a_channel_gets_the_text_the_event_and_its_own_name(settings: Settings, other: Other) -> None:
    given = open_to(settings, channels={"ops": other.url})
    done = result_of(notify.notify(tools(given), a_job(channel="ops", template="Größe 42 is gone")))
    assert done == {"channel": "ops", "delivered": 1, "status": 200}
    assert other.got[0].json == {"text": "Größe 42 is gone", "channel": "ops", "event_id": "e1"}


def test_the_address_of_a_channel_is_a_secret(settings: Settings, other: Other) -> None:
    other.answers.append((500, {}, b"no"))
    given = open_to(settings, channels={"ops": f"{other.url}/T0/secret"})
    with pytest.raises(Later, match="'ops' answered 500: no") as refused:
        notify.notify(tools(given), a_job(channel="ops", template="x"))
    assert "secret" not in str(refused.value)


def test_the_log_is_a_channel_that_is_always_there(upgraded: Settings) -> None:
    with capture_logs() as lines:
        done = result_of(notify.notify(tools(upgraded), a_job(channel="log", template={"a": 1})))
    assert done == {"channel": "log", "delivered": 1}
    assert [(line["event"], line["text"]) for line in lines] == [("notification", '{"a": 1}')]


def test_a_channel_that_nobody_set_is_set_aside(upgraded: Settings) -> None:
    with pytest.raises(Never, match="IMPRINT_NOTIFY_CHANNELS"):
        notify.notify(tools(upgraded), a_job(channel="ops", template="x"))


def taken(url: str, queue: str) -> list[Any]:
    """All messages that lie on a queue."""
    found = []
    with Connection(url) as connection, connection.SimpleQueue(queue) as simple, contextlib.suppress(simple.Empty):
        while True:
            found.append(simple.get(block=False))
            found[-1].ack()
    return found


@pytest.mark.parametrize("own", [True, False])
def test_a_task_lies_on_the_other_services_queue_as_celery_would_put_it(upgraded: Settings, own: bool) -> None:
    queue, url = f"billing-{uuid4().hex}", upgraded.broker_url
    assert url is not None
    more = {"celery_broker_url": SecretStr(url.get_secret_value() + "?")} if own else {}
    given = upgraded.model_copy(update={"celery_queues": {TENANT: [queue]}, **more})
    job = a_job(task="billing.recount", queue=queue, kwargs={"user": "ada", "n": [1, None]})
    done = result_of(outbound.send_task(tools(given), job))
    assert done == {"task": "billing.recount", "queue": queue, "task_id": str(job.id)}
    (message,) = taken(url.get_secret_value(), queue)
    assert (message.headers["task"], message.headers["id"], message.headers["root_id"]) == (
        "billing.recount",
        str(job.id),
        str(job.id),
    )
    args, kwargs, _ = message.payload
    assert (args, kwargs) == ([], {"user": "ada", "n": [1, None]})


def test_a_webhook_and_a_task_continue_the_trace(open_settings: Settings, other: Other) -> None:
    queue, url = f"billing-{uuid4().hex}", open_settings.broker_url
    assert url is not None
    allowing = open_settings.model_copy(update={"celery_queues": {TENANT: [queue]}})
    with recording() as spans:
        outbound.send_webhook(tools(allowing), a_job(url=f"{other.url}?key=secret", headers={}, payload={}))
        outbound.send_task(tools(allowing), a_job(task="billing.recount", queue=queue, kwargs={}))
    (message,) = taken(url.get_secret_value(), queue)
    posted = spans.named("POST")
    assert other.got[0].headers["traceparent"] == traceparent(posted)
    assert message.headers["traceparent"] == traceparent(spans.named("send task"))
    port = urlsplit(other.url).port
    expected = {"http.request.method": "POST", "server.address": "127.0.0.1", "server.port": port}
    assert dict(posted.attributes or {}) == {**expected, "http.response.status_code": 200}


def test_a_rule_may_set_a_context_of_its_own(open_settings: Settings, other: Other) -> None:
    with recording():
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers=dict(CARRIER), payload={}))
    outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload={}))
    assert [request.headers.get("traceparent") for request in other.got] == [CARRIER["traceparent"], None]


def test_only_allowed_queues_get_tasks(upgraded: Settings) -> None:
    with pytest.raises(Never, match="IMPRINT_CELERY_QUEUES"):
        outbound.send_task(tools(upgraded), a_job(task="x", queue="io", kwargs={}))


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_away_is_asked_again(upgraded: Settings, scheme: str) -> None:
    nowhere = SecretStr(f"{scheme}://127.0.0.1:{free_port()}//")
    given = upgraded.model_copy(update={"celery_queues": {TENANT: ["q"]}, "celery_broker_url": nowhere})
    with pytest.raises(Later, match="'q' cannot be reached"):
        outbound.send_task(tools(given), a_job(task="x", queue="q", kwargs={}))


def test_actions_are_carried_out_one_after_another_and_each_at_last(
    settings: Settings, app: Database, queue: Database, other: Other
) -> None:
    """A rule with three actions; the second is refused once."""
    tasks = f"q-{uuid4().hex}"
    given = open_to(settings, other.url, queues=[tasks])
    document = {
        "name": "tell_them",
        "event_type": "order.placed",
        "actions": [
            {"action_type": "webhook", "url": f"{other.url}/one"},
            {"action_type": "webhook", "url": f"{other.url}/two", "payload": {"id": "{{payload.id}}"}},
            {"action_type": "celery", "task": "recount", "queue": tasks, "kwargs": {"id": "{{payload.id}}"}},
        ],
    }
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, document, author="test", allowed=allowed(given))
    other.answers += [(200, {}, b""), (503, {}, b"busy")]
    accept(app, event(payload={"id": 7}))
    broker = given.broker_url
    assert broker is not None
    with at_work(given) as works:
        works.settle()
        assert [got.path for got in other.got] == ["/hook/one", "/hook/two"]
        assert taken(broker.get_secret_value(), tasks) == []
        with queue.queue() as tx:
            tx.execute(text("UPDATE dispatches SET wake_at = clock_timestamp() WHERE status = 'retrying'"))
            again = sweep.due(tx, works.ledger.policy)
        works.run(again)
    assert [got.path for got in other.got] == ["/hook/one", "/hook/two", "/hook/two"]
    assert other.got[1].headers["webhook-id"] == other.got[2].headers["webhook-id"]
    assert other.got[2].json == {"id": 7}
    (message,) = taken(broker.get_secret_value(), tasks)
    assert message.payload[1] == {"id": 7}

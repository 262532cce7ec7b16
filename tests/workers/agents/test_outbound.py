"""What leaves the house, looked at from the other side: a real server, a real queue."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from kombu import Connection
from pydantic import SecretStr
from sqlalchemy import NullPool, create_engine, text
from standardwebhooks import Webhook, WebhookVerificationError
from structlog.testing import capture_logs

from core.config import Settings
from core.errors import Later, Never
from core.events import parsing
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.storage import db
from core.storage.db import Database
from core.tenancy.tenants import DEFAULT
from core.types import Event, Json
from rules.registry import store
from tests.outlets import allowed, open_to
from tests.ports import POLL_SECONDS, free_port
from tests.samples import TENANT, accept, event
from tests.works import at_work
from workers.agents import notify, outbound
from workers.delivery import webhook_client
from workers.dispatch import sweep
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

MET = Event(
    seq=1,
    tenant_id=TENANT,
    id="e1",
    source="shop",
    event_type="order.placed",
    subject="order:7",
    time=datetime(2026, 11, 21, 12, tzinfo=UTC),
    payload={"total": 12.5, "note": "Größe 42"},
    correlation_id="c1",
)


@dataclass
class Got:
    """One request, as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Other:
    """Another service: what it got, and how it answers; `answers` are taken one by one, then it is 200."""

    url: str
    got: list[Got] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    slow: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    other: Other


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        other = cast(_Server, self.server).other
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value.encode("latin-1").decode() for name, value in self.headers.items()}
        other.got.append(Got(self.path, headers, body))
        status, more, said = other.answers.pop(0) if other.answers else (200, {}, b"ok")
        if status == 0:
            other.slow.wait(20)
            return
        self.send_response(status)
        for name, value in {**more, "content-length": str(len(said))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def other() -> Iterator[Other]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.other = Other(f"http://127.0.0.1:{server.server_port}/hook")
    threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
    yield server.other
    server.other.slow.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_settings(settings: Settings, other: Other) -> Settings:
    """The tenant may post to the test's server."""
    return open_to(settings, other.url)


def a_job(**params: Any) -> Job:
    return Job(TENANT, uuid4(), "webhook_sender", "webhook", params, MET, Author("x", Cause(MET), "r", 1), 1, uuid4())


def tools(settings: Settings) -> Tools:
    """What agents need; each transaction has a connection of its own, for nobody would close a pool."""
    database = Database(create_engine(db.app_url(settings), poolclass=NullPool))
    return Tools(database, HashEmbedder(), settings)


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


@pytest.mark.parametrize("prefix", ["whsec_", ""])
def test_a_signature_vouches_for_id_time_and_body(open_settings: Settings, other: Other, prefix: str) -> None:
    key = b"0123456789abcdef01234567"
    signed = open_to(open_settings, other.url, signing=prefix + base64.b64encode(key).decode())
    outbound.send_webhook(tools(signed), a_job(url=other.url, headers={}, payload=None))
    (got,) = other.got
    said = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    mac = base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{mac}"


def test_the_signature_is_the_one_of_the_standard() -> None:
    """The example that the libraries of Standard Webhooks are tested with."""
    body = b'{"test": 2432232314}'
    at = datetime.fromtimestamp(1614265330, UTC)
    made = webhook_client.signatures("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_secret_is_rotated_a_receiver_may_know_the_old_or_the_new(
    open_settings: Settings, other: Other
) -> None:
    old, new = ("whsec_" + base64.b64encode(key).decode() for key in (b"o" * 24, b"n" * 24))
    both = open_to(open_settings, other.url, signing=f"{new} {old}")
    outbound.send_webhook(tools(both), a_job(url=other.url, headers={}, payload=None))
    (got,) = other.got
    for secret in (old, new):
        assert Webhook(secret).verify(got.body, got.headers)["id"] == "e1"
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + base64.b64encode(b"x" * 24).decode()).verify(got.body, got.headers)


def test_a_secret_that_is_no_key_is_named_and_not_shown(open_settings: Settings, other: Other) -> None:
    bad = open_settings.model_copy(update={"webhook_secret": SecretStr("hush hush!")})
    job = replace(a_job(url=other.url, headers={}, payload=None), tenant_id=DEFAULT)
    with pytest.raises(Never, match="IMPRINT_WEBHOOK_SECRET") as refused:
        outbound.send_webhook(tools(bad), job)
    assert "hush" not in str(refused.value)


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


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503, 599])
def test_a_refusal_for_now_is_tried_again(open_settings: Settings, other: Other, status: int) -> None:
    other.answers.append((status, {}, b"come back"))
    with pytest.raises(Later, match=f"{status}: come back"):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))


@pytest.mark.parametrize("status", [400, 401, 404, 409, 410, 422])
def test_a_refusal_for_good_is_not(open_settings: Settings, other: Other, status: int) -> None:
    other.answers.append((status, {}, b"x" * 100_000))
    with pytest.raises(Never, match=str(status)) as refused:
        outbound.send_webhook(tools(open_settings), a_job(url=f"{other.url}?token=secret", headers={}, payload=None))
    assert len(str(refused.value)) < 400
    assert "secret" not in str(refused.value)


def test_a_redirect_is_not_followed(open_settings: Settings, other: Other) -> None:
    other.answers.append((307, {"location": "http://127.0.0.1:1/"}, b""))
    with pytest.raises(Never, match="not followed"):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert len(other.got) == 1


@pytest.mark.parametrize(
    "said", [lambda: "120", lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=121), usegmt=True)]
)
def test_the_pause_that_the_other_side_asks_for_is_kept(
    open_settings: Settings, other: Other, said: Callable[[], str]
) -> None:
    other.answers.append((503, {"retry-after": said()}, b""))
    with pytest.raises(Later) as refused:
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert refused.value.after is not None
    assert 110 < refused.value.after.total_seconds() <= 121


def test_who_cannot_be_reached_or_says_nothing_is_asked_again(open_settings: Settings, other: Other) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/"
    with pytest.raises(Later, match="cannot be reached"):
        outbound.send_webhook(
            tools(open_to(open_settings, other.url, nobody)), a_job(url=nobody, headers={}, payload=None)
        )
    other.answers.append((0, {}, b""))
    hasty = open_settings.model_copy(update={"webhook_timeout_seconds": 0.2})
    with pytest.raises(Later, match="Timeout"):
        outbound.send_webhook(tools(hasty), a_job(url=other.url, headers={}, payload=None))


def test_cookies_of_one_are_not_sent_for_another(open_settings: Settings, other: Other) -> None:
    other.answers.append((200, {"set-cookie": "who=acme"}, b""))
    for _ in range(2):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert [got.headers.get("cookie") for got in other.got] == [None, None]


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

"""One trace from a publisher through every process to model and webhook, in which nobody's words appear."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from kombu import Connection

from core.config import Settings
from core.inference.embedders import HashEmbedder
from core.storage import db, schema
from tests import outlets
from tests.collector import Collector, Exported, collecting
from tests.conftest import Servers
from tests.databases import beside
from tests.doors import key_of
from tests.faults import model as fake
from tests.forked import forked
from tests.patience import wait_until
from tests.ports import free_port
from tests.workers import receiver
from tests.workers.receiver import Other
from workers.routing.bus_consumer import EXCHANGE

pytestmark = pytest.mark.slow

TENANT = "canarytenant"
CANARY = "canary"
"""In every name and text that a tenant, a user or another service chooses."""

COMMANDS = {
    "router": ("workers", "router"),
    "worker-io": ("workers", "worker", "--queue", "io", "--concurrency", "2"),
    "worker-cpu": ("workers", "worker", "--queue", "cpu", "--concurrency", "2"),
    "clock": ("workers", "clock"),
}
CALLER = {
    name: f"{number:032x}"
    for number, name in enumerate(("talk", "failing", "broken", "before", "after", "mcp", "bus", "refused"), 1)
}
"""Traces that a caller has begun."""

SPAN = "00f067aa0ba902b7"
"""The caller's span."""


def context(name: str) -> dict[str, str]:
    return {"traceparent": f"00-{CALLER[name]}-{SPAN}-01", "tracestate": "vendor=abc"}


@dataclass
class Told:
    """What has arrived, at the collector and at the other services."""

    spans: list[Exported]
    bodies: bytes
    hook: Other
    model: fake.Model
    logs: str
    answers: dict[str, httpx.Response] = field(default_factory=dict)

    def of(self, trace: str) -> list[Exported]:
        return [span for span in self.spans if span.trace == CALLER[trace]]

    def named(self, trace: str, name: str) -> list[Exported]:
        return [span for span in self.of(trace) if span.name == name]

    def path(self, span: Exported) -> list[str]:
        """The names of a span and of its ancestors, the outermost first."""
        by_id = {other.id: other for other in self.spans}
        above = by_id.get(span.parent)
        return [*(self.path(above) if above else []), span.name]


@pytest.fixture(scope="module")
def told(upgraded: Settings, servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """A day of the service with traces; its spans wait for the end of each process, so none may be lost by it."""
    home = tmp_path_factory.mktemp("traces")
    with ExitStack() as last:
        collector = last.enter_context(collecting(home))
        model, hook = last.enter_context(fake.serving()), last.enter_context(receiver.serving())
        own = last.enter_context(beside(upgraded))
        schema.upgrade(own, (HashEmbedder().name, HashEmbedder().dimension))
        with running(own, servers, home, collector, model.url, hook) as api:
            answers = live(api, servers, hook, model)
        logs = "".join(path.read_text() for path in home.rglob("*.log"))
        yield Told(collector.spans(), b"".join(collector.bodies()), hook, model, logs, answers)


@contextmanager
def running(
    settings: Settings, servers: Servers, home: Path, collector: Collector, model_url: str, hook: Other
) -> Iterator[httpx.Client]:
    """Every process of production, and a client of its API."""
    key = key_of(settings, TENANT)
    opened = outlets.open_to(settings, hook.url, tenant=TENANT)
    port = free_port()
    own = {
        "home": str(home),
        "database_app_url": db.app_url(settings).render_as_string(hide_password=False),
        "database_router_url": db.router_url(settings).render_as_string(hide_password=False),
        "broker_url": servers.broker_url,
        "http_port": str(port),
        "metrics_port": "0",
        "embedding": "hash",
        "llm_base_url": model_url,
        "llm_model": "fake-model",
        "attempts": "1",
        "rules_poll_seconds": "0.1",
        "bus_tenant": TENANT,
        "webhook_hosts": json.dumps(opened.webhook_hosts),
        "webhook_private_networks": '["127.0.0.0/8"]',
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("IMPRINT_", "OTEL_"))}
    environment |= {f"IMPRINT_{name.upper()}": value for name, value in own.items()} | collector.environment
    environment["FASTAPI_OTEL_AUTO_CONFIGURE"] = "true"  # The framework exports paths, queries and errors, if it may.
    with ExitStack() as last:
        last.enter_context(forked(environment, "api.cli.serve", home=home / "api"))
        client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {key}"}, timeout=60
        )
        last.callback(client.close)
        for name, command in COMMANDS.items():
            last.enter_context(forked(environment, *command, home=home / name))
        wait_until(lambda: is_ready(client))
        yield client


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


def live(api: httpx.Client, servers: Servers, hook: Other, model: fake.Model) -> dict[str, httpx.Response]:
    """Publish, fail, ask a tool and use the bus, each in a trace of the caller."""
    answers: dict[str, httpx.Response] = {}
    save_rules(api, hook.url)
    talk = [said(f"My umbrella {CANARY}{number} is in the drawer.", number) for number in range(3)]
    answers["talk"] = publish(api, "talk", *talk, ended("s"))
    wait_until(lambda: bool(hook.got))

    hook.answers.append((410, {}, f"{CANARY} gone".encode()))
    failing = event(f"{CANARY}.failed", {"x": CANARY}, id=f"{CANARY}-f")
    answers["failing"] = publish(api, "failing", failing)
    model.script.append("500")
    publish(api, "broken", said(f"My umbrella {CANARY}9 is gone.", 9, session="t"), ended("t"))

    post(api, "before", said(f"The {CANARY} sings at noon.", 1, session="u"))
    publish(api, "after", said(f"The {CANARY} sleeps at night.", 2, session="u"))

    call = {"name": "memory_add", "arguments": {"user_id": f"{CANARY}-ada", "content": f"Ada likes {CANARY} birds."}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"accept": "application/json, text/event-stream"}
    answers["mcp"] = api.post("/mcp", json=asked, headers={**accept, **context("mcp")})

    send_on_the_bus(servers.broker_url)
    wait_until(lambda: api.get(f"/v1/events/{CANARY}-bus").is_success)
    settle(api, publish(api, None, event("order.placed")))

    path = f"/v1/memories?user_id={CANARY}&cursor={CANARY}&key={CANARY}"
    answers["refused"] = api.get(path, headers={"authorization": f"Bearer {CANARY}", **context("refused")})
    api.post("/v1/search", json={"user_id": f"{CANARY}-ada", "query": f"Where is the {CANARY}?"})
    api.get(f"/v1/sessions/{CANARY}-s", headers={"user-agent": CANARY, "x-header": CANARY, "baggage": f"who={CANARY}"})
    api.request(CANARY.upper(), f"/{CANARY}")
    return answers


def save_rules(api: httpx.Client, url: str) -> None:
    """Save rules that post to another service, and wait until the router has them."""
    action = {"action_type": "webhook", "url": f"{url}/{CANARY}?token={CANARY}", "headers": {"x-who": CANARY}}
    for name, event_type in ((f"{CANARY}.created", "memory.created"), (f"{CANARY}.fails", f"{CANARY}.failed")):
        api.put(f"/v1/rules/{name}", json={"event_type": event_type, "actions": [action]}).raise_for_status()
    probe = {"action_type": "emit", "event_type": f"{CANARY}.seen", "payload": {}}
    api.put("/v1/rules/probe", json={"event_type": f"{CANARY}.probe", "actions": [probe]}).raise_for_status()

    def acts() -> bool:
        settle(api, publish(api, None, event(f"{CANARY}.probe")))
        return bool(api.get("/v1/dispatches", params={"rule": "probe"}).json()["items"])

    wait_until(acts)


def event(event_type: str, payload: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"event_type": event_type, "source": f"{CANARY}-bot", "payload": payload or {}, **more}


def said(content: str, number: int, *, session: str = "s") -> dict[str, Any]:
    payload = {"session_id": f"{CANARY}-{session}", "user_id": f"{CANARY}-ada", "role": "user", "content": content}
    return event("message.added", payload, id=f"{CANARY}-{session}{number}", subject=f"session:{CANARY}-{session}")


def ended(session: str) -> dict[str, Any]:
    return event("session.ended", {"session_id": f"{CANARY}-{session}", "user_id": f"{CANARY}-ada"})


def publish(api: httpx.Client, trace: str | None, *events: Mapping[str, Any]) -> httpx.Response:
    """Publish, and wait for all that follows."""
    answer = post(api, trace, *events)
    settle(api, answer)
    return answer


def post(api: httpx.Client, trace: str | None, *events: Mapping[str, Any]) -> httpx.Response:
    answer = api.post("/v1/events", json=list(events), headers=context(trace) if trace else {})
    return answer.raise_for_status()


def settle(api: httpx.Client, published: httpx.Response) -> None:
    asked = {"token": published.json()["settle_token"], "flush": True, "timeout": 5}
    wait_until(lambda: api.get("/v1/settle", params=asked).json()["settled"])


def send_on_the_bus(broker_url: str) -> None:
    with Connection(broker_url) as connection, connection.Producer(serializer="json") as producer:
        document = event("order.placed", {"note": CANARY}, id=f"{CANARY}-bus")
        producer.publish(document, exchange=EXCHANGE, routing_key=CANARY, headers=context("bus"), declare=[EXCHANGE])


def test_the_request_is_a_child_of_the_callers_span(told: Told) -> None:
    (request,) = told.named("talk", "POST /v1/events")
    assert (request.parent, request.kind, request.service) == (SPAN, "server", "imprint-api")
    assert request.wire.trace_state == "vendor=abc"
    assert request.attributes == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/v1/events",
        "http.response.status_code": 202,
    }


def test_the_trace_goes_from_the_publisher_to_model_memory_and_webhook(told: Told) -> None:
    begin = ["POST /v1/events", "route session.ended", "run memory_consolidator"]
    (asked, *_), (wrote, *_) = told.named("talk", "chat fake-model"), told.named("talk", "write")
    assert told.path(asked) == [*begin, "chat fake-model"]
    posts = {tuple(told.path(span)) for span in told.named("talk", "POST")}
    assert (*begin, "write", "route memory.created", "run webhook_sender", "POST") in posts
    assert wrote.attributes.keys()
    services = {span.service for span in told.of("talk")}
    assert services == {"imprint-api", "imprint-router", "imprint-worker"}


def test_other_services_are_given_the_context_of_the_span_that_calls_them(told: Told) -> None:
    posted = {span.id for span in told.named("talk", "POST")}
    sent = told.hook.got[0].headers
    assert sent["traceparent"] in {f"00-{CALLER['talk']}-{span}-01" for span in posted}
    assert sent["tracestate"] == "vendor=abc"
    asked = {f"00-{CALLER['talk']}-{span.id}-01" for span in told.named("talk", "chat fake-model")}
    assert asked & {headers.get("traceparent", "") for headers in told.model.headers}


def test_a_call_of_a_model_is_told_by_the_conventions(told: Told) -> None:
    asked, *_ = told.named("talk", "chat fake-model")
    assert asked.kind == "client"
    assert (
        asked.attributes.items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "fake-model",
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "server.address": "127.0.0.1",
        }.items()
    )
    assert asked.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert asked.attributes["imprint.prompt"].startswith("extract")


def test_what_fails_is_an_error_of_its_span_by_class_alone(told: Told) -> None:
    (sent,), (run,) = told.named("failing", "POST"), told.named("failing", "run webhook_sender")
    assert sent.failed
    assert sent.attributes.items() >= {"http.response.status_code": 410, "error.type": "Never"}.items()
    assert (run.failed, run.attributes["error.type"]) == (True, "Never")
    (asked,) = (span for span in told.named("broken", "chat fake-model") if span.failed)
    assert asked.attributes.items() >= {"http.response.status_code": 500, "error.type": "InternalServerError"}.items()
    assert all(span.wire.status.message == "" for span in told.spans)
    assert not any(span.wire.events for span in told.spans)


def test_work_on_several_events_links_to_them(told: Told) -> None:
    *first, last = (span.id for span in told.named("talk", "route message.added"))
    (indexed,) = told.named("talk", "gather knowledge_indexer")
    assert (indexed.parent, sorted(indexed.links)) == (last, sorted(first))
    (before,) = told.named("before", "POST /v1/events")
    (gathered,) = told.named("after", "gather extract_while_chatting")
    assert gathered.links == [before.id], "of another trace"
    assert told.path(gathered)[0] == "POST /v1/events"


def test_a_tool_call_and_what_follows_are_in_the_callers_trace(told: Told) -> None:
    assert told.answers["mcp"].is_success, told.answers["mcp"].text
    (call,) = told.named("mcp", "tools/call memory_add")
    assert told.path(call) == ["POST /mcp", "tools/call memory_add"]
    assert call.attributes["gen_ai.tool.name"] == "memory_add"
    assert [told.path(span) for span in told.of("mcp") if span.name.startswith("route ")]


def test_a_message_of_the_bus_continues_its_senders_trace(told: Told) -> None:
    (taken,) = told.named("bus", "process imprint.events")
    assert (taken.parent, taken.kind, taken.service) == (SPAN, "consumer", "imprint-router")
    assert [told.path(span) for span in told.named("bus", "route other")] == [["process imprint.events", "route other"]]


def test_a_refused_request_is_told_without_its_query(told: Told) -> None:
    assert told.answers["refused"].status_code == httpx.codes.UNAUTHORIZED
    (refused,) = told.of("refused")
    assert refused.attributes["http.response.status_code"] == httpx.codes.UNAUTHORIZED
    assert not refused.failed, "the caller's fault is no error of the server"


def test_every_process_says_who_it_is(told: Told) -> None:
    processes = {span.process["service.instance.id"]: span.process for span in told.spans}
    assert len(processes) >= 5, "the API, the router, the clock, and children of both workers"
    names = {process["service.name"] for process in processes.values()}
    assert names == {"imprint-api", "imprint-router", "imprint-worker", "imprint-clock"}
    assert all(process["service.version"] for process in processes.values())


def test_lines_of_the_log_name_their_trace(told: Told) -> None:
    lines = [json.loads(line) for line in told.logs.splitlines() if line.startswith("{")]
    done = [line for line in lines if line.get("event") == "dispatch.done" and "trace_id" in line]
    runs = {(span.trace, span.id) for span in told.spans if span.name == "write"}
    assert done
    assert all((line["trace_id"], line["span_id"]) in runs for line in done)


def test_no_name_and_no_text_that_somebody_chose_is_exported(told: Told) -> None:
    assert told.spans
    assert len(told.bodies) > 10_000
    assert CANARY.encode() not in told.bodies.lower()

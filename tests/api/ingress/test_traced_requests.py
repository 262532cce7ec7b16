from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.config import Settings
from tests.doors import Doors, opened
from tests.samples import event
from tests.spans import CARRIER, PARENT, Recorded, ids, recording


@pytest.fixture
def spans() -> Iterator[Recorded]:
    with recording() as recorded:
        yield recorded


@pytest.fixture
def traced(settings: Settings, spans: Recorded) -> Iterator[Doors]:
    """The door of a process with traces."""
    with opened(settings) as doors:
        yield doors


def test_a_request_continues_the_callers_trace_and_is_named_by_its_route(traced: Doors, spans: Recorded) -> None:
    headers = [("traceparent", PARENT), ("tracestate", "a=b"), ("tracestate", "c=d")]
    key = ("authorization", f"Bearer {traced.keys['acme']}")
    assert traced.client.get("/v1/events/nothing", headers=[*headers, key]).status_code == 404
    span = spans.named("GET /v1/events/{event_id}")
    assert ids(span) == tuple(PARENT.split("-")[1:3])
    assert span.context.trace_state.to_header() == "a=b,c=d"
    assert (span.attributes or {})["http.response.status_code"] == 404
    assert not span.status.description


def test_a_request_without_a_route_has_no_name_of_the_callers(traced: Doors, spans: Recorded) -> None:
    traced.client.request("SMITH", "/v1/patients/smith")
    assert "smith" not in str([(span.name, dict(span.attributes or {})) for span in spans.all()]).lower()
    assert spans.all()[-1].name == "_OTHER"


def test_probes_have_no_spans(traced: Doors, spans: Recorded) -> None:
    assert traced.client.get("/healthz").is_success
    assert spans.all() == ()


def test_an_invalid_context_begins_a_trace(traced: Doors, spans: Recorded) -> None:
    assert traced.post("/v1/events", event(), headers={"traceparent": "00-1"}).is_success
    assert ids(spans.named("POST /v1/events"))[1] == ""


def test_a_door_without_traces_does_not_look_at_contexts(settings: Settings) -> None:
    with opened(settings) as doors, recording() as spans:
        assert doors.post("/v1/events", event(), headers=dict(CARRIER)).is_success
    assert spans.all() == ()

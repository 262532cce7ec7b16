from __future__ import annotations

import pytest

from core.events import trace_context
from tests.rules.samples import an_event
from tests.spans import CARRIER, PARENT, ids, links, recording, traceparent
from workers.routing import event_spans

CALLED = an_event(extensions={trace_context.TRACE: CARRIER})
OTHER = {"traceparent": PARENT.replace("4bf9", "aaaa")}


def test_each_event_of_a_batch_is_decided_in_its_own_trace() -> None:
    with recording() as spans, event_spans.routing([CALLED, an_event(event_type="patient.smith")]) as batch:
        contexts = [trace_context.of(event) for event in batch]
    known, unknown = spans.named("route message.added"), spans.named("route other")
    assert (ids(known)[0], ids(unknown)[1]) == (PARENT.split("-")[1], "")
    assert contexts == [{"traceparent": traceparent(known)}, {"traceparent": traceparent(unknown)}]


def test_a_batch_that_fails_fails_all_its_spans() -> None:
    with recording() as spans, pytest.raises(KeyError), event_spans.routing([CALLED, CALLED]):
        raise KeyError("Ada")
    assert [span.status.is_ok for span in spans.all()] == [False, False]


def test_without_traces_the_batch_is_passed_on() -> None:
    batch = [CALLED]
    with event_spans.routing(batch) as same:
        assert same is batch
    assert event_spans.gathering("gather x", [CALLED, CALLED]) is CALLED


def test_what_acts_on_several_events_links_once_to_each_other_trace() -> None:
    other = trace_context.within(CALLED, OTHER)
    with recording() as spans:
        last = event_spans.gathering("gather x", [other, an_event(), other, CALLED, CALLED])
    span = spans.named("gather x")
    assert (ids(span), links(span)) == (tuple(PARENT.split("-")[1:3]), [OTHER["traceparent"].split("-")[2]])
    assert trace_context.of(last) == {"traceparent": traceparent(span)}
    with recording() as spans:
        assert event_spans.gathering("gather x", [CALLED]) is CALLED
    assert spans.all() == ()

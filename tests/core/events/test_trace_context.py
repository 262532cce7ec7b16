from __future__ import annotations

from core import tracing
from core.events import log, trace_context
from core.events.log import Cause, Emission
from core.storage.db import Database
from tests.rules.samples import an_event
from tests.samples import TENANT, accept, event
from tests.spans import CARRIER, PARENT, recording

OTHER = PARENT.replace("4bf9", "aaaa")


def test_an_event_is_stored_with_the_trace_in_which_it_was_accepted(app: Database) -> None:
    with recording(), tracing.span("request", "server", CARRIER) as span:
        accept(app, event(id="plain"), event(id="own", traceparent=OTHER), event(id="broken", traceparent="00-1"))
        context = span.carrier
    with app.tenant(TENANT) as tx:
        contexts = {name: trace_context.of(log.get(tx, name)) for name in ("plain", "own", "broken")}
    assert contexts == {"plain": context, "own": {"traceparent": OTHER}, "broken": context}


def test_an_emitted_event_is_stored_with_the_trace_of_the_work(app: Database) -> None:
    accept(app, event(id="first"))
    with app.tenant(TENANT) as tx:
        cause = Cause(log.get(tx, "first"))
        with recording(), tracing.span("write") as span:
            log.emit(tx, TENANT, cause, [Emission("order.seen", {})])
            context = span.carrier
        (follower,) = log.followers(tx, cause.event)
    assert trace_context.of(follower) == context


def test_without_traces_nothing_is_added_and_a_publishers_context_is_kept(app: Database) -> None:
    accept(app, event(id="plain"), event(id="own", traceparent=OTHER))
    with app.tenant(TENANT) as tx:
        plain, own = log.get(tx, "plain"), log.get(tx, "own")
    assert (plain.extensions, own.extensions) == (None, {"traceparent": OTHER})


def test_a_repeat_in_another_trace_is_the_same_event(app: Database) -> None:
    accept(app, event(id="once"))
    with recording(), tracing.span("again"):
        assert accept(app, event(id="once")).duplicates == 1


def test_an_event_can_be_put_into_another_context() -> None:
    published = an_event(extensions={"traceparent": OTHER, "partitionkey": "k"})
    routed = trace_context.within(published, CARRIER)
    assert (trace_context.of(published), trace_context.of(routed)) == ({"traceparent": OTHER}, CARRIER)
    assert routed.extensions is not None
    assert routed.extensions["partitionkey"] == "k"
    assert trace_context.within(published, None) is published


def test_traces_name_only_types_of_the_service() -> None:
    assert trace_context.type_name(an_event(event_type="message.added")) == "message.added"
    assert trace_context.type_name(an_event(event_type="patient.smith")) == trace_context.OTHER

from __future__ import annotations

import time
from dataclasses import replace
from uuid import UUID, uuid4

from uuid_utils.compat import uuid7

from tests.factories import a_job
from tests.spans import CARRIER, PARENT, ids, links, recording
from workers.dispatch import attempt_spans


def made(seconds_ago: float) -> UUID:
    """The id of a dispatch that was made then."""
    rest = uuid7().int & ((1 << 80) - 1)
    return UUID(int=int((time.time() - seconds_ago) * 1000) << 80 | rest)


def test_an_attempt_is_a_child_of_what_decided_it() -> None:
    with recording() as spans, attempt_spans.attempt(replace(a_job(), id=made(5), trace=CARRIER)):
        pass
    (span,) = spans.all()
    assert ids(span) == tuple(PARENT.split("-")[1:3])
    assert span.links == ()


def test_an_attempt_hours_later_begins_a_trace_that_links_to_what_decided_it() -> None:
    with recording() as spans, attempt_spans.attempt(replace(a_job(), id=made(7200), trace=CARRIER)):
        pass
    (span,) = spans.all()
    trace, parent = ids(span)
    assert (trace != PARENT.split("-")[1], parent, links(span)) == (True, "", [PARENT.split("-")[2]])


def test_an_attempt_without_a_context_begins_a_trace() -> None:
    with recording() as spans, attempt_spans.attempt(replace(a_job(), id=made(7200), trace=None)):
        pass
    (span,) = spans.all()
    assert (ids(span)[1], links(span)) == ("", [])


def test_the_age_of_a_dispatch_is_in_its_id() -> None:
    assert 4.5 < attempt_spans.age_seconds(made(5)) < 300
    assert attempt_spans.age_seconds(uuid4()) == 0.0

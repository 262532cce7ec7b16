"""Flow control on the time of events, kept from one page to the next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from core.types import Event, Json
from rules.document.schema import Rule, parse
from rules.document.targets import TARGETS
from rules.engine.ruleset import Ruleset
from rules.flow.event_time import EventTimeFlow, Resolved
from tests.rules.samples import a_document

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TYPES = ["order.placed", "order.closed"]
FLOWS: list[Json] = [
    {},
    {"debounce": {"seconds": 60, "flush_on": ["order.closed"], "key": ["payload.user_id"]}},
    {"count": {"threshold": 3, "within_seconds": 300, "key": ["payload.user_id"]}},
    {"debounce": {"seconds": 30, "max_events": 4}, "cooldown": {"seconds": 120}},
    {"count": {"threshold": 2}, "throttle": {"limit": 1, "per_seconds": 200}},
]


def rules() -> list[Rule]:
    return [parse(a_document(name=f"r{n}", event_type=TYPES, flow=flow), TARGETS) for n, flow in enumerate(FLOWS)]


def an_event(seq: int, seconds: int, *, user: str = "ada", event_type: str = "order.placed") -> Event:
    at = NOON + timedelta(seconds=seconds)
    return Event(seq, "acme", f"e{seq}", "test", event_type, None, at, {"user_id": user}, user_id=user)


def run(known: Ruleset, events: Sequence[Event], *, saves: bool) -> list[Resolved]:
    """All that the events resolve; with `saves` the state goes through JSON after each of them."""
    flow, found = EventTimeFlow(rules()), list[Resolved]()
    for event in events:
        found += flow.before(event)
        found += flow.meet(event, known.decide(event), known.flushed_by(event)).resolved
        if saves:
            flow = EventTimeFlow(rules(), json.loads(json.dumps(flow.saved())))
    return found + flow.close()


@given(
    st.lists(
        st.tuples(st.integers(0, 90), st.sampled_from(["ada", "bob"]), st.sampled_from(TYPES)),
        max_size=25,
    )
)
def test_a_state_that_was_saved_goes_on_as_if_it_had_not(came: list[tuple[int, str, str]]) -> None:
    events, seconds = list[Event](), 0
    for seq, (pause, user, event_type) in enumerate(came, 1):
        seconds += pause
        events.append(an_event(seq, seconds, user=user, event_type=event_type))
    known = Ruleset([(rule, 1) for rule in rules()])
    assert run(known, events, saves=True) == run(known, events, saves=False)


def test_an_event_that_came_late_does_not_set_the_clock_back() -> None:
    known = Ruleset([(rules()[3], 1)])
    flow = EventTimeFlow([rules()[3]])
    for event in (an_event(1, 100), an_event(2, 0)):
        assert flow.before(event) == []
        assert flow.meet(event, known.decide(event), ()).gathered == ["r3"]
    [resolved] = flow.close()
    assert (resolved.outcome.seqs, resolved.outcome.at) == ((1, 2), NOON + timedelta(seconds=130))


def test_without_events_nothing_is_resolved() -> None:
    flow = EventTimeFlow(rules())
    assert flow.close() == []
    assert EventTimeFlow(rules(), flow.saved()).close() == []


def test_a_saved_state_names_nobody() -> None:
    known = Ruleset([(rule, 1) for rule in rules()])
    flow = EventTimeFlow(rules())
    event = an_event(1, 0, user="somebody")
    flow.before(event)
    flow.meet(event, known.decide(event), ())
    saved = json.dumps(flow.saved())
    assert "r1" in saved
    assert "somebody" not in saved

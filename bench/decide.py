"""Decisions a second on one core: `python bench/decide.py [seconds a figure]`.

Rules are `payload.message_count >= k and payload.role in [3 of 20]` on one event type, events have about 1,000
bytes. `with flow` gives every rule a cooldown by user, so that each verdict has a key of its own.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime
from time import perf_counter

from core.types import Event, Json
from rules.ruleset import Ruleset
from rules.schema import Rule, parse

ROLES = [f"role{place}" for place in range(20)]
EVENTS = 2_000


def main() -> None:
    """Prints a row for each number of rules."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"event of {len(json.dumps(event(random.Random(1), 1).payload))} bytes, {EVENTS:,} different ones")
    print(f"{'rules':>6} {'kind':>10} {'events/s':>12} {'matches/event':>14} {'parse ms':>9} {'compile ms':>11}")
    for flow in ({}, {"flow": {"cooldown": {"seconds": 60, "key": ["payload.user_id"]}}}):
        for count in (1, 10, 100, 1_000, 3_000):
            measure(count, flow, seconds)


def measure(count: int, flow: Json, seconds: float) -> None:
    """Prints the figures for `count` rules."""
    chance = random.Random(7)
    start = perf_counter()
    rules = [rule(chance, place, flow) for place in range(count)]
    parsed = perf_counter()
    events = [event(chance, place) for place in range(EVENTS)]
    built = perf_counter()
    ruleset = Ruleset([(each, 1) for each in rules])
    ruleset.decide(events[0])
    compiled = perf_counter()
    rate, matches = decide(ruleset, events, seconds)
    print(
        f"{count:>6} {'with flow' if flow else 'plain':>10} {rate:>12,.0f} {matches:>14.1f}"
        f" {1e3 * (parsed - start):>9.1f} {1e3 * (compiled - built):>11.1f}"
    )


def decide(ruleset: Ruleset, events: list[Event], seconds: float) -> tuple[float, float]:
    """Events a second over at least `seconds`, and the mean number of verdicts."""
    done = matched = 0
    start = perf_counter()
    while perf_counter() - start < seconds:
        for each in events:
            matched += len(ruleset.decide(each))
        done += len(events)
    return done / (perf_counter() - start), matched / done


def rule(chance: random.Random, place: int, flow: Json) -> Rule:
    """One rule of the two comparisons."""
    leaves = [
        {"field": "payload.message_count", "op": ">=", "value": chance.randint(1, 1_000)},
        {"field": "payload.role", "op": "in", "value": chance.sample(ROLES, 3)},
    ]
    actions = [{"action_type": "run_agent", "target": "memory_consolidator"}]
    document = {"name": f"rule{place}", "event_type": "message.added", "conditions": {"all": leaves}}
    return parse({**document, "actions": actions, **flow})


def event(chance: random.Random, place: int) -> Event:
    """One event of about 1,000 bytes."""
    payload: Json = {
        "session_id": f"s{place % 97}",
        "user_id": f"u{place % 31}",
        "role": chance.choice(ROLES),
        "message_count": chance.randint(0, 1_000),
        "content": "What was said, at some length. " * 29,
    }
    now = datetime(2026, 11, 21, 10, tzinfo=UTC)
    return Event(place, "t", f"e{place}", "bench", "message.added", None, now, payload, payload["session_id"])


if __name__ == "__main__":
    main()

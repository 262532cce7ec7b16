"""Decisions a second on one core: `python -m bench.decide [--seconds 1] [--svg FILE]`.

Rules are `payload.message_count >= k and payload.role in [3 of 20]` on one event type, events have about 1,000
bytes. `with flow` gives every rule a cooldown by user, so that each verdict has a key. Seconds are the processor's,
so that other work on the machine does not count; the figure is the median of five rounds.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench import arguments
from core.types import Event, Json
from rules.document.schema import Rule, parse
from rules.engine.ruleset import Ruleset

ROLES = [f"role{number}" for number in range(20)]
EVENTS = 2_000
COUNTS = (1, 3, 10, 30, 100, 300, 1_000, 3_000)
ROUNDS = 5
KINDS: dict[str, Json] = {
    "plain": {},
    "with flow": {"flow": {"cooldown": {"seconds": 60, "key": ["payload.user_id"]}}},
}
FLOORS = {10: 200_000, 1_000: 20_000}
"""Decisions a second that are asked for, by number of rules."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Measurements of one number of rules of one kind."""

    kind: str
    rules: int
    rate: float
    matches: float
    parse_ms: float
    compile_ms: float


def main() -> None:
    """Prints a row for each number of rules, and draws the curve if asked to."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds for each figure")
    parser.add_argument("--svg", type=Path, help="where to draw the cost against the number of rules")
    options = parser.parse_args()
    print(f"event of {len(json.dumps(event(random.Random(1), 1).payload))} bytes, {EVENTS:,} different ones")
    print(f"{'rules':>6} {'kind':>10} {'events/s':>12} {'matches/event':>14} {'parse ms':>9} {'compile ms':>11}")
    figures = [measure(kind, count, options.seconds) for kind in KINDS for count in COUNTS]
    if options.svg:
        options.svg.parent.mkdir(parents=True, exist_ok=True)
        options.svg.write_text(drawn(figures), encoding="utf-8")


def measure(kind: str, count: int, seconds: float) -> Figure:
    """The figures for `count` rules, printed as they come."""
    chance = random.Random(7)
    documents = [document(chance, number, KINDS[kind]) for number in range(count)]
    events = [event(chance, number) for number in range(EVENTS)]
    start = process_time()
    rules = [parse(each) for each in documents]
    parsed = process_time()
    ruleset = Ruleset([(each, 1) for each in rules])
    ruleset.decide(events[0])
    compiled = process_time()
    rate = rates([lambda: decide_all(ruleset, events)], EVENTS, seconds)[0]
    matches = sum(len(ruleset.decide(each)) for each in events) / EVENTS
    figure = Figure(kind, count, rate, matches, 1e3 * (parsed - start), 1e3 * (compiled - parsed))
    print(
        f"{count:>6} {kind:>10} {rate:>12,.0f} {matches:>14.1f} {figure.parse_ms:>9.1f} {figure.compile_ms:>11.1f}",
        flush=True,
    )
    return figure


def decide_all(ruleset: Ruleset, events: Sequence[Event]) -> None:
    """Decides on each event and forgets the verdicts, as a router does that goes from event to event."""
    decide = ruleset.decide
    for each in events:
        decide(each)


def rates(contenders: Sequence[Callable[[], Any]], events: int, seconds: float) -> list[float]:
    """Events a second for each contender, which works `events` a call: the median of rounds that take turns."""
    speeds: list[list[float]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        for index, work in enumerate(contenders):
            calls, start = 0, process_time()
            while process_time() - start < seconds / ROUNDS:
                work()
                calls += 1
            speeds[index].append(calls * events / (process_time() - start))
    return [median(each) for each in speeds]


def rule(chance: random.Random, number: int, more: Json) -> Rule:
    """One rule of the two comparisons."""
    return parse(document(chance, number, more))


def document(chance: random.Random, number: int, more: Json) -> Json:
    """The document of one rule of the two comparisons."""
    leaves = [
        {"field": "payload.message_count", "op": ">=", "value": chance.randint(1, 1_000)},
        {"field": "payload.role", "op": "in", "value": chance.sample(ROLES, 3)},
    ]
    actions = [{"action_type": "run_agent", "target": "memory_consolidator"}]
    fields = {"name": f"rule{number:04}", "event_type": "message.added", "conditions": {"all": leaves}}
    return {**fields, "actions": actions, **more}


def event(chance: random.Random, number: int) -> Event:
    """One event of about 1,000 bytes."""
    payload: Json = {
        "session_id": f"s{number % 97}",
        "user_id": f"u{number % 31}",
        "role": chance.choice(ROLES),
        "message_count": chance.randint(0, 1_000),
        "content": "What was said, at some length. " * 29,
    }
    now = datetime(2026, 11, 21, 10, tzinfo=UTC)
    return Event(number, "t", f"e{number}", "bench", "message.added", None, now, payload, payload["session_id"])


WIDTH, HEIGHT, LEFT, TOP = 640, 400, 70, 30
COLOURS = {"plain": "#1f6f8b", "with flow": "#c8553d"}
STYLE = "text{font:12px sans-serif;fill:#333}line{stroke:#ddd}polyline{fill:none;stroke-width:2}"


def drawn(figures: Sequence[Figure]) -> str:
    """Decisions a second against the number of rules, both by powers of ten, as SVG."""
    grid = [_row(10**power) for power in range(3, 8)] + [_column(count) for count in (1, 10, 100, 1_000)]
    floors = [
        f'<circle cx="{_x(n):.0f}" cy="{_y(rate):.0f}" r="5" fill="none" stroke="#888"/>' for n, rate in FLOORS.items()
    ]
    curves = [_curve(kind, [f for f in figures if f.kind == kind]) for kind in KINDS]
    legend = f'<text x="{LEFT}" y="18">events decided a second, by number of rules on their type (○: asked for)</text>'
    body = "\n".join([legend, *grid, *floors, *curves])
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    page = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n<style>{STYLE}</style>\n{page}\n{body}\n</svg>\n'


def _x(rules: float) -> float:
    return LEFT + math.log10(rules) / 3.6 * (WIDTH - LEFT - 90)


def _y(rate: float) -> float:
    return TOP + (7 - math.log10(rate)) / 4 * (HEIGHT - TOP - 30)


def _row(rate: int) -> str:
    y = _y(rate)
    label = f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{rate:,}</text>'
    return f'<line x1="{LEFT}" x2="{WIDTH - 60}" y1="{y:.0f}" y2="{y:.0f}"/>{label}'


def _column(rules: int) -> str:
    x = _x(rules)
    label = f'<text x="{x:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{rules:,}</text>'
    return f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{TOP}" y2="{HEIGHT - 28}"/>{label}'


def _curve(kind: str, figures: Sequence[Figure]) -> str:
    points = " ".join(f"{_x(f.rules):.0f},{_y(f.rate):.0f}" for f in figures)
    last = figures[-1]
    name = f'<text x="{_x(last.rules) + 6:.0f}" y="{_y(last.rate) + 4:.0f}">{kind}</text>'
    return f'<polyline points="{points}" stroke="{COLOURS[kind]}"/>{name}'


if __name__ == "__main__":
    main()

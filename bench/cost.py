"""Whether the bound of a rule's cost holds: `python -m bench.cost [bytes of the event]`.

Each row is a rule made to be expensive with the event that is most expensive for it. `units` is what
`rules.engine.cost` says for that size of event, `us` what deciding takes, and the last column must stay below what its
docstring says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from bench import arguments
from core.types import Event, Json
from rules.document.schema import parse
from rules.engine.cost import EVENT_BYTES, upper_bound
from rules.engine.ruleset import Ruleset

ROUNDS = 5
TIME = "2026-11-21T10:00:00.123456Z"


def main() -> None:
    """Prints a row a case, the dearest unit last."""
    parser = arguments.parser(__doc__)
    parser.add_argument("size", nargs="?", type=int, default=EVENT_BYTES, help="bytes of the event")
    size = parser.parse_args().size
    print(f"{'case':44} {'units':>11} {'us':>11} {'us/unit':>8}")
    worst = 0.0
    for name, leaves, payload in cases(size):
        rule = parse({"name": "r", "event_type": "x", "conditions": {"any": leaves}, "actions": [NOTE]})
        units = upper_bound(rule).units * size / EVENT_BYTES
        microseconds = 1e6 * seconds(Ruleset([(rule, 1)]), event(payload))
        worst = max(worst, microseconds / units)
        print(f"{name:44} {units:>11,.0f} {microseconds:>11,.1f} {microseconds / units:>8.4f}")
    print(f"{'the dearest unit':44} {'':>11} {'':>11} {worst:>8.4f}")


NOTE = {"action_type": "notify", "channel": "log", "template": "x"}


def seconds(rules: Ruleset, each: Event) -> float:
    """The fastest of a few decisions; the others were disturbed."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        rules.decide(each)
        times.append(perf_counter() - start)
    return min(times)


def event(payload: Json) -> Event:
    return Event(1, "acme", "e1", "bench", "x", None, datetime(2026, 11, 21, tzinfo=UTC), payload)


def cases(size: int) -> Iterator[tuple[str, list[Json], Json]]:
    """Comparisons and the payload that makes each dear: every leaf is false, so all are tried."""
    yield from plain()
    yield from texts(size)
    yield from lists(size)
    yield from references(size)


def leaf(op: str, value: Any, path: str = "payload.a") -> Json:
    return {"field": path, "op": op, "value": value}


def plain() -> Iterator[tuple[str, list[Json], Json]]:
    yield "200 numbers", [leaf("<", -number) for number in range(200)], {"a": 1}
    yield "200 unequal numbers", [leaf("!=", 1)] * 200, {"a": 1}
    yield "200 paths of 16 steps", [leaf("!=", 1, "payload" + ".a" * 16)] * 200, nested(16)
    yield "200 times", [leaf("<", "2020-01-01T00:00:00Z")] * 200, {"a": TIME}
    yield "200 ages", [leaf("older_than", "700w")] * 200, {"a": TIME}
    yield "10 lists of 1,000 values", [leaf("in", [f"v{number}" for number in range(1_000)])] * 10, {"a": "w"}
    yield "10 lists of 1,000 mixed values", [leaf("in", [1, *map(str, range(2, 1_001))])] * 10, {"a": 0}
    equal = [str(number) for number in range(1_000)]
    yield "5 equal lists but for the last", [leaf("==", equal)] * 5, {"a": [*equal[:-1], "x"]}


def texts(size: int) -> Iterator[tuple[str, list[Json], Json]]:
    chance = random.Random(7)
    same, mixed = "a" * size, "".join(chance.choices("ab", k=size))
    yield "20 texts in a text", [leaf("contains", "a" * 1_000 + "b" + "a" * 1_000)] * 20, {"a": same}
    yield (
        "1,000 texts in a text",
        [leaf("contains_any", ["a" * 20 + f"b{number}" for number in range(1_000)])],
        {"a": same},
    )
    yield "20 texts of another case", [leaf("iequals", "b")] * 20, {"a": "\u1f82" * (size // 3)}
    yield "200 small expressions", [leaf("matches", "[ab]*a[ab]{9}c")] * 200, {"a": mixed}
    yield "200 expressions of words", [leaf("matches", "(?i)cancel|refund|broken|late|damaged")] * 200, {"a": mixed}
    expression = "|".join("".join(chance.choices("ab", k=9)) + "c" for _ in range(90))
    yield "20 expressions of 90 words", [leaf("matches", expression)] * 20, {"a": mixed}
    yield "20 expressions that branch", [leaf("matches", "[ab]*a[ab]{20}c")] * 20, {"a": mixed}
    yield "2 long expressions that branch", [leaf("matches", "[ab]*a[ab]{400}c")] * 2, {"a": mixed}
    yield "2 expressions of empty turns", [leaf("matches", "(?:a?){300}a{300}c")] * 2, {"a": same}
    yield "20 wildcards", [leaf("wildcard", "*a" + "?" * 20 + "c")] * 20, {"a": mixed}


def lists(size: int) -> Iterator[tuple[str, list[Json], Json]]:
    ones, texts = [1] * (size // 2), ["a"] * (size // 4)
    empty: list[Json] = [{}] * (size // 3)
    yield "an item among objects", [leaf("contains", 2)] * 5, {"a": empty}
    yield "any_of over numbers", [leaf("any_of", leaf("==", 2, "item"))] * 5, {"a": ones}
    group = {"any": [leaf("==", value, "item") for value in range(2, 42)]}
    yield "any_of over numbers, 40 comparisons", [leaf("any_of", group)], {"a": ones}
    yield "any_of over texts, an expression", [leaf("any_of", leaf("matches", "b$", "item"))] * 5, {"a": texts}
    yield "any_of over texts, another case", [leaf("any_of", leaf("iequals", "b", "item"))] * 5, {"a": texts}
    many = leaf("contains_any", [f"b{number}" for number in range(40)], "item")
    yield "any_of over texts, 40 pieces", [leaf("any_of", many)], {"a": texts}
    deep = leaf("any_of", leaf("any_of", leaf("==", 2, "item"), "item"))
    yield "any_of within any_of", [deep] * 5, {"a": [[1]] * (size // 4)}


def references(size: int) -> Iterator[tuple[str, list[Json], Json]]:
    other = {"field": "payload.b"}
    yield "200 numbers of the event", [leaf("<", other)] * 200, {"a": 1, "b": 0}
    yield "200 times of the event", [leaf("<", other)] * 200, {"a": TIME, "b": "2020-01-01T00:00:00Z"}
    lists: list[list[int]] = [[]] * (size // 6)
    yield "2 unequal lists of lists", [leaf("!=", other)] * 2, {"a": lists, "b": lists}
    yield "2 lists to look in", [leaf("in", other)] * 2, {"a": 2, "b": [1] * (size // 2)}
    yield "2 lists that share nothing", [leaf("contains_any", other)] * 2, {"a": lists, "b": [0] * (size // 4)}


def nested(depth: int) -> Json:
    payload: Any = 1
    for _ in range(depth):
        payload = {"a": payload}
    return dict(payload)


if __name__ == "__main__":
    main()

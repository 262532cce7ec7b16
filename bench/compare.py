"""Imprint beside zen-engine and datalogic-py on the same rules and events: `python -m bench.compare [--seconds 1]`.

Rules are `payload.message_count >= k and payload.role in [3 of 20]`, events have about 1,000 bytes and come as Python
objects, as from a queue; each library converts them as its fastest way needs, within the measured time. Rules are
compiled beforehand. All must name the same rules for every event. Every library is used in several ways:

- `apart`: each rule compiled for itself, so that one can be edited, named and ordered, as the rules of Imprint can;
- `fused`: all rules written by hand into one expression that answers a list of booleans, the fastest there is.

Beside them stand the other ways in which Imprint itself could decide: see
docs/decisions/0006-conditions-use-an-inverted-index.md.

A figure is the median of five rounds in which all take turns, in seconds of the processor.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import datalogic_py
import zen

from bench import arguments
from bench.decide import decide_all, document, event, rates
from core.types import Event, Json
from rules.document.schema import parse
from rules.engine.conditions import compile_conditions
from rules.engine.ruleset import Ruleset
from rules.expressions.facts import Facts

EVENTS = 200
COUNTS = (10, 1_000)
GOALS = {"zen-engine": 10, "datalogic-py": 5}
"""How many times as fast as each Imprint is asked to be."""

Bounds = Sequence[tuple[int, Sequence[str]]]
"""Of each rule the least count and the roles."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A way of deciding: `met` names the rules an event meets, `work` decides on all events and names nothing."""

    library: str
    way: str
    met: Callable[[Event], list[int]]
    work: Callable[[], Any]


def main() -> None:
    """Prints a row for each contender and, below, how they compare."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds for each figure")
    seconds = parser.parse_args().seconds
    for count in COUNTS:
        compare(count, seconds)


def compare(count: int, seconds: float) -> None:
    """Prints the figures for `count` rules."""
    chance = random.Random(7)
    documents = [document(chance, number, {}) for number in range(count)]
    events = [event(chance, number) for number in range(EVENTS)]
    contenders = [
        imprint(documents, events),
        *alternatives(documents, events),
        *zens(documents, events),
        *datalogics(documents, events),
    ]
    agree(contenders, events)
    speeds = dict(zip(contenders, rates([each.work for each in contenders], EVENTS, seconds), strict=True))
    print(f"\n{count:,} rules, {EVENTS} events; every contender names the same rules for each")
    for each, rate in speeds.items():
        name, times = f"{each.library:>13} {version_of(each.library):>5}", speeds[contenders[0]] / rate
        print(f"{name}  {each.way:<48} {rate:>11,.0f} events/s {times:>8.1f} ×")
    for library, goal in GOALS.items():
        apart, fused = (best(speeds, library, way) for way in ("apart", "fused"))
        ours = speeds[contenders[0]]
        print(f"Imprint is {ours / apart:.1f} × {library} with rules apart (asked: {goal}), {ours / fused:.1f} × fused")


def best(speeds: dict[Contender, float], library: str, way: str) -> float:
    """The fastest of a library's ways of one sort."""
    return max(rate for each, rate in speeds.items() if each.library == library and each.way.startswith(way))


def version_of(library: str) -> str:
    """Version of a library that was measured."""
    return version(library) if library in GOALS else ""


def agree(contenders: Sequence[Contender], events: Sequence[Event]) -> None:
    """Refuses to measure what does not decide alike."""
    for each in events:
        expected = contenders[0].met(each)
        for other in contenders[1:]:
            matched = other.met(each)
            if matched != expected:
                raise AssertionError(f"{other.library} ({other.way}) met {matched}, Imprint {expected} on {each.id}")


def imprint(documents: Sequence[Json], events: Sequence[Event]) -> Contender:
    """The rules behind their index; what comes back are verdicts."""
    ruleset = Ruleset([(parse(each), 1) for each in documents])
    return Contender(
        "imprint",
        "verdicts, in order",
        lambda event: [int(verdict.name.removeprefix("rule")) for verdict in ruleset.decide(event)],
        partial(decide_all, ruleset, events),
    )


def alternatives(documents: Sequence[Json], events: Sequence[Event]) -> list[Contender]:
    """Contenders of the index: the conditions without it, generated code, and reading the document."""
    predicates = [compile_conditions(parse(each).conditions) for each in documents]
    trees = [each["conditions"] for each in documents]
    generated = generated_code(bounds_of(documents))

    def of_closures(event: Event) -> list[bool]:
        facts = Facts(event)
        return [holds(facts) for holds in predicates]

    def of_trees(event: Event) -> list[bool]:
        return [interpret(tree, event.payload) for tree in trees]

    return [
        contender("(python)", "generated code, no index", generated, list, events),
        contender("(python)", "a closure a rule, no index", of_closures, places, events),
        contender("(python)", "reading the document", of_trees, places, events),
    ]


def generated_code(bounds: Bounds) -> Callable[[Event], list[int]]:
    """One function for all rules: each field read and its type looked at once, then a line a rule over constants."""
    names: Json = {"number": (int, float)}
    lines = [
        "def decide(event):",
        "    read, met = event.payload.get, []",
        "    count, role = read('message_count'), read('role')",
        "    if not isinstance(count, number) or isinstance(count, bool) or not isinstance(role, str):",
        "        return met",
    ]
    for index, (least, roles) in enumerate(bounds):
        names[f"least{index}"], names[f"roles{index}"] = least, frozenset(roles)
        lines.append(f"    if count >= least{index} and role in roles{index}: met.append({index})")
    exec("\n".join([*lines, "    return met"]), names)  # noqa: S102 - to be measured; it holds no text of a rule
    decide: Callable[[Event], list[int]] = names["decide"]
    return decide


def interpret(tree: Json, payload: Json) -> bool:
    """The two comparisons of these rules, read from the document each time."""
    if "all" in tree:
        return all(interpret(node, payload) for node in tree["all"])
    actual, expected = payload.get(tree["field"].removeprefix("payload.")), tree["value"]
    if tree["op"] == "in":
        return actual in expected
    return type(actual) in {int, float} and bool(actual >= expected)


def bounds_of(documents: Sequence[Json]) -> Bounds:
    """Values that the rules compare with, read from their documents."""
    leaves = [each["conditions"]["all"] for each in documents]
    return [(count["value"], role["value"]) for count, role in leaves]


def zens(documents: Sequence[Json], events: Sequence[Event]) -> list[Contender]:
    """zen-engine as a decision table, as an expression a rule (text is its fastest context), and as one expression."""
    texts = [f"message_count >= {least} and role in {json.dumps(roles)}" for least, roles in bounds_of(documents)]
    each_alone = [zen.compile_expression(text) for text in texts]
    all_in_one = zen.compile_expression(f"[{', '.join(texts)}]")
    content = zen.ZenDecisionContent(json.dumps(decision_table(bounds_of(documents))))
    table = zen.ZenEngine().create_decision(content)

    def of_table(event: Event) -> list[Json]:
        return list[Json](table.evaluate(event.payload)["result"])

    def of_each(event: Event) -> list[bool]:
        context = json.dumps(event.payload)
        return [expression.evaluate(context) for expression in each_alone]

    def of_one(event: Event) -> list[bool]:
        results: list[bool] = all_in_one.evaluate(event.payload)
        return results

    return [
        contender("zen-engine", "apart: a decision table", of_table, rows_of, events),
        contender("zen-engine", "apart: an expression a rule", of_each, places, events),
        contender("zen-engine", "fused: one expression", of_one, places, events),
    ]


def rows_of(answer: list[Json]) -> list[int]:
    """The rules that a decision table answers."""
    return [int(row["rule"]) for row in answer]


def decision_table(bounds: Bounds) -> Json:
    """The rules as a decision table that collects all rows that apply."""
    rows = [
        {"_id": str(index), "least": f">= {least}", "roles": ", ".join(map(json.dumps, roles)), "rule": str(index)}
        for index, (least, roles) in enumerate(bounds)
    ]
    table = {
        "hitPolicy": "collect",
        "inputs": [
            {"id": "least", "name": "least", "field": "message_count"},
            {"id": "roles", "name": "roles", "field": "role"},
        ],
        "outputs": [{"id": "rule", "name": "rule", "field": "rule"}],
        "rules": rows,
    }
    nodes = [
        {"id": "in", "type": "inputNode", "name": "in"},
        {"id": "table", "type": "decisionTableNode", "name": "table", "content": table},
        {"id": "out", "type": "outputNode", "name": "out"},
    ]
    edges = [
        {"id": "1", "sourceId": "in", "targetId": "table", "type": "edge"},
        {"id": "2", "sourceId": "table", "targetId": "out", "type": "edge"},
    ]
    return {"nodes": nodes, "edges": edges}


def datalogics(documents: Sequence[Json], events: Sequence[Event]) -> list[Contender]:
    """datalogic-py a rule at a time, many rules a call, and as one list; the event is handed over once each time."""
    logic = [
        {"and": [{">=": [{"var": "message_count"}, least]}, {"in": [{"var": "role"}, list(roles)]}]}
        for least, roles in bounds_of(documents)
    ]
    engine = datalogic_py.Engine()
    session, each_alone, all_in_one = engine.session(), [engine.compile(each) for each in logic], engine.compile(logic)

    def of_each(event: Event) -> list[bool]:
        return [session.evaluate(compiled, event.payload) for compiled in each_alone]

    def of_many(event: Event) -> list[Any]:
        return session.evaluate_many(each_alone, datalogic_py.DataHandle(event.payload))

    def of_one(event: Event) -> list[bool]:
        results: list[bool] = session.evaluate_data(all_in_one, datalogic_py.DataHandle(event.payload))
        return results

    return [
        contender("datalogic-py", "apart: a call a rule", of_each, places, events),
        contender(
            "datalogic-py",
            "apart: evaluate_many, the event handed over once",
            of_many,
            lambda answers: places(answer == "true" for answer in answers),
            events,
        ),
        contender("datalogic-py", "fused: one list of all rules", of_one, places, events),
    ]


def contender(
    library: str,
    way: str,
    decide: Callable[[Event], Any],
    read: Callable[[Any], list[int]],
    events: Sequence[Event],
) -> Contender:
    """A library's way of deciding; `read` makes rules of its answer and is not measured."""

    def work() -> None:
        for each in events:
            decide(each)

    return Contender(library, way, lambda event: read(decide(event)), work)


def places(answers: Any) -> list[int]:
    """Positions of the answers that say yes."""
    return [index for index, answer in enumerate(answers) if answer]


if __name__ == "__main__":
    main()

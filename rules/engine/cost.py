"""Worst-case cost of a rule, known before it takes effect: the comparisons that one event can cause.

One unit is one cheap comparison, such as `payload.n < 3`. The bound is for an event of 4 KiB crafted to be as
expensive as possible; it grows proportionally with the size, to 64 times as much for the largest event by default.

    python -m bench.cost

measures the hostile cases: a unit took at most 0.25 microseconds (0.06 to 0.2 for most), so a rule at the default
limit of 100,000 units takes at most 25 ms for a 4 KiB event. Usual rules are a thousand times below that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import re2

from core.types import Json
from rules.document import condition_tree
from rules.document.condition_tree import Group, Leaf, Reference
from rules.document.schema import Rule
from rules.engine.conditions import MAX_MEANT, Node, names_looked_up
from rules.expressions.paths import parse_path
from rules.expressions.times import as_time

EVENT_BYTES: Final = 4_096
"""Event size of the bound: several times the usual one."""

ITEMS: Final = EVENT_BYTES // 2
"""Maximum items of all lists in it at any depth: the shortest is one digit and a comma."""

LOOKUP: Final = 1_000
"""Units of a looked-up name: one database query, shared by a batch."""

MEANING: Final = 500
"""Units of a text to embed. It takes longer, but no transaction waits for it, and equal texts are embedded once."""

TEMPLATE: Final = 400
"""Units of a template, which may copy the whole event into an action: through JSON and into the database."""

KEY: Final = 50
"""Units of a field of a flow's key, which may be the whole event as JSON."""

SCAN: Final = 350
"""Units of searching all of the event's text for a text."""

FOLD: Final = 450
"""Units of case-folding all of the event's text."""

SPREAD: Final = 4_000
"""Units of making all values of the event comparable, as `contains` does with the items of a list."""

SMALL: Final = 16
"""Maximum instructions of an expression whose automaton has few states for any text; a larger one may have to be
simulated instruction by instruction for every character.
"""

STEPS: Final = 200
"""Units of one instruction of an expression over all of the event's text."""

DEAREST: Final = 3
"""Number of most expensive parts named when a rule is refused."""

_LITERAL = re.compile(r"(?:\(\?i\))?(?:[^\\\[.*+?{]|\\[^dDwWsSpPCxQ0-9]|\(\?:)*")
"""Expressions of only words and alternatives, whose automata are as small as they are."""


class CostPart(NamedTuple):
    """Cost of one comparison: `each` time, and `once` per event for all of the text or values it reads."""

    pointer: str
    op: str
    each: int
    once: int
    meanings: int = 0

    @property
    def units(self) -> int:
        return self.each + self.once


@dataclass(frozen=True, slots=True)
class Cost:
    """Upper bound of the cost of one event: `units` is the sum; `parts` are the comparisons, most expensive first."""

    comparisons: int
    lookups: int
    meanings: int
    units: int
    parts: tuple[CostPart, ...]

    def as_json(self, limit: int) -> Json:
        """Return the cost as shown to people."""
        return {
            "units": self.units,
            "limit": limit,
            "comparisons": self.comparisons,
            "lookups": self.lookups,
            "meanings": self.meanings,
        }

    def dearest(self) -> str:
        """Describe the most expensive comparisons with their places."""
        return ", ".join(f"{part.pointer} (`{part.op}`) {part.units:,}" for part in self.parts[:DEAREST])


def upper_bound(rule: Rule) -> Cost:
    """Return the rule's worst-case cost for one event of 4 KiB, flows and actions included."""
    tree = rule.conditions
    parts = [] if tree is None else list(_parts(tree, "/conditions"))
    lookups = 0 if tree is None else len(names_looked_up(tree))
    meanings = sum(part.meanings for part in parts)
    keys = sum(len(part.key or ["session"]) for part in rule.flow.parts().values())
    templates = sum(_templates_in(action.model_dump()) for action in rule.actions)
    comparisons = sum(part.units for part in parts) + KEY * keys + TEMPLATE * templates
    units = comparisons + LOOKUP * lookups + MEANING * meanings
    dearest = sorted(parts, key=lambda part: -(part.units + MEANING * part.meanings))
    return Cost(comparisons, lookups, meanings, units, tuple(dearest))


def _templates_in(value: Any) -> int:
    if isinstance(value, str):
        return value.count("{{")
    if isinstance(value, dict | list):
        return sum(map(_templates_in, value.values() if isinstance(value, dict) else value))
    return 0


def _parts(node: Node, pointer: str) -> Iterator[CostPart]:
    for at, leaf in condition_tree.leaves(node, pointer):
        yield _quantifier_cost(leaf, at) if isinstance(leaf.value, Leaf | Group) else _comparison_cost(leaf, at)


def _quantifier_cost(leaf: Leaf, pointer: str) -> CostPart:
    """Return the cost of a condition on each item; items of nested lists together fit into the event."""
    inner = list(_parts(leaf.value, f"{pointer}/value")) if isinstance(leaf.value, Leaf | Group) else []
    every = 1 + sum(part.each for part in inner)
    meanings = min(1, sum(part.meanings for part in inner)) * MAX_MEANT
    return CostPart(pointer, leaf.op, 1, ITEMS * every + sum(part.once for part in inner), meanings)


def _comparison_cost(leaf: Leaf, pointer: str) -> CostPart:
    each, once = _read_from_event(leaf) if isinstance(leaf.value, Reference) else _literal(leaf.op, leaf.value)
    steps = len(parse_path(leaf.field).steps)
    return CostPart(pointer, leaf.op, each + steps // 4, once, int(leaf.op == "means"))


def _read_from_event(leaf: Leaf) -> tuple[int, int]:
    """Return the cost if both sides come from the event, so that the value is prepared for each event."""
    if leaf.op in {"==", "!=", "in", "not_in", "contains", "not_contains", "contains_any", "contains_all"}:
        return 10, 2 * SPREAD
    return (10, FOLD) if leaf.op == "iequals" else (10, 0)


def _literal(op: str, value: Any) -> tuple[int, int]:
    """Return the cost of comparing with a literal: each time, and once for everything it reads."""
    values = value if isinstance(value, list) else [value]
    size = len(values)
    each = _EACH.get(op, 6 if any(as_time(item) is not None for item in values) else 3)
    if op in {"==", "!=", "contains_any", "contains_all"}:
        each += size
    return each, _fixed_cost(op, value, size)


_EACH: Final = {
    **dict.fromkeys(("==", "!=", "contains", "not_contains", "contains_any", "contains_all", "iequals"), 5),
    **dict.fromkeys(("older_than", "newer_than", "between", "matches", "wildcard"), 8),
}


def _fixed_cost(op: str, value: Any, size: int) -> int:
    if op in {"contains", "not_contains"}:
        return SPREAD
    if op in {"contains_any", "contains_all"}:
        return SPREAD + SCAN * size
    if op in {"matches", "wildcard"}:
        return _search(str(value), _program(str(value)) if op == "matches" else 4 * len(str(value)))
    return FOLD if op == "iequals" else 0


def _search(pattern: str, program: int) -> int:
    small = program <= SMALL or _LITERAL.fullmatch(pattern) is not None
    return SCAN if small else STEPS * program


def _program(pattern: str) -> int:
    options = re2.Options()
    options.log_errors = False
    return int(re2.compile(pattern, options).programsize)

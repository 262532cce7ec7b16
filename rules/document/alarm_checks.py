"""Checks of alarms, rules with counts, that concern several fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from core.errors import Problem
from rules.document.condition_tree import Group, Leaf, Reference, leaves
from rules.document.counting import MAX_COUNTED, AnyCount, BudgetShare, EventCount, MemoryCount
from rules.document.timing import Schedule
from rules.expressions import paths

SHORTEST_SECONDS: Final = 60
"""Shortest interval of an alarm, because each look reads the database."""

BEYOND: Final = frozenset({">=", "<"})
"""Operators that can tell numbers apart with the largest count on the right side."""

UP_TO: Final = frozenset({">", "<=", "==", "!="})
"""Operators that cannot."""


class AlarmParts(NamedTuple):
    """The parts of a rule that make it an alarm."""

    schedule: Schedule | None
    counts: Mapping[str, AnyCount] | None
    conditions: Leaf | Group | None
    clears: Leaf | Group | None


def alarm_problems(rule: AlarmParts) -> Iterator[Problem]:
    """Yield the problems of a rule's counts, and of fields that only an alarm may have."""
    if rule.counts is None:
        yield from _of_other_rule(rule)
    else:
        yield from _of_schedule(rule)
        each = "tenant" if rule.schedule is None else rule.schedule.for_each
        yield from chain.from_iterable(_of_count(name, rule.counts, each) for name in rule.counts)
        if rule.conditions is None:
            yield Problem("/conditions", "an alarm needs conditions on its counts; compare one, such as `count.dead`")
        for pointer, leaf in _leaves(rule):
            yield from _of_leaf(pointer, leaf, rule.counts)


def compared_counts(conditions: Leaf | Group | None, clears: Leaf | Group | None) -> frozenset[str]:
    """Return the names of the counts that a comparison has on one side and another field on the other."""
    trees = AlarmParts(None, None, conditions, clears)
    fields = chain.from_iterable(_fields(at, leaf) for at, leaf in _leaves(trees) if isinstance(leaf.value, Reference))
    return frozenset(name for _, field in fields for name in _counts_of(field))


def _counts_of(field: str) -> Iterator[str]:
    match paths.parse_path(field).steps:
        case [paths.COUNTS, str(name)]:
            yield name


def _of_other_rule(rule: AlarmParts) -> Iterator[Problem]:
    if rule.schedule is not None and rule.schedule.for_each in {"session", "source"}:
        yield Problem("/schedule/for_each", f"only an alarm looks at each {rule.schedule.for_each}; give it `counts`")
    if rule.clears is not None:
        yield Problem("/clears", "only an alarm is cleared; give the rule `counts`, or leave it out")
    for pointer, leaf in _leaves(rule):
        if any(paths.parse_path(field).count for _, field in _fields(pointer, leaf)):
            detail = "only a rule with `counts` reads them; of an alarm's event read `payload.counts.…`"
            yield Problem(f"{pointer}/field", detail)


def _of_schedule(rule: AlarmParts) -> Iterator[Problem]:
    if rule.schedule is None:
        yield Problem("/counts", 'counts are read on a schedule; give `{"every_seconds": 60}` instead of `event_type`')
    elif rule.schedule.every_seconds is not None and rule.schedule.every_seconds < SHORTEST_SECONDS:
        yield Problem("/schedule/every_seconds", f"an alarm looks at most every {SHORTEST_SECONDS} seconds")


def _of_count(name: str, counts: Mapping[str, AnyCount], each: str) -> Iterator[Problem]:
    count, pointer = counts[name], f"/counts/{name}"
    if count.per is not None:
        divisor = counts.get(count.per)
        if divisor is None or divisor.per is not None or count.per == name:
            others = ", ".join(f"`{other}`" for other, each in counts.items() if other != name and each.per is None)
            yield Problem(f"{pointer}/per", f"must name another count without `per`; there are: {others or 'none'}")
    if each != "tenant" and not isinstance(count, EventCount | MemoryCount):
        yield Problem(f"{pointer}/of", f"for each {each} only events and memories can be counted")


def _of_leaf(pointer: str, leaf: Leaf, counts: Mapping[str, AnyCount]) -> Iterator[Problem]:
    for at, field in _fields(pointer, leaf):
        path = paths.parse_path(field)
        if path.is_looked_up:
            yield Problem(at, f"an alarm cannot look up `{field}`; count what it is about, or read it in another rule")
        elif path.count is not None and path.count not in counts:
            names = ", ".join(f"`count.{name}`" for name in counts)
            yield Problem(at, f"no count is called `{path.count}`; there are: {names}")
    if leaf.op == "means":
        yield Problem(f"{pointer}/op", "an alarm compares numbers; `means` is for rules that answer events")
    if _is_out_of_reach(leaf, counts):
        detail = f"a count ends at {MAX_COUNTED:,}, so this would always be the same; compare with less"
        yield Problem(f"{pointer}/value", detail)


def _is_out_of_reach(leaf: Leaf, counts: Mapping[str, AnyCount]) -> bool:
    """Return whether a number of rows is compared with more than can be counted."""
    bound, count = leaf.value, counts.get(paths.parse_path(leaf.field).count or "")
    if isinstance(bound, bool) or not isinstance(bound, int | float) or count is None or not _counts_rows(count):
        return False
    return bound > MAX_COUNTED if leaf.op in BEYOND else leaf.op in UP_TO and bound >= MAX_COUNTED


def _counts_rows(count: AnyCount) -> bool:
    """Return whether it is a number of rows: no sum, no share."""
    return not isinstance(count, BudgetShare) and count.per is None and getattr(count, "sum", None) is None


def _leaves(rule: AlarmParts) -> Iterator[tuple[str, Leaf]]:
    for root, tree in (("/conditions", rule.conditions), ("/clears", rule.clears)):
        if tree is not None:
            yield from _all_leaves(tree, root)


def _all_leaves(tree: Leaf | Group, root: str) -> Iterator[tuple[str, Leaf]]:
    """Yield the comparisons of a tree with their places, those about list items included."""
    for pointer, leaf in leaves(tree, root):
        yield pointer, leaf
        if isinstance(leaf.value, Leaf | Group):
            yield from _all_leaves(leaf.value, f"{pointer}/value")


def _fields(pointer: str, leaf: Leaf) -> Iterator[tuple[str, str]]:
    yield f"{pointer}/field", leaf.field
    if isinstance(leaf.value, Reference):
        yield f"{pointer}/value/field", leaf.value.field

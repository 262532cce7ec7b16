"""Warnings about a valid rule that will probably not work as intended, returned when it is saved.

Loops, risk, types that nobody publishes, fields that nobody sends, comparisons that never hold. A warning is a
Problem that refuses nothing.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from core.errors import Problem
from core.events.parsing import PAYLOADS
from core.events.reserved import EMITTED
from core.events.type_patterns import matches
from rules.document import condition_tree
from rules.document.condition_tree import Group, Leaf, Reference
from rules.document.schema import Emit, Rule, RunAgent
from rules.document.targets import APPROVALS, TARGETS
from rules.expressions import paths, templates
from rules.registry import field_kinds, satisfiability
from rules.registry.field_kinds import FieldShape
from rules.registry.payload_fields import Payloads

FARTHEST: Final = 8
"""Maximum rules in a loop that is searched for: as many events as a chain may have by default."""

LONGEST: Final = 100
"""Characters of a name for which a similar one is looked for."""

COMPARED: Final = 500
"""Names that are compared with it, half a second at the most."""

WIDEST: Final = 500
"""Maximum event types that a search for loops follows; beyond that it gives up without a warning."""


class EmittedType(NamedTuple):
    """An event that follows from a rule's actions: its type, and the pointer to and kind of its origin."""

    event_type: str
    pointer: str
    by: str


class Neighbours:
    """The rules in force by the types they react to; one index serves all rules being checked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._named: defaultdict[str, list[Rule]] = defaultdict(list)
        self._wild: list[Rule] = []
        self._rules_for: dict[str, list[tuple[Rule, frozenset[str]]]] = {}
        all_rules = list(rules)
        self.emits = frozenset[str]().union(*map(_emitted_by, all_rules))
        for rule in all_rules:
            if not rule.enabled or rule.action_mode == "shadow":
                continue
            if any("*" in pattern for pattern in rule.event_types):
                self._wild.append(rule)
                continue
            for pattern in rule.event_types:
                self._named[pattern].append(rule)

    def rules_for(self, event_type: str) -> list[tuple[Rule, frozenset[str]]]:
        """Return the rules that would act on such an event of the service, each with the types that follow from it."""
        if event_type not in self._rules_for:
            near = (*self._named.get(event_type, ()), *self._wild)
            answering = [rule for rule in near if _answers(rule, event_type)]
            self._rules_for[event_type] = [
                (rule, frozenset(link.event_type for link in links(rule))) for rule in answering
            ]
        return self._rules_for[event_type]


def of(rule: Rule, neighbours: Neighbours, payloads: Payloads) -> list[Problem]:
    """Return all warnings about a rule, given the rules in force, with their places."""
    return [
        *_loops(rule, neighbours),
        *_risks(rule),
        *_unpublished_types(rule, neighbours, payloads),
        *_unseen(rule, payloads),
        *_silent(rule, payloads),
        *_never(rule, payloads),
        *_two_kinds_of_day(rule),
    ]


def patterns_of(rule: Rule) -> set[str]:
    """Return the types and wildcards whose events a rule is checked against."""
    return {*rule.event_types, *(pattern for _, pattern in rule.type_patterns())}


def links(rule: Rule) -> Iterator[EmittedType]:
    """Yield the events that follow from a rule's actions if they succeed; a shadow rule does nothing."""
    if rule.action_mode == "shadow":
        return
    if rule.action_mode == "approve":
        yield from (EmittedType(kind, "/action_mode", "its approvals") for kind in APPROVALS)
    for index, action in enumerate(rule.actions):
        if isinstance(action, RunAgent):
            event_types = TARGETS.get(action.target, ())
            yield from (EmittedType(kind, f"/actions/{index}", f"`{action.target}`") for kind in event_types)
        elif isinstance(action, Emit):
            yield EmittedType(action.event_type, f"/actions/{index}", "`emit`")


def _loops(rule: Rule, neighbours: Neighbours) -> Iterator[Problem]:
    reported = set[str]()
    for link in links(rule):
        if link.pointer not in reported and _answers(rule, link.event_type):
            reported.add(link.pointer)
            detail = f"{link.by} leads to `{link.event_type}`, which this rule answers: it can trigger itself. "
            yield Problem(link.pointer, detail + _end_of_loop([rule]))
    if not reported:
        yield from _circles(rule, neighbours)


def _circles(rule: Rule, neighbours: Neighbours) -> Iterator[Problem]:
    """Return the shortest loop from a rule through others back to itself, for the first action that has one."""
    reached: dict[str, tuple[EmittedType, list[Rule]]] = {link.event_type: (link, [rule]) for link in links(rule)}
    waiting, passed = list(reached), {rule.name}
    for kind in waiting:
        first, way = reached[kind]
        if len(way) > FARTHEST or len(waiting) > WIDEST:
            return
        for neighbour, leads_to in neighbours.rules_for(kind):
            if neighbour.name in passed:
                continue
            passed.add(neighbour.name)
            for event_type in sorted(leads_to - reached.keys()):
                if _answers(rule, event_type):
                    yield _circle(first, [*way, neighbour])
                    return
                reached[event_type] = first, [*way, neighbour]
                waiting.append(event_type)


def _circle(first: EmittedType, way: Sequence[Rule]) -> Problem:
    names = " → ".join(f"`{member.name}`" for member in (*way, way[0]))
    detail = f"{first.by} leads to `{first.event_type}`, and so in a circle: {names}. "
    return Problem(first.pointer, detail + _end_of_loop(way))


def _end_of_loop(way: Sequence[Rule]) -> str:
    if all(member.repeat for member in way):
        return "With `repeat: true` it goes round until the hop limit ends the chain with a dead letter"
    return "A rule does not act twice on one chain unless it says `repeat: true`, so that is where it ends"


def _answers(rule: Rule, event_type: str) -> bool:
    """Return whether an event of the service of that type may meet a rule, as far as type and source tell."""
    if rule.schedule is not None or not any(matches(pattern, event_type) for pattern in rule.event_types):
        return False
    return all(_may_hold(node, event_type) for node in _required_leaves(rule.conditions))


def _required_leaves(tree: Leaf | Group | None) -> Iterator[Leaf]:
    """Yield the comparisons that must hold for the tree to hold, except those within `any` and `none`."""
    if isinstance(tree, Leaf):
        yield tree
    elif tree is not None:
        for node in tree.all or ():
            yield from _required_leaves(node)


def _may_hold(leaf: Leaf, event_type: str) -> bool:
    actual = {"event_type": event_type, "source": "imprint"}.get(leaf.field)
    if actual is None or leaf.op not in {"==", "!=", "in", "not_in"} or isinstance(leaf.value, Reference):
        return True
    among = actual in (leaf.value if isinstance(leaf.value, list) else [leaf.value])
    return among is (leaf.op in {"==", "in"})


def _risks(rule: Rule) -> Iterator[Problem]:
    if rule.risk_level == "high" and rule.action_mode == "auto":
        detail = "runs without anyone's approval, since this tenant allows it; `approve` would ask somebody first"
        yield Problem("/action_mode", f"a high-risk rule {detail}")


def _emitted_by(rule: Rule) -> set[str]:
    return {action.event_type for action in rule.actions if isinstance(action, Emit)}


def _unpublished_types(rule: Rule, neighbours: Neighbours, payloads: Payloads) -> Iterator[Problem]:
    """Warn of event types that no publisher of the tenant, nor the service, nor a rule's `emit` produces."""
    if payloads.published is None:
        return
    produced = {*PAYLOADS, *EMITTED, *payloads.published, *neighbours.emits, *_emitted_by(rule)}
    for pointer, pattern in rule.type_patterns():
        if any(matches(pattern, kind) for kind in produced):
            continue
        near = _nearest(pattern, produced, 0.75)
        guess = f"; did you mean `{near[0]}`?" if near else ""
        detail = f"nobody has published `{pattern}` in this tenant yet, and the service does not emit it{guess}"
        yield Problem(pointer, detail)


def _silent(rule: Rule, payloads: Payloads) -> Iterator[Problem]:
    """Return service types in a list for which the rule never fires, because they lack a field that it needs."""
    if not isinstance(rule.event_type, list):
        return
    needed = [
        (leaf.field, paths.parse_path(leaf.field)) for leaf in _required_leaves(rule.conditions) if leaf.op != "missing"
    ]
    for index, kind in enumerate(rule.event_type):
        there = payloads.of(kind) if kind in EMITTED and kind not in PAYLOADS else None
        if there is None:
            continue
        lacking = [
            name
            for name, path in needed
            if path.root == "payload" and path.steps and path.steps[0] not in {step[0] for step in there}
        ]
        if lacking:
            detail = f"has no `{lacking[0]}`, which the conditions require: for this type the rule never fires"
            yield Problem(f"/event_type/{index}", f"`{kind}` {detail}")


def _never(rule: Rule, payloads: Payloads) -> Iterator[Problem]:
    """Return comparisons that hold for no possible value of their field."""
    if rule.conditions is None:
        return
    for pointer, leaf in condition_tree.leaves(rule.conditions, "/conditions"):
        reason = satisfiability.never(leaf, _shapes(rule, leaf.field, payloads))
        if reason is not None:
            yield Problem(f"{pointer}/value", f"`{leaf.field}` {reason}")


def _shapes(rule: Rule, field: str, payloads: Payloads) -> Sequence[FieldShape]:
    """Return the kinds of a field in each event type of the rule that has it; empty where one of them is not known."""
    path = paths.parse_path(field)
    if path.root in {"event", "lookup"}:
        return [field_kinds.OTHER_EVENT_FIELDS[field]]
    if path.root != "payload" or len(path.steps) != 1:
        return []
    name, emitted = str(path.steps[0]), {*PAYLOADS, *EMITTED}
    kinds = {kind for kind in {*emitted, *payloads.seen} for pattern in rule.event_types if matches(pattern, kind)}
    if any(not any(matches(pattern, kind) for kind in kinds) for pattern in rule.event_types) or kinds - emitted:
        return []
    having = [field_kinds.of(kind, name) for kind in sorted(kinds) if (name,) in payloads.paths_of(kind)]
    return [] if None in having else [shape for shape in having if shape is not None]


def _unseen(rule: Rule, payloads: Payloads) -> Iterator[Problem]:
    """Return payload fields that no known payload of the rule's types has."""
    fields_by_pattern = [payloads.of(pattern) for pattern in rule.event_types]
    there = frozenset[tuple[str, ...]]().union(*(fields for fields in fields_by_pattern if fields is not None))
    if None in fields_by_pattern or not there:
        return
    for pointer, path in sorted(set(_paths_in(rule))):
        if path and not _is_known(path, there):
            yield Problem(pointer, _never_seen(path, there, rule.event_types))


def _is_known(path: tuple[str, ...], there: frozenset[tuple[str, ...]]) -> bool:
    """Return whether a path was seen, or may lie within something declared whose inside was never seen."""
    return path in there or any((*path[:length], "*") in there for length in range(1, len(path)))


def _nearest(name: str, names: Iterable[str], ratio: float) -> list[str]:
    """Return the name most like another, of a bounded number: senders may have published any number of long ones."""
    if len(name) > LONGEST:
        return []
    likely = (other for other in names if 2 * min(len(other), len(name)) >= ratio * (len(other) + len(name)))
    return difflib.get_close_matches(name, islice(likely, COMPARED), 1, ratio)


def _never_seen(path: tuple[str, ...], there: frozenset[tuple[str, ...]], types: Sequence[str]) -> str:
    written = {_path_text(candidate): candidate for candidate in there if candidate[-1] != "*"}
    near = _nearest(_path_text(path), written, 0.6)
    guess = f"; did you mean `{near[0]}`?" if near else ""
    return f"no known payload of {', '.join(f'`{kind}`' for kind in types[:5])} has `{_path_text(path)}`{guess}"


def _path_text(path: Sequence[str]) -> str:
    return "payload" + "".join(step if step == "[]" else f".{step}" for step in path)


def _two_kinds_of_day(rule: Rule) -> Iterator[Problem]:
    """Warn of a cron line with both a day of the month and a weekday, which few read as cron does."""
    if rule.schedule is None or rule.schedule.cron is None:
        return
    _, _, day, _, weekday = rule.schedule.cron.split()
    if "*" in {day, weekday}:
        return
    is_and = day.startswith("*") or weekday.startswith("*")
    meaning = "on days that fit both" if is_and else "on each day that fits either of them, as in cron of Unix"
    advice = "for the first Monday of a month write `* * mon#1`, for the last Friday `* * 5L`"
    detail = f"has a day of the month (`{day}`) and a weekday (`{weekday}`): it is due {meaning}; {advice}"
    yield Problem("/schedule/cron", detail)


def _paths_in(rule: Rule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the payload fields that a rule names, each with its place."""
    if rule.conditions is not None:
        yield from _paths_of_node(rule.conditions, "/conditions", ())
    for name, part in rule.flow.parts().items():
        for index, key in enumerate(part.key or ()):
            yield from _path_of(key, f"/flow/{name}/key/{index}", ())
    for index, action in enumerate(rule.actions):
        for pointer, name in templates.fields(action.model_dump(mode="json")):
            yield from _path_of(name, f"/actions/{index}{pointer}", ())


def _paths_of_node(node: Leaf | Group, pointer: str, item: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the paths of a node; `item` is the path of the list whose items it is about."""
    if isinstance(node, Group):
        for at, child in node.children(pointer):
            yield from _paths_of_node(child, at, item)
        return
    if node.op != "missing":
        yield from _path_of(node.field, f"{pointer}/field", item)
    if isinstance(node.value, Reference):
        yield from _path_of(node.value.field, f"{pointer}/value/field", item)
    elif isinstance(node.value, Leaf | Group):
        for _, steps in _path_of(node.field, pointer, item):
            yield from _paths_of_node(node.value, f"{pointer}/value", (*steps, "[]"))


def _path_of(name: str, pointer: str, item: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    path = paths.parse_path(name)
    if path.root in {"payload", "item"}:
        steps = tuple("[]" if isinstance(step, int) else step for step in path.steps)
        yield pointer, (*item, *steps) if path.root == "item" else steps

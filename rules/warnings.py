"""What a rule that may be saved will probably not do as meant, said when it is saved: loops, risk, fields nobody sends.

A warning is a Problem that refuses nothing.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import text

from core.db import Tx
from core.errors import Problem
from core.intake import PAYLOADS
from rules import paths, templates
from rules.ruleset import matches_type
from rules.schema import Emit, Rule, RunAgent
from rules.targets import APPROVALS, EMITTED, TARGETS
from rules.tree import Group, Leaf, Reference

FARTHEST: Final = 8
"""Rules in the longest circle that is looked for: as many events as a chain may have by default."""

WIDEST: Final = 500
"""Types of event that a search for circles follows; beyond that it gives up and warns of nothing."""

LATEST: Final = 20_000
"""Events of the tenant, from the end of the log, among which those of a rule's types are looked for."""

SAMPLE: Final = 1_000
"""Events of one type whose payloads are looked at."""

SAMPLE_BYTES: Final = 4_000_000
"""Payloads that are looked at, in bytes as they are stored."""

ITEMS: Final = 20
"""Items of a list that are looked at."""


class Link(NamedTuple):
    """An event that a rule's actions lead to: its type, the pointer to what leads there, and what that is."""

    event_type: str
    pointer: str
    by: str


@dataclass(frozen=True, slots=True)
class Payloads:
    """Which paths payloads are known to have, by event type; `seen` are the types of the log with all their paths.

    A path is a tuple of keys in which `[]` stands for any item of a list.
    """

    seen: Mapping[str, frozenset[tuple[str, ...]]]

    def of(self, pattern: str) -> frozenset[tuple[str, ...]] | None:
        """The paths of all types that fit a rule's type; None where no such type is known."""
        kinds = {kind for kind in (*PAYLOADS, *EMITTED, *self.seen) if matches_type(pattern, kind)}
        if not kinds:
            return None
        return frozenset().union(*(_declared(kind) | self.seen.get(kind, frozenset()) for kind in kinds))


class Neighbours:
    """The rules in force, by what they answer. One for as many rules as are to be looked at beside them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._named: defaultdict[str, list[Rule]] = defaultdict(list)
        self._wild: list[Rule] = []
        self._answering: dict[str, list[tuple[Rule, frozenset[str]]]] = {}
        for rule in rules:
            if not rule.enabled or rule.action_mode == "shadow":
                continue
            if any("*" in pattern for pattern in rule.event_types):
                self._wild.append(rule)
                continue
            for pattern in rule.event_types:
                self._named[pattern].append(rule)

    def answering(self, event_type: str) -> list[tuple[Rule, frozenset[str]]]:
        """The rules that would act on such an event of the service, each with the types that follow from it."""
        if event_type not in self._answering:
            near = (*self._named.get(event_type, ()), *self._wild)
            found = [rule for rule in near if _answers(rule, event_type)]
            self._answering[event_type] = [(rule, frozenset(link.event_type for link in links(rule))) for rule in found]
        return self._answering[event_type]


def of(rule: Rule, neighbours: Neighbours, payloads: Payloads) -> list[Problem]:
    """All that should be said about a rule beside the rules in force, with its places."""
    return [*_loops(rule, neighbours), *_risks(rule), *_unseen(rule, payloads)]


def links(rule: Rule) -> Iterator[Link]:
    """The events that follow from a rule's actions where they succeed; a shadow does nothing."""
    if rule.action_mode == "shadow":
        return
    if rule.action_mode == "approve":
        yield from (Link(kind, "/action_mode", "its approvals") for kind in APPROVALS)
    for place, action in enumerate(rule.actions):
        if isinstance(action, RunAgent):
            found = TARGETS.get(action.target, ())
            yield from (Link(kind, f"/actions/{place}", f"`{action.target}`") for kind in found)
        elif isinstance(action, Emit):
            yield Link(action.event_type, f"/actions/{place}", "`emit`")


def payloads_of(tx: Tx, patterns: Iterable[str]) -> Payloads:
    """What the tenant's latest events of these types have had in their payloads."""
    likes = ["".join("%" if sign == "*" else re.sub(r"([\\%_])", r"\\\1", sign) for sign in one) for one in patterns]
    values = {"likes": likes, "latest": LATEST, "sample": SAMPLE, "bytes": SAMPLE_BYTES}
    seen: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in tx.execute(_PAYLOADS, values):
        seen[row.event_type].update(_paths_of(row.payload))
    return Payloads({kind: frozenset(found) for kind, found in seen.items()})


def _loops(rule: Rule, neighbours: Neighbours) -> Iterator[Problem]:
    told = set[str]()
    for link in links(rule):
        if link.pointer not in told and _answers(rule, link.event_type):
            told.add(link.pointer)
            said = f"{link.by} leads to `{link.event_type}`, which this rule answers: it can trigger itself. "
            yield Problem(link.pointer, said + _ending([rule]))
    if not told:
        yield from _circles(rule, neighbours)


def _circles(rule: Rule, neighbours: Neighbours) -> Iterator[Problem]:
    """The shortest way, for the first action that has one, from the rule through others back to itself."""
    reached: dict[str, tuple[Link, list[Rule]]] = {link.event_type: (link, [rule]) for link in links(rule)}
    waiting, passed = list(reached), {rule.name}
    for kind in waiting:
        first, way = reached[kind]
        if len(way) > FARTHEST or len(waiting) > WIDEST:
            return
        for one, leads_to in neighbours.answering(kind):
            if one.name in passed:
                continue
            passed.add(one.name)
            for event_type in sorted(leads_to - reached.keys()):
                if _answers(rule, event_type):
                    yield _circle(first, [*way, one])
                    return
                reached[event_type] = first, [*way, one]
                waiting.append(event_type)


def _circle(first: Link, way: Sequence[Rule]) -> Problem:
    names = " → ".join(f"`{one.name}`" for one in (*way, way[0]))
    said = f"{first.by} leads to `{first.event_type}`, and so in a circle: {names}. "
    return Problem(first.pointer, said + _ending(way))


def _ending(way: Sequence[Rule]) -> str:
    if all(one.repeat for one in way):
        return "With `repeat: true` it goes round until the hop limit ends the chain with a dead letter"
    return "A rule does not act twice on one chain unless it says `repeat: true`, so that is where it ends"


def _answers(rule: Rule, event_type: str) -> bool:
    """Whether an event of the service of that type may meet a rule, as far as type and source tell."""
    if rule.schedule is not None or not any(matches_type(pattern, event_type) for pattern in rule.event_types):
        return False
    return all(_may_hold(node, event_type) for node in _required(rule.conditions))


def _required(tree: Leaf | Group | None) -> Iterator[Leaf]:
    """The comparisons that must hold for the tree to hold, but for those within `any` and `none`."""
    if isinstance(tree, Leaf):
        yield tree
    elif tree is not None:
        for node in tree.all or ():
            yield from _required(node)


def _may_hold(leaf: Leaf, event_type: str) -> bool:
    actual = {"event_type": event_type, "source": "imprint"}.get(leaf.field)
    if actual is None or leaf.op not in {"==", "!=", "in", "not_in"} or isinstance(leaf.value, Reference):
        return True
    among = actual in (leaf.value if isinstance(leaf.value, list) else [leaf.value])
    return among is (leaf.op in {"==", "in"})


def _risks(rule: Rule) -> Iterator[Problem]:
    if rule.risk_level == "high" and rule.action_mode == "auto":
        said = "runs without anyone's approval, since this tenant allows it; `approve` would ask somebody first"
        yield Problem("/action_mode", f"a rule of high risk {said}")


def _unseen(rule: Rule, payloads: Payloads) -> Iterator[Problem]:
    """Fields of the payload that no known payload of the rule's types has."""
    known = [payloads.of(pattern) for pattern in rule.event_types]
    there = frozenset[tuple[str, ...]]().union(*(found for found in known if found is not None))
    if None in known or not there:
        return
    for pointer, path in sorted(set(_paths_in(rule))):
        if path and not _is_known(path, there):
            yield Problem(pointer, _never_seen(path, there, rule.event_types))


def _is_known(path: tuple[str, ...], there: frozenset[tuple[str, ...]]) -> bool:
    """Whether a path was seen, or may lie within something declared whose inside was never seen."""
    return path in there or any((*path[:length], "*") in there for length in range(1, len(path)))


def _never_seen(path: tuple[str, ...], there: frozenset[tuple[str, ...]], types: Sequence[str]) -> str:
    written = {_written(one): one for one in there if one[-1] != "*"}
    near = difflib.get_close_matches(_written(path), written, 1, 0.6)
    guess = f"; did you mean `{near[0]}`?" if near else ""
    return f"no known payload of {', '.join(f'`{kind}`' for kind in types[:5])} has `{_written(path)}`{guess}"


def _written(path: Sequence[str]) -> str:
    return "payload" + "".join(step if step == "[]" else f".{step}" for step in path)


def _declared(event_type: str) -> frozenset[tuple[str, ...]]:
    """The fields that a type is known to have; `*` below one whose inside is the sender's own."""
    model = PAYLOADS.get(event_type)
    names = EMITTED.get(event_type, ()) if model is None else tuple(model.model_fields)
    return frozenset({(name,) for name in names} | {(name, "*") for name in names})


def _paths_of(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path in a payload, as deep as a rule may look."""
    if len(above) >= paths.MAX_STEPS:
        return
    parts = list(value.items()) if isinstance(value, dict) else []
    parts += [("[]", item) for item in value[:ITEMS]] if isinstance(value, list) else []
    for step, part in parts:
        yield (*above, step)
        yield from _paths_of(part, (*above, step))


def _paths_in(rule: Rule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where a rule names a field of the payload, and which."""
    if rule.conditions is not None:
        yield from _paths_of_node(rule.conditions, "/conditions", ())
    for name, part in rule.flow.parts().items():
        for place, key in enumerate(part.key or ()):
            yield from _path_of(key, f"/flow/{name}/key/{place}", ())
    for place, action in enumerate(rule.actions):
        for pointer, name in templates.fields(action.model_dump(mode="json")):
            yield from _path_of(name, f"/actions/{place}{pointer}", ())


def _paths_of_node(node: Leaf | Group, pointer: str, item: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`item` is the path of the list whose items the node is about."""
    if isinstance(node, Group):
        for word, children in node.members():
            for place, child in enumerate(children):
                yield from _paths_of_node(child, f"{pointer}/{word}/{place}", item)
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


_PAYLOADS = text("""
    SELECT event_type, payload FROM (
        SELECT event_type, payload, sum(pg_column_size(payload)) OVER (ORDER BY place, event_type) AS bytes
        FROM (
            SELECT event_type, payload, row_number() OVER (PARTITION BY event_type ORDER BY seq DESC) AS place
            FROM (SELECT seq, event_type, payload FROM events ORDER BY seq DESC LIMIT :latest) AS latest
            WHERE event_type LIKE ANY (cast(:likes AS text[]))
        ) AS numbered
        WHERE place <= :sample
    ) AS measured
    WHERE bytes <= :bytes
""")
"""The latest of each type first, until there are enough of a type or of bytes; payloads are read only of those."""

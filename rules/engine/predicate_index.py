"""An index over the comparisons of many rules: one lookup per field excludes all rules that it decides against.

Each rule is one bit. For a field, the mask of a value has the bits of all rules that the value satisfies, and of all
rules that do not test the field. The intersection over the fields leaves the rules that may still match: the work
for an event grows with the number of tested fields, and hardly with the number of rules.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.types import Event
from rules.document.condition_tree import Group, Leaf
from rules.engine.conditions import Node
from rules.expressions.facts import MISSING, OnMismatch
from rules.expressions.operators import kind
from rules.expressions.paths import Path, event_getter, parse_path
from rules.expressions.times import parse_time

Probe = Callable[[Event, OnMismatch | None], int]

_BOUNDS: Final = frozenset({">", ">=", "<", "<="})
_BOOLEANS: Final = {True: object(), False: object()}
_HASHED: Final = frozenset({str, int, float})
_UNCOMMON: Final = frozenset({"bool", "number"})
_KINDS: Final = frozenset({"bool", "number", "string", "list", "object"})


def conjuncts(tree: Node | None) -> list[Node]:
    """Return nodes that must all hold for the tree to hold, as far as visible without expanding `any` and `none`."""
    if tree is None:
        return []
    if isinstance(tree, Leaf):
        return [tree]
    parts = [part for node in tree.all or () for part in conjuncts(node)]
    parts += [Group(any=tree.any)] if tree.any else []
    return parts + ([Group(none=tree.none)] if tree.none else [])


def family(node: Node) -> str | None:
    """Return `exact` or `range` if the index can decide the node, else None."""
    if not isinstance(node, Leaf) or parse_path(node.field).root not in {"payload", "event"} or node.field == "time":
        return None
    if node.op in {"==", "in"} and all(_is_plain(value) for value in _values(node)):
        return "exact"
    return "range" if node.op in _BOUNDS and kind(node.value) == "number" else None


def _values(leaf: Leaf) -> list[Any]:
    return leaf.value if isinstance(leaf.value, list) and leaf.op == "in" else [leaf.value]


def _is_plain(value: object) -> bool:
    return kind(value) in {"number", "bool"} or (isinstance(value, str) and parse_time(value) is None)


@dataclass(slots=True)
class _Slot:
    """Comparisons of one family on one path, at most one per rule."""

    path: Path
    leaves: list[tuple[int, Leaf]] = field(default_factory=list)


class Index:
    """Index of the comparisons of a sequence of rules; `candidates` returns the rules that may match, as bits."""

    def __init__(self, conditions: Sequence[Iterable[Node]]) -> None:
        """`conditions[i]` are the nodes of rule i that the index can decide (`family` is not None)."""
        self._everyone = (1 << len(conditions)) - 1
        slots: dict[tuple[str, str, int], _Slot] = {}
        for rule, nodes in enumerate(conditions):
            self._place(rule, nodes, slots)
        self._probes: list[Probe] = [
            _exact_probe(slot, self._everyone) if name == "exact" else _range_probe(slot, self._everyone)
            for (name, _, _), slot in slots.items()
        ]

    @staticmethod
    def _place(rule: int, nodes: Iterable[Node], slots: dict[tuple[str, str, int], _Slot]) -> None:
        used: dict[tuple[str, str], int] = {}
        for leaf in nodes:
            name = family(leaf)
            if name is None or not isinstance(leaf, Leaf):
                raise ValueError(leaf)
            turn = used[name, leaf.field] = used.get((name, leaf.field), -1) + 1
            slot = slots.setdefault((name, leaf.field, turn), _Slot(parse_path(leaf.field)))
            slot.leaves.append((1 << rule, leaf))

    def candidates(self, event: Event, on_mismatch: OnMismatch | None = None) -> int:
        """Return the rules that no indexed comparison excludes: bit i for rule i."""
        mask = self._everyone
        for probe in self._probes:
            mask &= probe(event, on_mismatch)
            if not mask:
                break
        return mask


def _reader(path: Path) -> tuple[str | None, Callable[[Event], Any]]:
    """Return the key of a path of one step into the payload, which a probe reads itself, and a reader of any path."""
    key = path.steps[0] if path.root == "payload" and len(path.steps) == 1 else None
    return key if isinstance(key, str) else None, event_getter(path)


def _exact_probe(slot: _Slot, everyone: int) -> Probe:
    free = everyone & ~sum(bit for bit, _ in slot.leaves)
    masks: dict[Any, int] = {}
    for bit, leaf in slot.leaves:
        for value in {_token(value) for value in _values(leaf)}:
            masks[value] = masks.get(value, free) | bit
    (key, get), find = _reader(slot.path), masks.get
    strange = _strange(slot)

    def probe(event: Event, on_mismatch: OnMismatch | None) -> int:
        value = get(event) if key is None else event.payload.get(key, MISSING)
        if type(value) in _HASHED:
            mask = find(value)
            if mask is not None:
                return mask
        elif kind(value) in _UNCOMMON:
            mask = find(_token(value))
            if mask is not None:
                return mask
        if on_mismatch is not None:
            strange(value, on_mismatch)
        return free

    return probe


def _token(value: Any) -> Any:
    return _BOOLEANS[value] if isinstance(value, bool) else value


def _strange(slot: _Slot) -> Callable[[Any, OnMismatch], None]:
    """Count a value whose kind fits none of the comparisons: once per field, not per rule."""
    strangers = _KINDS - {kind(value) for _, leaf in slot.leaves for value in _values(leaf)}
    name, op = slot.path.text, slot.leaves[0][1].op

    def count(value: Any, on_mismatch: OnMismatch) -> None:
        if kind(value) in strangers:
            on_mismatch(name, op)

    return count


def _range_probe(slot: _Slot, everyone: int) -> Probe:
    free = everyone & ~sum(bit for bit, _ in slot.leaves)
    thresholds, at, between = _sweep(slot, free)
    last, (key, get), strange = len(thresholds), _reader(slot.path), _strange(slot)

    def probe(event: Event, on_mismatch: OnMismatch | None) -> int:
        value = get(event) if key is None else event.payload.get(key, MISSING)
        if type(value) is not int and (kind(value) != "number" or value != value):  # noqa: PLR0124 - NaN differs from itself
            if on_mismatch is not None:
                strange(value, on_mismatch)
            return free
        position = bisect_left(thresholds, value)
        return at[position] if position < last and thresholds[position] == value else between[position]

    return probe


def _sweep(slot: _Slot, free: int) -> tuple[list[float], list[int], list[int]]:
    """Return sorted thresholds, the mask of values equal to each, and the masks of values before, between and after."""
    bounds: dict[Any, list[tuple[int, str]]] = {}
    mask = free
    for bit, leaf in slot.leaves:
        bounds.setdefault(leaf.value, []).append((bit, leaf.op))
        mask |= bit if leaf.op in {"<", "<="} else 0
    thresholds = sorted(bounds)
    at, between = [], [mask]
    for threshold in thresholds:
        mask = _cross_bounds(mask, bounds[threshold], opens=">=", closes="<")
        at.append(mask)
        mask = _cross_bounds(mask, bounds[threshold], opens=">", closes="<=")
        between.append(mask)
    return thresholds, at, between


def _cross_bounds(mask: int, bounds: list[tuple[int, str]], *, opens: str, closes: str) -> int:
    for bit, op in bounds:
        if op == opens:
            mask |= bit
        elif op == closes:
            mask &= ~bit
    return mask
